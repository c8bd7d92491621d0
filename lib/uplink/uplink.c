// SPDX-License-Identifier: Apache-2.0
#include "lib/uplink/uplink_state.h"

#include <assert.h>
#include <zmq.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "lib/uplink/dealer.h"

static const uint64_t PATIENCE_MAX_NS = 24000 * MS;
static const uint64_t RETRY_NS = 1000 * MS; /* to try another key */
static const uint64_t AGAIN_NS = 5000 * MS; /* to try the same key again */

int uplink_open(struct uplink **out, const struct uplink_config *cfg)
{
	AUTO(uplink_close) struct uplink *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		die("out of memory");
	assert(cfg->nlayouts <= UPLINK_LAYOUTS);
	u->cfg = *cfg;
	u->node_id = hash_node_id(cfg->node);
	u->patience_ns = PATIENCE_NS;
	u->since_ns = clock_mono_ns();
	u->offset.since_ns = clock_wall_ns();
	u->zmq = dealer_context();
	u->at = (unsigned)(u->node_id % cfg->collectors->n); /* spreads the fleet */
	r = uplink_open_dealer(u, &u->dealer);
	if (r < 0)
		return r;
	loop_add_zmq(cfg->loop, u->dealer.sock, uplink_input, u);
	*out = TAKE(u);
	return 0;
}

void uplink_close(struct uplink *u)
{
	if (!u)
		return;
	dealer_close(&u->dealer);
	zmq_ctx_term(u->zmq);
	buf_free(&u->frame);
	free(u);
}

/* Tries each trusted key, then the next collector. */
static void try_next(struct uplink *u)
{
	u->key++;
	if (++u->tried >= u->cfg.keys->collectors.n)
		uplink_next_collector(u);
	uplink_start_over(u);
}

/* The link may be fine while the collector is not: only acks prove that it stores. */
static bool out_of_patience(const struct uplink *u, uint64_t now)
{
	size_t bytes;

	switch (u->state) {
	case CONNECTING:
		return false;
	case GREETED:
		return now - u->since_ns >= u->patience_ns;
	case UP:
		return spool_unacked(u->cfg.spool, &bytes) &&
		       now - u->progress_ns >= u->patience_ns;
	}
	return false;
}

static void keep_connecting(struct uplink *u, uint64_t now)
{
	const bool choice = u->cfg.keys->collectors.n > 1 || u->cfg.collectors->n > 1;

	/* libzmq does not reconnect after an error that it takes for a breach of protocol. */
	if (u->failing && now - u->since_ns >= (choice ? RETRY_NS : AGAIN_NS)) {
		try_next(u);
	} else if (now - u->since_ns >= PATIENCE_NS) {
		uplink_say_away(u);
		if (u->cfg.collectors->n > 1) {
			uplink_next_collector(u);
			uplink_start_over(u);
		}
	}
	if (now >= u->hello_ns)
		uplink_say_hello(u);
}

int uplink_tick(void *uplink)
{
	struct uplink *u = uplink;
	uint64_t now = clock_mono_ns();

	uplink_hear_handshakes(u);
	if (out_of_patience(u, now)) {
		if (u->patience_ns < PATIENCE_MAX_NS)
			u->patience_ns *= 2;
		uplink_lost(u);
	} else if (u->state == CONNECTING) {
		keep_connecting(u, now);
	} else {
		uplink_go_on(u);
	}
	return 0;
}

bool uplink_up(const struct uplink *u)
{
	return u->state == UP;
}

struct uplink_stat uplink_stat(const struct uplink *u)
{
	return u->stat;
}
