// SPDX-License-Identifier: Apache-2.0
/*
 * event_interval.h - backoff for updates of ongoing events: 30 s, doubling to 10 min; see
 * docs/reference/wire.md, EVENT.
 */
#pragma once

#include "lib/base/base.h"

enum { INTERVAL_FIRST_S = 30, INTERVAL_MAX_S = 600 };

/* The time until the next report; reports: the number sent so far, at least 1. */
static inline uint64_t event_interval_ns(uint32_t reports)
{
	uint64_t s = reports > 5 ? INTERVAL_MAX_S : INTERVAL_FIRST_S << (reports - 1);

	return (s < INTERVAL_MAX_S ? s : INTERVAL_MAX_S) * 1000000000ull;
}
