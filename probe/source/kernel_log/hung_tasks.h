// SPDX-License-Identifier: Apache-2.0
/*
 * hung_tasks.h - tasks that do not make progress, as ongoing events. No system calls.
 *
 * A task is reported when a pass first sees it, while it is seen (at the intervals of
 * ongoing_event.h), and when a pass no longer sees it. At most HUNG_TASKS_MAX tasks are events; the
 * others are counted.
 */

#include <linux/types.h>

#include "bpf/sched/hung_task.h"
#include "probe/event/ongoing_event.h"
#include "probe/core/sink.h"

enum { HUNG_TASKS_MAX = 16 };

struct hung_task {
	uint32_t tid, tgid; /* tid 0: free */
	int32_t call;
	uint32_t flags; /* enum hung_task_flag */
	uint64_t task_ns, first_ns, seen_ns; /* start of the task, of its sleep; last seen */
	uint64_t stack;
	struct ongoing_event ongoing;
	bool seen, hung;
	char comm[4 * STUCK_COMM], dev[4 * STUCK_DISK], file[ITEM_MAX_TEXT];
};

struct hung_tasks {
	struct hung_task task[HUNG_TASKS_MAX];
	uint32_t others, before; /* tasks without an event in this pass, and in the previous one */
	uint64_t withheld; /* hung tasks without an event, in total */
};

struct hung_task_pass {
	uint64_t now_ns, period_ns; /* since the previous pass */
	int64_t wall_minus_mono_ns;
};

/* The task if it is new: the caller sets its stack. NULL: it was known, or the table is full. */
struct hung_task *hung_tasks_see(struct hung_tasks *t, const struct hung_task_record *r,
				 const struct hung_task_pass *p);
/* The kernel log calls this task hung. */
void hung_tasks_confirm(struct hung_tasks *t, uint32_t tid);
void hung_tasks_end(struct hung_tasks *t, const struct hung_task_pass *p, struct sink *out);
uint32_t hung_tasks_count(const struct hung_tasks *t);
