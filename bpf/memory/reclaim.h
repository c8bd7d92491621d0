/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reclaim.h - the counters shared by bpf/memory/reclaim.bpf.c and probe/source/src_reclaim.c: time
 * that allocating tasks had to spend on reclaim or compaction themselves. Slots as in block.h.
 */
#pragma once

enum reclaim_kind { RECLAIM_NODE, RECLAIM_CGROUP, RECLAIM_COMPACT, RECLAIM_KINDS };

enum {
	RECLAIM_FIRST = 14, /* up to 2^14 ns = 16 us, then twice as long each ... */
	RECLAIM_SLOTS = 18, /* ... up to 2^30 ns = 1.1 s; the last: more */
	RECLAIM_TASKS = 1024, /* tasks in reclaim or compaction at the same time */
};

struct reclaim_counts {
	__u64 ns[RECLAIM_KINDS][RECLAIM_SLOTS];
	__u64 sum_ns[RECLAIM_KINDS];
};
