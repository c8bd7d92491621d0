// SPDX-License-Identifier: Apache-2.0
/*
 * overflow.h - whether connections found the accept queue full lately: ListenOverflows of the
 * network namespace that a process lives in. The kernel counts it for all listeners of a namespace
 * together, so it says "at that time", not which.
 */
#pragma once

#include "../lib/base.h"

#define OVERFLOW_TICK_NS (2 * 1000000000ull)
#define OVERFLOW_RECENT_NS (10 * 1000000000ull)

enum { OVERFLOW_SPACES = 16 };

struct overflow;

struct overflow *overflow_new(const char *procfs);
void overflow_free(struct overflow *o);

/*
 * *full: the count has risen in the last ten seconds. False: not known, because this namespace has
 * just been seen for the first time, or cannot be read.
 */
bool overflow_known(struct overflow *o, uint32_t pid, bool *full);

void overflow_tick(struct overflow *o, uint64_t now_ns); /* looks at each namespace it knows */

DEFINE_AUTO(struct overflow *, overflow_free)
