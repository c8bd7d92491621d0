/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hung_task.h - the records shared by bpf/sched/hung_task.bpf.c and
 * probe/source/kernel_log/src_hung_task.c. Times are of CLOCK_MONOTONIC.
 */
#pragma once

#include "bpf/lib/path.h"

enum {
	STUCK_FRAMES = 24,
	STUCK_COMM = 16,
	STUCK_FS = 16,
	STUCK_DISK = 32,
	STUCK_NRS = 512, /* upper bound for system call numbers */
	STUCK_FOLLOWED = 1024, /* tasks followed at the same time */
};

enum hung_task_flag {
	STUCK_IOWAIT = 1, /* asleep on I/O, as the kernel accounts it */
	STUCK_KTHREAD = 2,
	STUCK_KILLABLE = 4, /* a fatal signal would end its sleep */
	STUCK_FILE = 8, /* fs, disk and path describe the file of its call */
	STUCK_DELETED = 16,
};

struct hung_task_record {
	__u32 tid, tgid;
	__s32 call; /* number of the system call; -1: none */
	__u32 flags; /* enum hung_task_flag */
	__u64 start_ns; /* of the task */
	__u64 first_ns, now_ns; /* when it was first seen asleep there, and now */
	char comm[STUCK_COMM], fs[STUCK_FS], disk[STUCK_DISK];
	__u32 dev; /* major << 20 | minor */
	__u32 n; /* frames */
	struct path_parts path;
	__u64 frame[STUCK_FRAMES]; /* innermost first */
};

struct hung_task_control { /* set by user space before each pass over all tasks */
	__u64 limit_ns; /* tasks asleep for this long are reported */
	__u32 pass;
	__u32 unused;
};

struct hung_task_counts { /* counters of a pass; reset by user space */
	__u32 asleep; /* tasks in uninterruptible sleep */
	__u32 full; /* those not followed for lack of room */
};

_Static_assert(sizeof(struct hung_task_record) == 40 + 64 + 8 + 264 + 192, "stuck_record");
