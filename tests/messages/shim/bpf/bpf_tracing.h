// SPDX-License-Identifier: Apache-2.0
#pragma once
#define BPF_PROG(name, ...) name(__VA_ARGS__)
