// SPDX-License-Identifier: Apache-2.0
/*
 * stuck_table.h - tasks that do not move, as events that last. No system calls.
 *
 * One that is seen in a pass is told when it is new, by lasting.h as long as it is seen, and when a
 * pass does not see it any more. So many at most are events; the others are counted.
 */
#pragma once

#include <linux/types.h>

#include "bpf/sched/stuck.h"
#include "probe/event/lasting.h"
#include "probe/core/sink.h"

enum { STUCK_TABLE = 16 };

struct stuck_task {
	uint32_t tid, tgid; /* tid 0: free */
	int32_t call;
	uint32_t flags; /* enum stuck_flag */
	uint64_t task_ns, first_ns, seen_ns; /* when the task began, its sleep, it was last seen */
	uint64_t stack;
	struct lasting lasting;
	bool seen, hung;
	char comm[4 * STUCK_COMM], dev[4 * STUCK_DISK], file[ITEM_MAX_TEXT];
};

struct stuck_table {
	struct stuck_task task[STUCK_TABLE];
	uint32_t others, before; /* seen in this pass, and in the one before, and no event */
	uint64_t withheld; /* tasks that were stuck and are no event */
};

struct stuck_pass {
	uint64_t now_ns, period_ns; /* since the pass before */
	int64_t wall_minus_mono_ns;
};

/* The task, if it is new: its stack is to be set. NULL: it was known, or there is no room. */
struct stuck_task *stuck_table_see(struct stuck_table *t, const struct stuck_record *r,
				   const struct stuck_pass *p);
/* The log says that it is. */
void stuck_table_hung(struct stuck_table *t, uint32_t tid);
void stuck_table_end(struct stuck_table *t, const struct stuck_pass *p, struct sink *out);
uint32_t stuck_table_tasks(const struct stuck_table *t);
