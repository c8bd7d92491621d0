// SPDX-License-Identifier: Apache-2.0
#include "lib/uplink/uplink_state.h"

#include <assert.h>
#include <zmq.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "lib/uplink/dealer.h"

enum { WINDOW_BATCHES = 64, WINDOW_BYTES = 4 << 20 };

static const uint64_t PATIENCE_MAX_NS = 24000 * MS;
static const uint64_t RETRY_NS = 1000 * MS; /* with another key */
static const uint64_t AGAIN_NS = 5000 * MS; /* with the same */

const char *uplink_where(const struct uplink *u)
{
	return u->cfg.collectors->at[u->at];
}

static int open_dealer(struct uplink *u, struct dealer *out)
{
	const struct keyring *k = u->cfg.keys;
	int r;

	u->key %= k->collectors.n;
	r = dealer_open(u->zmq, uplink_where(u), &k->own, k->collectors.key[u->key], out);
	if (r == 0)
		u->stat.opened++;
	return r;
}

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
	u->at = (unsigned)(u->node_id % cfg->collectors->n); /* so that a fleet shares them out */
	r = open_dealer(u, &u->dealer);
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

static void say_away(struct uplink *u)
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

/* A greeting alone proves nothing: a collector whose database is away greets as well. */
void uplink_say_back(struct uplink *u, bool stores)
{
	uint32_t n = spool_batches(u->cfg.spool);

	if (!u->away || (!stores && n))
		return;
	u->away = false;
	log_info("collector at %s is back; %u batches waiting", uplink_where(u), n);
}

/*
 * What the old socket still had queued must never arrive late, so it goes as a whole. When there is
 * no new one (out of descriptors) the old one stays, and the next tick tries again.
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
	if (open_dealer(u, &now) < 0)
		return;
	u->dealer = now;
	loop_swap_zmq(u->cfg.loop, old.sock, now.sock);
	dealer_close(&old);
}

static void next_collector(struct uplink *u)
{
	u->tried = 0;
	u->at = (u->at + 1) % u->cfg.collectors->n;
}

/* Each key that is trusted, then the next collector. */
static void try_next(struct uplink *u)
{
	u->key++;
	if (++u->tried >= u->cfg.keys->collectors.n)
		next_collector(u);
	uplink_start_over(u);
}

void uplink_lost(struct uplink *u)
{
	say_away(u);
	next_collector(u);
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

/* The next batch that the window lets through; events first. */
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
		/* The window is smaller than any queue of libzmq: no room means no connection. */
		if (send_batch(u, stream, b) < 0)
			uplink_lost(u);
	}
}

/* What an earlier process left is stored: from here on it is our own epoch. */
void uplink_go_on(struct uplink *u)
{
	if (u->state == UP && spool_turn(u->cfg.spool)) {
		u->state = CONNECTING;
		u->since_ns = clock_mono_ns();
		uplink_say_hello(u);
	}
	uplink_send(u);
}

/* The link may be fine and the collector not: only acks prove that it stores. */
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

	/* libzmq does not connect again after what it takes for a breach of protocol. */
	if (u->failing && now - u->since_ns >= (choice ? RETRY_NS : AGAIN_NS)) {
		try_next(u);
	} else if (now - u->since_ns >= PATIENCE_NS) {
		say_away(u);
		if (u->cfg.collectors->n > 1) {
			next_collector(u);
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
