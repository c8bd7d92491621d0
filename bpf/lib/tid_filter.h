/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tid_filter.h - whether anything is kept of a thread: what hooks that see every thread ask first.
 * A bit for each number that is left of a tid, so that threads with the same share it: what is kept
 * says by itself of which it is. All bits lie in one page, most in few lines of the cache.
 *
 * Whoever keeps something sets the bit behind it. Whoever drops the last thing clears the bit, and
 * sets it again if something is kept by then.
 */
#pragma once

#include "bpf/lib/kernel.h"

enum { TID_BITS = 16384 };

struct tid_filter {
	__u64 word[TID_BITS / 64];
};

static __always_inline bool tid_bit(const struct tid_filter *b, __u32 tid)
{
	return b->word[tid % TID_BITS / 64] >> tid % 64 & 1;
}

static __always_inline void tid_bit_set(struct tid_filter *b, __u32 tid)
{
	__sync_fetch_and_or(&b->word[tid % TID_BITS / 64], 1ull << tid % 64);
}

static __always_inline void tid_bit_clear(struct tid_filter *b, __u32 tid)
{
	__sync_fetch_and_and(&b->word[tid % TID_BITS / 64], ~(1ull << tid % 64));
}
