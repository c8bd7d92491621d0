// SPDX-License-Identifier: Apache-2.0
/* culprit_read.h - resource counters of one process, from /proc. */
#pragma once

#include "probe/source/stall/culprits.h"

struct culprit_counts {
	uint32_t pid;
	char comm[CULPRIT_COMM];
	bool may_wait; /* idle priority, or a high nice value */
	bool waits; /* in uninterruptible sleep now */
	bool inside; /* belongs to the watched scope */
	uint64_t start;
	uint64_t cpu_ns, delay_ns; /* delay: time of its threads on run queues */
	uint64_t read_bytes, written_bytes;
	uint64_t rss_bytes, faulted_bytes;
};

/* before: the previous counters, or NULL. -errno: the process ended or is not readable. */
int culprit_read(struct buf *text, const char *procfs, const char *below, enum stall_resource what,
		 const struct culprit_counts *before, struct culprit_counts *out) MUST_CHECK;

/* The cgroup path of a process in the hierarchy of the controller, else in cgroup2; "?": unknown.
 */
void culprit_cgroup(struct buf *text, const char *procfs, uint32_t pid, const char *controller,
		    char *out, size_t size);
