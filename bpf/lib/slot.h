/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slot.h - the slot of a value in a histogram whose slots are powers of two: slot 0 holds values up
 * to 2^first, an upper edge belongs to its slot, and the last slot has no upper edge. Up to
 * 2^(first + 4) there is no branch that depends on the value: such branches are often mispredicted,
 * which took 40 ns at the end of each disk request (tests/bench/RESULTS.md).
 */
#pragma once

#include <linux/types.h>

#include <bpf/bpf_helpers.h>

/* Number of significant bits of v < 16, from a constant used as a table of digits. */
static __always_inline __u32 bits_of(__u64 v)
{
	return 0x4444444433332210ULL >> (v * 4) & 15;
}

/*
 * Values with more bits. Global, so that the verifier checks it once, and no combination of two
 * calls.
 */
__u32 slot_beyond(__u64 v, __u32 slots);

__noinline __u32 slot_beyond(__u64 v, __u32 slots)
{
	__u32 n = 0;

	for (int i = 0; i < 15 && v > 15; i++) {
		v >>= 4;
		n += 4;
	}
	n += bits_of(v);
	return n < slots ? n : slots - 1;
}

/* slots: at least 5. */
static __always_inline __u32 slot_of(__u64 v, __u32 first, __u32 slots)
{
	v = v ? (v - 1) >> first : 0;
	return v < 16 ? bits_of(v) : slot_beyond(v, slots);
}
