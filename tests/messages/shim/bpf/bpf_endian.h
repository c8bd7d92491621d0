// SPDX-License-Identifier: Apache-2.0
#pragma once
#define bpf_ntohs(x) __builtin_bswap16(x)
