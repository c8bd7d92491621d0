/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample.h - what happens too often to look at all of it: 1 in 2^sample_step is, by chance, and
 * counts for as many. So what is counted is right on the average whatever the step was when: of C
 * that happened, C +- sqrt(C * (2^step - 1)) in two of three cases.
 */
#pragma once

#include "bpf/lib/kernel.h"

#include <bpf/bpf_helpers.h>

__u32 sample_step; /* set by user space while it runs; 0: all is looked at */

/* For how many this one counts; 0: it is not looked at. */
static __always_inline __u64 sampled(void)
{
	__u64 of = 1ull << (*(volatile __u32 *)&sample_step & 15);

	return of == 1 || !(bpf_get_prandom_u32() & (of - 1)) ? of : 0;
}
