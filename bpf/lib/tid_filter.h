/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tid_filter.h - a bitmap of threads that have an entry in some map: the first, cheap test of hooks
 * that see every thread. The bit is the tid modulo their number, so threads may share one; the
 * entry itself identifies its thread. All bits lie in one page, most in a few cache lines.
 *
 * Set the bit after adding an entry. Clear it after removing the last entry, and set it again if an
 * entry was added meanwhile.
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
