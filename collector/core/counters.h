// SPDX-License-Identifier: Apache-2.0
/*
 * counters.h - the collector's counters, defined in counters.def.
 *
 * Any thread may add, set and read at any time. counters_text appends all of them in Prometheus'
 * text format.
 */
#pragma once

#include <stdatomic.h>

#include "lib/base/buf.h"

enum counter {
#define COUNTER(id, type, name, labels, help) C_##id,
#include "collector/core/counters.def"
#undef COUNTER
	COUNTER_END
};

extern _Atomic uint64_t counters[COUNTER_END];

static inline void counter_add(enum counter c, uint64_t n)
{
	atomic_fetch_add_explicit(&counters[c], n, memory_order_relaxed);
}

static inline void counter_sub(enum counter c, uint64_t n)
{
	atomic_fetch_sub_explicit(&counters[c], n, memory_order_relaxed);
}

static inline void counter_set(enum counter c, uint64_t n)
{
	atomic_store_explicit(&counters[c], n, memory_order_relaxed);
}

static inline uint64_t counter_get(enum counter c)
{
	return atomic_load_explicit(&counters[c], memory_order_relaxed);
}

void counters_text(struct buf *out);
