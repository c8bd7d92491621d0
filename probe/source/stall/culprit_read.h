// SPDX-License-Identifier: Apache-2.0
/* culprit_read.h - what one process did so far, as /proc says. */
#pragma once

#include "probe/source/stall/culprits.h"

struct offender_counts {
	uint32_t pid;
	char comm[OFFENDER_COMM];
	bool may_wait; /* of idle priority, or nice to others */
	bool waits; /* for a disk or memory, at this moment */
	bool inside; /* of those that are watched */
	uint64_t start;
	uint64_t cpu_ns, delay_ns; /* delay: of its threads, on run queues */
	uint64_t read_bytes, written_bytes;
	uint64_t rss_bytes, faulted_bytes;
};

/* before: of an earlier look, or NULL. -errno: it is gone, or not ours to see. */
int offender_read(struct buf *text, const char *procfs, const char *below, enum offence what,
		  const struct offender_counts *before, struct offender_counts *out) MUST_CHECK;

/* The cgroup of a process, as the kernel calls it, or "?": that of its controller, else cgroup2's.
 */
void offender_cgroup(struct buf *text, const char *procfs, uint32_t pid, const char *controller,
		     char *out, size_t size);
