// SPDX-License-Identifier: Apache-2.0
/*
 * hung_tasks.h - tasks that do not move, as events that last. No system calls.
 *
 * One that is seen in a pass is told when it is new, by ongoing_event.h as long as it is seen, and when a
 * pass does not see it any more. So many at most are events; the others are counted.
 */
#pragma once

#include <linux/types.h>

#include "bpf/sched/hung_task.h"
#include "probe/event/ongoing_event.h"
#include "probe/core/sink.h"

enum { STUCK_TABLE = 16 };

struct stuck_task {
	uint32_t tid, tgid; /* tid 0: free */
	int32_t call;
	uint32_t flags; /* enum hung_task_flag */
	uint64_t task_ns, first_ns, seen_ns; /* when the task began, its sleep, it was last seen */
	uint64_t stack;
	struct ongoing_event lasting;
	bool seen, hung;
	char comm[4 * STUCK_COMM], dev[4 * STUCK_DISK], file[ITEM_MAX_TEXT];
};

struct hung_tasks {
	struct stuck_task task[STUCK_TABLE];
	uint32_t others, before; /* seen in this pass, and in the one before, and no event */
	uint64_t withheld; /* tasks that were stuck and are no event */
};

struct stuck_pass {
	uint64_t now_ns, period_ns; /* since the pass before */
	int64_t wall_minus_mono_ns;
};

/* The task, if it is new: its stack is to be set. NULL: it was known, or there is no room. */
struct stuck_task *hung_tasks_see(struct hung_tasks *t, const struct hung_task_record *r,
				   const struct stuck_pass *p);
/* The log says that it is. */
void hung_tasks_hung(struct hung_tasks *t, uint32_t tid);
void hung_tasks_end(struct hung_tasks *t, const struct stuck_pass *p, struct sink *out);
uint32_t hung_tasks_tasks(const struct hung_tasks *t);
