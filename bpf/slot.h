/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* slot.h - the slot of a value in a histogram whose slots are powers of two. */
#pragma once

#include "kernel.h"

#include <bpf/bpf_helpers.h>

/* The number of the smallest power of two that is not below v. */
static __always_inline __u32 log2_up(__u64 v)
{
	__u32 n = 0;

	v = v ? v - 1 : 0;
#pragma unroll
	for (int step = 32; step; step /= 2) {
		if (v >> step) {
			v >>= step;
			n += step;
		}
	}
	return n + (v ? 1 : 0);
}

/* Global: the verifier reads it once, and no combination of what two calls may find. */
__noinline __u32 slot_of(__u64 v, __u32 first, __u32 slots)
{
	__u32 n = log2_up(v);

	n = n > first ? n - first : 0;
	return n < slots ? n : slots - 1;
}
