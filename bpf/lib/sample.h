/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample.h - samples frequent events: 1 in 2^sample_step, at random, counted with that weight. So
 * sums are unbiased even if the step changes: for C events the result is C +- sqrt(C * (2^step -
 * 1)) in two of three cases.
 */
#pragma once

#include "bpf/lib/kernel.h"

#include <bpf/bpf_helpers.h>

__u32 sample_step; /* set by user space at run time; 0: every event */

/* The weight of this event; 0: not sampled. */
static __always_inline __u64 sampled(void)
{
	__u64 of = 1ull << (*(volatile __u32 *)&sample_step & 15);

	return of == 1 || !(bpf_get_prandom_u32() & (of - 1)) ? of : 0;
}
