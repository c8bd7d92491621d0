// SPDX-License-Identifier: Apache-2.0
/* uplink_state.c - the steps of the uplink's state machine: greet, send, start over. */
#include "lib/uplink/uplink_state.h"

#include <zmq.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/uplink/dealer.h"

enum { WINDOW_BATCHES = 64, WINDOW_BYTES = 4 << 20 };

const char *uplink_where(const struct uplink *u)
{
	return u->cfg.collectors->at[u->at];
}

int uplink_open_dealer(struct uplink *u, struct dealer *out)
{
	const struct keyring *k = u->cfg.keys;
	int r;

	u->key %= k->collectors.n;
	r = dealer_open(u->zmq, uplink_where(u), &k->own, k->collectors.key[u->key], out);
	if (r == 0)
		u->stat.opened++;
	return r;
}

void uplink_say_away(struct uplink *u)
{
	if (u->away)
		return;
	u->away = true;
	if (u->cfg.spool_mb)
		log_warn(0,
			 "collector at %s does not answer; keeping up to %zu MB %s until it does",
			 uplink_where(u), u->cfg.spool_mb, u->cfg.spool_where);
	else
		log_warn(0, "collector at %s does not answer; keeping everything %s until it does",
			 uplink_where(u), u->cfg.spool_where);
}

/* A greeting alone proves nothing: a collector without its database greets as well. */
void uplink_say_back(struct uplink *u, bool stores)
{
	uint32_t n = spool_batches(u->cfg.spool);

	if (!u->away || (!stores && n))
		return;
	u->away = false;
	log_info("collector at %s is back; %u batches waiting", uplink_where(u), n);
}

/*
 * Messages queued in the old socket must never arrive late, so the whole socket is closed. If no
 * new one can be opened (out of descriptors) the old one stays, and the next tick tries again.
 */
void uplink_start_over(struct uplink *u)
{
	struct dealer old = u->dealer, now;

	u->state = CONNECTING;
	u->since_ns = clock_mono_ns();
	u->hello_ns = 0;
	u->failing = false;
	memset(u->nack_until_ns, 0, sizeof(u->nack_until_ns));
	memset(u->dict_until_ns, 0, sizeof(u->dict_until_ns));
	if (uplink_open_dealer(u, &now) < 0)
		return;
	u->dealer = now;
	loop_swap_zmq(u->cfg.loop, old.sock, now.sock);
	dealer_close(&old);
}

void uplink_next_collector(struct uplink *u)
{
	u->tried = 0;
	u->at = (u->at + 1) % u->cfg.collectors->n;
}

void uplink_lost(struct uplink *u)
{
	uplink_say_away(u);
	uplink_next_collector(u);
	uplink_start_over(u);
}

void uplink_say_hello(struct uplink *u)
{
	const struct wire_hello h = {
		.node = u->cfg.node,
		.epoch = spool_epoch(u->cfg.spool),
		.machine = u->cfg.machine,
		.version = u->cfg.version,
		.wall_ns = clock_wall_ns(),
		.token = u->cfg.keys->token,
		.next_key = u->cfg.keys->next.public,
		.relay = u->cfg.relay,
	};

	wire_hello_encode(&u->frame, &h);
	if (dealer_send(u->dealer.sock, &u->frame) < 0)
		return; /* not connected yet */
	u->stat.hellos++;
	u->state = GREETED;
	u->since_ns = clock_mono_ns();
}

static int send_batch(struct uplink *u, enum wire_stream stream, struct spool_batch *b)
{
	const struct wire_batch_head head = {
		.node_id = u->node_id,
		.epoch = spool_epoch(u->cfg.spool),
		.stream = (uint8_t)stream,
		.seq = b->seq,
		.base_seq = spool_base(u->cfg.spool, stream),
		.wall_ns = b->wall_ns,
		.sent_ns = clock_wall_ns(),
	};
	int r;

	wire_batch_head_encode(&u->frame, &head);
	r = dealer_send_batch(u->dealer.sock, &u->frame, b);
	if (r < 0)
		return r;
	u->stat.batches++;
	return 0;
}

/* The next batch within the window; events first. */
static struct spool_batch *next_batch(struct uplink *u, enum wire_stream *stream)
{
	struct spool_batch *b;
	size_t bytes;
	uint32_t n = spool_unacked(u->cfg.spool, &bytes);

	if (n >= WINDOW_BATCHES || bytes >= WINDOW_BYTES)
		return NULL;
	for (*stream = STREAM_EVENT; *stream < STREAM_END; ++*stream) {
		b = spool_next(u->cfg.spool, *stream);
		if (!b)
			continue;
		if (n == 0)
			u->progress_ns = clock_mono_ns();
		return b;
	}
	return NULL;
}

void uplink_send(struct uplink *u)
{
	enum wire_stream stream;
	struct spool_batch *b;

	while (u->state == UP && (b = next_batch(u, &stream))) {
		/* The window is smaller than any libzmq queue: no room means no connection. */
		if (send_batch(u, stream, b) < 0)
			uplink_lost(u);
	}
}

/* All batches of an earlier process are stored: from here on the uplink uses its own epoch. */
void uplink_go_on(struct uplink *u)
{
	if (u->state == UP && spool_turn(u->cfg.spool)) {
		u->state = CONNECTING;
		u->since_ns = clock_mono_ns();
		uplink_say_hello(u);
	}
	uplink_send(u);
}
