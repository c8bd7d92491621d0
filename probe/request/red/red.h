// SPDX-License-Identifier: Apache-2.0
/*
 * red.h - rate, errors, duration: every request counted by app, route, peer, role and status class,
 * and how much of its duration is over what is usual for these but the class (outlier.h).
 *
 * Durations go into powers of two (lib/wire/hist.h). The table is bounded: once it is three quarters
 * full, requests of new routes are counted under "(other)", and what fits nowhere is counted in
 * overflow. Clients (RED_SERVED) have a table of their own: 256 at a time, and those that stay away
 * make room for others. A key is learnt from its tenth request on; 1,000 keys are, and requests of
 * others are counted in unjudged. Flushing sends what was counted since the last time.
 */
#pragma once

#include "probe/core/sink.h"

struct red;

struct red_key {
	const char *app, *route, *peer;
	uint8_t role, status_class;
	bool failed; /* tells nothing of what is usual */
};

struct red *red_new(void);
void red_free(struct red *r);
void red_count(struct red *r, const struct red_key *k, uint64_t us, uint64_t now_ns);
/* all: every key that counted; else only keys never sent before, so that a new server shows at once
 */
void red_flush(struct red *r, struct sink *out, bool all);
uint64_t red_overflow(const struct red *r);
uint64_t red_unjudged(const struct red *r);

DEFINE_AUTO(struct red *, red_free)
