/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counts.h - counters that user space reads without a system call (percpu_map.h). Define COUNTS,
 * their number, before including it.
 */
#pragma once

struct cpu_counts {
	__u64 n[COUNTS];
} __attribute__((aligned(64)));

#define EACH_CPU struct cpu_counts
#include "bpf/lib/percpu_map.h"

static __always_inline void count(__u32 what)
{
	struct cpu_counts *c = of_this_cpu();

	if (c && what < COUNTS)
		c->n[what]++;
}
