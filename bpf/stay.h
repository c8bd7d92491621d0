/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stay.h - a program that nothing takes its processor from until it has ended.
 *
 * Up to kernel 6.19 tracepoints run with preemption off. From 7.0 on (tracepoint_srcu) only
 * migration is: a task may be preempted within a program, and until it goes on the kernel leaves
 * that program out for all others on that processor, which bpf_prog_info.recursion_misses counts.
 * What is called in between has to be allowed there: global functions are from 6.15 on.
 *
 * Not where system calls are hooked: 5.13 to 5.15 refuse a program that names a function that they
 * do not have, even where it is never called.
 */
#pragma once

#include "kernel.h"

#include <bpf/bpf_helpers.h>

#ifdef REQUEST_SYSCALLS

static __always_inline void stay(void)
{
}

static __always_inline void stay_no_more(void)
{
}

#else

const volatile bool may_stay = false; /* set before the load: this kernel has what it takes */

extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;

static __always_inline void stay(void)
{
	if (may_stay)
		bpf_preempt_disable();
}

static __always_inline void stay_no_more(void)
{
	if (may_stay)
		bpf_preempt_enable();
}

#endif
