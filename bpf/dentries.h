/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dentries.h - what bpf/dentries.bpf.c and probe/src_dentries.c agree on. */
#pragma once

#include "bpf/cgroup_told.h"

enum { DENTRIES_CGROUPS = 256 /* with those beyond, one for all of them */ };

struct dentries_cgroup {
	__u64 misses;
	struct cgroup_told at;
};
