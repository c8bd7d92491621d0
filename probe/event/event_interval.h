// SPDX-License-Identifier: Apache-2.0
/* event_interval.h - when an event that goes on is told again: docs/reference/wire.md, EVENT. */
#pragma once

#include "lib/base/base.h"

enum { AGAIN_FIRST_S = 30, AGAIN_MOST_S = 600 };

/* After so many tellings, from 1. */
static inline uint64_t event_interval_ns(uint32_t told)
{
	uint64_t s = told > 5 ? AGAIN_MOST_S : AGAIN_FIRST_S << (told - 1);

	return (s < AGAIN_MOST_S ? s : AGAIN_MOST_S) * 1000000000ull;
}
