/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* timers.h - what bpf/sched/timers.bpf.c and probe/source/src_timers.c agree on. */
#pragma once

enum timers_kind { TIMER_WHEEL, TIMER_FINE, TIMER_KINDS };

enum { TIMERS_FUNCTIONS = 512 }; /* those beyond are in the sums of all only */

struct timers_function {
	__u64 expirations;
};
