// SPDX-License-Identifier: Apache-2.0
/* verdict_rules.h - shared by the verdict files: parameters of a reason, and time over the usual.
 */
#pragma once

#include <assert.h>

#include "lib/wire/reason.h"
#include "probe/request/explain/verdict.h"
#include "probe/request/judge/item_time.h"

static inline double verdict_ms(uint64_t us)
{
	return (double)us / 1000.0;
}

static inline void verdict_number(struct request_item *r, const char *key, double value)
{
	assert(r->nparams < ITEM_MAX_PARAMS);
	r->params[r->nparams++] = (struct param){ .key = key, .number = value };
}

static inline void verdict_put(struct request_item *r, const char *key, const char *value)
{
	assert(r->nparams < ITEM_MAX_PARAMS);
	r->params[r->nparams++] = (struct param){ .key = key, .text = value };
}

static inline void verdict_times(struct request_item *r, uint64_t us)
{
	verdict_number(r, "ms", verdict_ms(us));
	verdict_number(r, "total_ms", verdict_ms(item_judged_us(r)));
}

static inline bool verdict_is_half(uint64_t us, uint64_t of)
{
	return us >= of - of / 2;
}

/* The time beyond the normal time; the whole time if the normal is unknown or was not exceeded. */
struct excess_time {
	uint64_t us;
	bool whole;
};

struct excess_time verdict_excess(const struct request_item *r);

/* How much a part exceeds its usual time; noise: subtracts its usual variation as well. */
uint64_t verdict_over(const struct verdict_facts *f, struct excess_time e, enum part p, bool noise);

bool verdict_is_unix(
	const struct request_item *r); /* the client is on this host, on a Unix socket */

/* A rule for part p, whose excess is the largest: returns the reason and sets its parameters. */
typedef enum reason_id verdict_rule(struct request_item *r, const struct verdict_facts *f,
				    struct excess_time e, struct verdict_text *t);

/* R_UNKNOWN: no part reaches half of the excess. */
verdict_rule verdict_slow;
/* The peer by another protocol than HTTP: sets peer and protocol. */
void verdict_peer(struct request_item *r, const struct verdict_facts *f, struct verdict_text *t);
/* What became of it, to go on after "which". */
const char *verdict_peer_outcome(const struct req_peer *p, struct verdict_text *t);

verdict_rule verdict_upstream, verdict_client; /* parts that involve the network */

/* Upper bound for the round trips that the bytes of part p (CLIENT or UPSTREAM) need. */
uint64_t verdict_trips_us(const struct request_item *r, enum part p);
