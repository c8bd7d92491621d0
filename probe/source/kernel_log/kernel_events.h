// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_events.h - what the kernel event sources (kmsg, oom, stuck) share, so that an incident
 * seen by two of them is one event. Each source only reads what the others put here. Owned by the
 * code that opens all sources.
 */

#include "probe/source/kernel_log/oom_report.h"

enum { KERNEL_EVENTS_HUNG = 8, KERNEL_EVENTS_REPORTS = 4 };

struct kernel_events {
	bool log_watched; /* by the source kmsg */
	bool hung_tasks_watched, oom_watched;
	uint32_t nhung, nreports;
	uint32_t hung[KERNEL_EVENTS_HUNG]; /* threads that the log called hung */
	struct {
		uint64_t at_ns; /* when it was read */
		struct oom_report of;
	} report[KERNEL_EVENTS_REPORTS];
};
