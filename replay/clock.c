// SPDX-License-Identifier: Apache-2.0
/* clock.c - replaces lib/base/clock.c. */
#include "replay/clock.h"

#include <time.h>

static uint64_t held_ns, wall_ns;

void clock_hold(uint64_t ns)
{
	held_ns = ns;
}

void clock_set_wall(uint64_t ns)
{
	wall_ns = ns;
}

static uint64_t read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_mono_ns(void)
{
	return held_ns ? held_ns : read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_wall_ns(void)
{
	return wall_ns ? wall_ns : read_ns(CLOCK_REALTIME);
}

uint64_t clock_cpu_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}
