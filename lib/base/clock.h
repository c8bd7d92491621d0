// SPDX-License-Identifier: Apache-2.0
/* clock.h - the only clocks. Tests link tests/fake/clock.c instead and set the time. */
#pragma once

#include "lib/base/base.h"

uint64_t clock_mono_ns(void); /* for waiting and measuring */
uint64_t clock_wall_ns(void); /* for timestamps that are stored or sent */
uint64_t clock_cpu_ns(void); /* CPU time of this thread, for measuring cost */

/* The next multiple of a period, so that timers of related periods fire together. */
static inline uint64_t clock_next(uint64_t now_ns, uint64_t every_ns)
{
	return (now_ns / every_ns + 1) * every_ns;
}
