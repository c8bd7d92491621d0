/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* timers.h - limits shared by bpf/sched/timers.bpf.c and probe/source/src_timers.c. */
#pragma once

enum timers_kind { TIMER_WHEEL, TIMER_FINE, TIMER_KINDS };

enum { TIMERS_FUNCTIONS = 512 }; /* functions beyond that are only in the totals */

struct timers_function {
	__u64 expirations;
};
