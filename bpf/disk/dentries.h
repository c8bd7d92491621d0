/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dentries.h - limits shared by bpf/disk/dentries.bpf.c and probe/source/src_dentries.c. */
#pragma once

#include "bpf/lib/cgroup_record.h"

enum { DENTRIES_CGROUPS = 256 /* including one entry shared by all others */ };

struct dentries_cgroup {
	__u64 misses;
	struct cgroup_record at;
};
