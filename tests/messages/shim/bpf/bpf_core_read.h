// SPDX-License-Identifier: Apache-2.0
#pragma once
#define BPF_CORE_READ(...) 0
#define BPF_CORE_READ_INTO(...) 0
#define BPF_CORE_READ_STR_INTO(...) 0
#define BPF_CORE_READ_BITFIELD_PROBED(...) 0
#define bpf_core_type_exists(...) 1
#define bpf_core_field_exists(...) 1
