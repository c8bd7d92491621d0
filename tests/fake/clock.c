// SPDX-License-Identifier: Apache-2.0
/* Same header as lib/clock.c, other hands. */
#include "clock.h"

static uint64_t hand;

void clock_set_ns(uint64_t ns)
{
	hand = ns;
}

uint64_t clock_mono_ns(void)
{
	return hand;
}

uint64_t clock_wall_ns(void)
{
	return hand;
}
