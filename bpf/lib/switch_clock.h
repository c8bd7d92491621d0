/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * switch_clock.h - the time at a scheduler switch, cheaper than from the clock. The scheduler has
 * just read its own clock for the switch (rq->clock, kernel/sched/core.c, update_rq_clock()); its
 * distance from CLOCK_MONOTONIC is measured once per millisecond. Reading the clock itself took 95
 * ns per switch on a CPU that had slept before (6.18, kvm-clock); the rest of the hook takes about
 * 50.
 */
#pragma once

#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define SWITCH_CLOCK_NS                                                                            \
	1000000 /* the clocks drift by at most 500 ppm (NTP): half a microsecond                   \
		 */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct rq {
	__u64 clock;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity___queued {
	struct cfs_rq *cfs_rq;
};

struct task_struct___queued {
	struct sched_entity___queued se;
};
#pragma clang attribute pop

/* Both clocks at the same moment, per CPU. */
struct switch_clock {
	__u64 queue_ns, mono_ns;
};

/*
 * Nanoseconds of CLOCK_MONOTONIC, on the CPU that the thread leaves or gets. Half a microsecond of
 * error, so it may be before a time read from the clock earlier.
 */
static __always_inline __u64 switch_clock_ns(struct switch_clock *c, struct task_struct *thread)
{
	struct task_struct___queued *t = (void *)thread;
	__u64 at, ns;

	if (!bpf_core_field_exists(t->se.cfs_rq) ||
	    !bpf_core_field_exists(((struct cfs_rq *)0)->rq)) /* without CONFIG_FAIR_GROUP_SCHED */
		return bpf_ktime_get_ns();
	at = t->se.cfs_rq->rq->clock;
	ns = at - c->queue_ns;
	if (ns < SWITCH_CLOCK_NS)
		return c->mono_ns + ns;
	c->queue_ns = at;
	c->mono_ns = bpf_ktime_get_ns();
	return c->mono_ns;
}
