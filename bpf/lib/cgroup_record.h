/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cgroup_record.h - a cgroup and its path, written by the kernel program when it is first seen. */
#pragma once

enum {
	CGROUP_RECORD_PARTS = 24,
	CGROUP_RECORD_PART = 256,
	CGROUP_RECORD_PATH = 768,
	CGROUP_OTHERS = 0, /* not a cgroup id: the sum of all cgroups without an entry */
};

struct cgroup_record {
	__u32 len; /* 0: not yet known */
	__u32 cut; /* components towards the root were cut */
	/* components, innermost first, each ended by a NUL; empty: the root */
	char path[CGROUP_RECORD_PATH];
};
