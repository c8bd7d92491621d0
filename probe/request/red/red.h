// SPDX-License-Identifier: Apache-2.0
/*
 * red.h - rate, errors, duration: counts every request by app, route, peer, role and status class,
 * and sums how much of its duration exceeds the usual of its key without the class (outlier.h).
 *
 * Durations go into powers of two (lib/wire/hist.h). The table is bounded: once it is three
 * quarters full, requests of new routes are counted under "(other)", and those that do not fit in
 * overflow. Clients (RED_SERVED) have a separate table of 256; absent ones are replaced. Outliers
 * are learnt from the tenth request of a key on, for at most 1,000 keys; requests of other keys are
 * counted in unjudged. A flush sends what was counted since the last one.
 */

#include "probe/core/sink.h"

struct red;

struct red_key {
	const char *app, *route, *peer;
	uint8_t role, status_class;
	bool failed; /* not learnt */
};

struct red *red_new(void);
void red_free(struct red *r);
void red_count(struct red *r, const struct red_key *k, uint64_t us, uint64_t now_ns);
/* all: every key with a count; else only keys never sent before, so that new servers show at once
 */
void red_flush(struct red *r, struct sink *out, bool all);
uint64_t red_overflow(const struct red *r);
uint64_t red_unjudged(const struct red *r);

DEFINE_AUTO(struct red *, red_free)
