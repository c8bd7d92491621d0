// SPDX-License-Identifier: Apache-2.0
/*
 * red.h - rate, errors, duration: every request counted by app, route, peer, role and status class.
 *
 * Durations go into powers of two (lib/hist.h). The table is bounded: once it is three quarters
 * full, requests of new routes are counted under "(other)", and what fits nowhere is counted in
 * overflow. Flushing sends what was counted since the last time.
 */
#pragma once

#include "sink.h"

struct red;

struct red_key {
	const char *app, *route, *peer;
	uint8_t role, status_class;
};

struct red *red_new(void);
void red_free(struct red *r);
void red_count(struct red *r, const struct red_key *k, uint64_t us);
/* all: every key that counted; else only keys never sent before, so that a new server shows at once
 */
void red_flush(struct red *r, struct sink *out, bool all);
uint64_t red_overflow(const struct red *r);

DEFINE_AUTO(struct red *, red_free)
