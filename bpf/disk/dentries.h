/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dentries.h - what bpf/disk/dentries.bpf.c and probe/source/src_dentries.c agree on. */
#pragma once

#include "bpf/lib/cgroup_record.h"

enum { DENTRIES_CGROUPS = 256 /* with those beyond, one for all of them */ };

struct dentries_cgroup {
	__u64 misses;
	struct cgroup_record at;
};
