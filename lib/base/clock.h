// SPDX-License-Identifier: Apache-2.0
/* clock.h - the only clocks. Tests link tests/fake/clock.c instead and turn the hands. */
#pragma once

#include "lib/base/base.h"

uint64_t clock_mono_ns(void); /* for waiting and for measuring */
uint64_t clock_wall_ns(void); /* for what is written down */
uint64_t clock_cpu_ns(void); /* that this thread was on a CPU: for what something costs */

/* The next multiple of a period: what is due at multiples is due together with others. */
static inline uint64_t clock_next(uint64_t now_ns, uint64_t every_ns)
{
	return (now_ns / every_ns + 1) * every_ns;
}
