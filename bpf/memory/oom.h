/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * oom.h - the record shared by bpf/memory/oom.bpf.c and probe/source/kernel_log/src_oom.c: the
 * process killed for lack of memory.
 */
#pragma once

enum { OOM_COMM = 16, OOM_FRAMES = 24, OOM_RING = 16 * 1024 };

struct oom_victim {
	__u64 at_ns; /* CLOCK_MONOTONIC */
	__u32 pid; /* of the process */
	__u32 by_pid; /* the process that asked for the memory */
	__u64 rss_pages, total_pages; /* 0: not known */
	__u64 cgroup; /* of the victim, in the hierarchy of the memory controller; 0: not known */
	char comm[OOM_COMM], by_comm[OOM_COMM];
	__u32 n, unused;
	__u64 frame[OOM_FRAMES]; /* stack of the allocation */
};

_Static_assert(sizeof(struct oom_victim) == 40 + 32 + 8 + 192, "oom_victim");
