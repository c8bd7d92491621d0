// SPDX-License-Identifier: Apache-2.0
/*
 * origin.c - decides which node the rows belong to: the sender, or a node behind a relay.
 *
 * A relay may only send rows of the region that its key was approved for, a node only its own rows.
 * Rows that passed this region before, or too many regions, are dropped, since a loop would never
 * end. Their batch is acknowledged all the same, or the relay would resend it for ever.
 */
#include "collector/pipeline/stage.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/wire/mp.h"

enum { MAX_HOPS = 3 };
static const uint64_t LOG_AGAIN_NS = 600 * 1000000000ull; /* every batch of a loop is looped */

enum looped { ROWS, INCIDENTS, NLOOPED };

struct origin {
	const char *region;
	uint64_t logged_ns[NLOOPED]; /* when a loop was last logged */
};

static int origin_open(void *self, const struct stage_env *env)
{
	struct origin *o = self;

	o->region = env->region;
	return 0;
}

static bool has_rows(const struct wire_body *w)
{
	return w->nsamples || w->nreds || w->nrequests || w->nsources || w->nunreads ||
	       w->nstacks || w->nevents || w->nprofiles || w->nplaces || w->nnats || w->nnodes ||
	       w->nrollups;
}

static const char *refusal(const struct batch *b)
{
	const struct origin_item *of = b->items.norigins ? b->items.origins : NULL;
	const char *console;

	if (b->items.norigins > 1)
		return "the batch names several origins";
	if (!*b->relay)
		return b->items.norigins || b->items.nregions || b->items.nnodes ||
				       b->items.nincidents || b->items.nrollups
			       ? "only a relay may speak for others"
			       : NULL;
	if (!b->items.norigins && has_rows(&b->items))
		return "a relay has no rows of its own";
	if (of && strcmp(of->region[of->hops - 1], b->relay) != 0)
		return "the rows are of a region that the relay was not approved for";
	if (of && b->items.nincidents)
		return "an incident must not have a node as its origin";
	for (uint32_t i = 0; i < b->items.nincidents; i++)
		if (strcmp(b->items.incidents[i].region[b->items.incidents[i].hops - 1],
			   b->relay) != 0)
			return "an incident is of a region that the relay was not approved for";
	for (uint32_t i = 0; i < b->items.nregions; i++) {
		console = b->items.regions[i].console;
		if (strcmp(b->items.regions[i].name, b->relay) != 0)
			return "the relay announces a region that it was not approved for";
		if (*console && strncmp(console, "http://", 7) != 0 &&
		    strncmp(console, "https://", 8) != 0)
			return "the address of a region's console is not http:// or https://";
	}
	return NULL;
}

static bool is_loop(const struct origin *o, const char *const *region, uint32_t hops)
{
	for (uint32_t i = 0; i < hops; i++)
		if (strcmp(region[i], o->region) == 0)
			return true;
	return hops > MAX_HOPS;
}

static void log_loop(struct origin *o, const struct batch *b, enum looped what, const char *region,
		     uint32_t hops)
{
	static const char *const name[NLOOPED] = { "rows", "an incident" };
	uint64_t now = clock_mono_ns();

	counter_add(C_RELAY_LOOPS, 1);
	if (o->logged_ns[what] && now - o->logged_ns[what] < LOG_AGAIN_NS)
		return;
	o->logged_ns[what] = now;
	log_err(0,
		"the relay of region %s sent %s of region %s that passed %u regions: a relay loop, "
		"or a chain of more than %d regions. Such data is dropped; two collectors must not "
		"relay to each other, and two regions must not have the same name",
		b->relay, name[what], region, hops, MAX_HOPS);
}

static void drop_loop(struct origin *o, struct batch *b)
{
	log_loop(o, b, ROWS, b->origin->region[0], b->origin->hops);
	b->items = (struct wire_body){ 0 };
	b->of = b->head;
	b->origin = NULL;
}

static void drop_looped_incidents(struct origin *o, struct batch *b)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->items.nincidents; i++) {
		const struct incident_item q = b->items.incidents[i];

		if (is_loop(o, q.region, q.hops))
			log_loop(o, b, INCIDENTS, q.region[0], q.hops);
		else
			b->items.incidents[kept++] = q;
	}
	b->items.nincidents = kept;
}

static void take_origin(struct batch *b)
{
	const struct origin_item *o = b->origin = b->items.origins;
	struct mp m = mp_over(zmq_msg_data(&b->body), batch_bytes(b));

	mp_skip(&m);
	b->origin_len = batch_bytes(b) - (size_t)(m.end - m.p);
	b->of.node_id = o->node;
	b->of.epoch = o->epoch;
	b->of.stream = o->stream;
	b->of.seq = o->seq;
	counter_add(C_RELAYED_IN, 1);
}

static bool origin_is_first(struct batch *b)
{
	struct mp m = mp_over(zmq_msg_data(&b->body), batch_bytes(b));

	mp_array(&m);
	return mp_uint(&m) == ITEM_ORIGIN && !mp_bad(&m);
}

static int origin_run(void *self, struct batch *b)
{
	struct origin *o = self;

	b->of = b->head;
	b->malformed = refusal(b);
	if (!b->malformed && b->items.norigins && !origin_is_first(b))
		b->malformed = "the origin is not the first item";
	if (b->malformed) {
		counter_add(C_REFUSED_REGION, 1);
		return -EPERM;
	}
	drop_looped_incidents(o, b);
	if (!b->items.norigins)
		return STAGE_NEXT;
	take_origin(b);
	if (is_loop(o, b->origin->region, b->origin->hops))
		drop_loop(o, b);
	return STAGE_NEXT;
}

const struct stage stage_origin = {
	.name = "origin",
	.size = sizeof(struct origin),
	.open = origin_open,
	.run = origin_run,
	STAGE_COUNTERS(ORIGIN),
};
