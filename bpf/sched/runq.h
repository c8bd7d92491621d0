/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* runq.h - the counters shared by bpf/sched/runq.bpf.c and probe/source/src_runq.c. */
#pragma once

#include "bpf/lib/cgroup_record.h"

enum {
	RUNQ_FIRST = 12, /* up to 2^12 ns = 4 us, then twice as long each ... */
	RUNQ_SLOTS = 20, /* ... up to 2^30 ns = 1.07 s; the last: more */
	RUNQ_FIELDS = RUNQ_SLOTS + 1,
	RUNQ_CGROUPS = 256, /* including one entry shared by all others */
};

struct runq_cgroup {
	__u64 v[RUNQ_FIELDS]; /* waits by duration; the last field: ns of all */
	struct cgroup_record at;
};
