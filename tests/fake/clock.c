// SPDX-License-Identifier: Apache-2.0
/* Replaces lib/base/clock.c, behind the same header; the test sets the time. */
#include "tests/fake/clock.h"

static uint64_t hand, delay, used, cost;

void clock_set_ns(uint64_t ns)
{
	hand = ns;
}

void clock_delay_ns(uint64_t ns)
{
	delay = ns;
}

void clock_cost_ns(uint64_t ns)
{
	cost = ns;
}

uint64_t clock_mono_ns(void)
{
	return hand += delay;
}

uint64_t clock_wall_ns(void)
{
	return hand;
}

uint64_t clock_cpu_ns(void)
{
	return used += cost;
}
