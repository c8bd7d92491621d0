// SPDX-License-Identifier: Apache-2.0
#include "uplink.h"

#include <assert.h>
#include <zmq.h>

#include "../lib/clock.h"
#include "../lib/hash.h"
#include "../lib/log.h"
#include "dealer.h"

#define MS 1000000ull

enum { WINDOW_BATCHES = 64, WINDOW_BYTES = 4 << 20, MAX_LAYOUTS = 32, MAX_ANSWERS = 256 };

static const uint64_t PATIENCE_NS =
	3000 * MS; /* without an answer; doubles each time it was in vain */
static const uint64_t PATIENCE_MAX_NS = 24000 * MS;
static const uint64_t SETTLE_NS = 200 * MS; /* one loss makes many NACKs: follow the first */

enum state { CONNECTING, GREETED, UP };

struct uplink {
	struct uplink_config cfg;
	uint64_t node_id;
	void *zmq, *sock;
	struct buf frame;
	enum state state;
	uint64_t since_ns; /* the state's beginning */
	uint64_t progress_ns; /* when the window last opened or an ack moved it */
	uint64_t patience_ns;
	uint64_t nack_mark[STREAM_END], nack_until_ns[STREAM_END];
	uint64_t dict_until_ns[MAX_LAYOUTS];
	bool away, foreign; /* said so */
	struct uplink_stat stat;
};

int uplink_open(struct uplink **out, const struct uplink_config *cfg)
{
	AUTO(uplink_close) struct uplink *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		die("out of memory");
	assert(cfg->nlayouts <= MAX_LAYOUTS);
	u->cfg = *cfg;
	u->node_id = hash_node_id(cfg->node);
	u->patience_ns = PATIENCE_NS;
	u->since_ns = clock_mono_ns();
	u->zmq = dealer_context();
	r = dealer_open(u->zmq, cfg->collector, &u->sock);
	if (r < 0)
		return r;
	u->stat.opened++;
	loop_add_zmq(cfg->loop, u->sock, uplink_input, u);
	*out = TAKE(u);
	return 0;
}

void uplink_close(struct uplink *u)
{
	if (!u)
		return;
	if (u->sock)
		zmq_close(u->sock);
	zmq_ctx_term(u->zmq);
	buf_free(&u->frame);
	free(u);
}

static void say_away(struct uplink *u)
{
	if (u->away)
		return;
	u->away = true;
	log_warn(0, "collector at %s does not answer; keeping up to %zu MB in memory until it does",
		 u->cfg.collector, u->cfg.spool_mb);
}

/* A greeting alone proves nothing: a collector whose database is away greets as well. */
static void say_back(struct uplink *u, bool stores)
{
	uint32_t n = spool_batches(u->cfg.spool);

	if (!u->away || (!stores && n))
		return;
	u->away = false;
	log_info("collector at %s is back; %u batches waiting", u->cfg.collector, n);
}

/*
 * What the old socket still had queued must never arrive late, so it goes as a whole. When there is
 * no new one (out of descriptors) the old one stays, and the next tick tries again.
 */
static void start_over(struct uplink *u)
{
	void *old = u->sock, *sock;

	u->state = CONNECTING;
	u->since_ns = clock_mono_ns();
	memset(u->nack_until_ns, 0, sizeof(u->nack_until_ns));
	memset(u->dict_until_ns, 0, sizeof(u->dict_until_ns));
	if (dealer_open(u->zmq, u->cfg.collector, &sock) < 0)
		return;
	u->stat.opened++;
	u->sock = sock;
	loop_swap_zmq(u->cfg.loop, old, sock);
	zmq_close(old);
}

static void collector_lost(struct uplink *u)
{
	say_away(u);
	start_over(u);
}

static void say_hello(struct uplink *u)
{
	const struct wire_hello h = {
		.node = u->cfg.node,
		.epoch = spool_epoch(u->cfg.spool),
		.machine = u->cfg.machine,
		.version = u->cfg.version,
		.wall_ns = clock_wall_ns(),
	};

	wire_hello_encode(&u->frame, &h);
	if (dealer_send(u->sock, &u->frame) < 0)
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
	};
	int r;

	wire_batch_head_encode(&u->frame, &head);
	r = dealer_send_batch(u->sock, &u->frame, b);
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
			collector_lost(u);
	}
}

/* Somebody else uses our epoch: to go on with it would lose what the collector believes to have. */
static void epoch_taken(struct uplink *u, uint64_t mark)
{
	log_err(0,
		"collector at %s has batch %llu of node %s, never made here: is this a copied "
		"machine? "
		"Going on under a new epoch",
		u->cfg.collector, (unsigned long long)mark, u->cfg.node);
	spool_renew(u->cfg.spool);
	start_over(u);
}

static void on_welcome(struct uplink *u, const void *frame, size_t len)
{
	struct spool *s = u->cfg.spool;
	struct wire_welcome w;
	bool fresh;

	if (wire_welcome_decode(frame, len, &w) < 0 || w.node_id != u->node_id ||
	    w.epoch != spool_epoch(s)) {
		u->stat.ignored++;
		return;
	}
	fresh = w.mark[STREAM_EVENT] == 0 && spool_base(s, STREAM_EVENT) > 1;
	for (enum wire_stream i = STREAM_EVENT; i < STREAM_END; i++) {
		if (spool_ack(s, i, w.mark[i]) < 0) {
			epoch_taken(u, w.mark[i]);
			return;
		}
		spool_rewind(s, i, w.mark[i]);
	}
	u->state = UP;
	u->since_ns = u->progress_ns = clock_mono_ns();
	say_back(u, false);
	if (fresh)
		u->cfg.on_fresh(u->cfg.arg);
	uplink_send(u);
}

/* False: it was not for this epoch of this node, or there is nothing more to do. */
static bool take_mark(struct uplink *u, const void *frame, size_t len, struct wire_mark *m)
{
	struct spool *s = u->cfg.spool;
	uint64_t base;

	if (u->state != UP || wire_mark_decode(frame, len, m) < 0 || m->node_id != u->node_id ||
	    m->epoch != spool_epoch(s) || m->stream < STREAM_EVENT || m->stream >= STREAM_END) {
		u->stat.ignored++;
		return false;
	}
	base = spool_base(s, m->stream);
	if (spool_ack(s, m->stream, m->mark) < 0) {
		epoch_taken(u, m->mark);
		return false;
	}
	if (spool_base(s, m->stream) > base) {
		u->progress_ns = clock_mono_ns();
		u->patience_ns = PATIENCE_NS;
		say_back(u, true);
	}
	return true;
}

/* Every batch that was under way behind a hole brings the same NACK: one rewind is enough. */
static void rewind_once(struct uplink *u, const struct wire_mark *m)
{
	uint64_t now = clock_mono_ns();

	u->stat.nacks++;
	if (m->mark == u->nack_mark[m->stream] && now < u->nack_until_ns[m->stream])
		return;
	u->nack_mark[m->stream] = m->mark;
	u->nack_until_ns[m->stream] = now + SETTLE_NS;
	u->stat.rewinds++;
	spool_rewind(u->cfg.spool, m->stream, m->mark);
}

static void on_mark(struct uplink *u, enum wire_type type, const void *frame, size_t len)
{
	struct wire_mark m;

	if (!take_mark(u, frame, len, &m))
		return;
	if (type == WIRE_NACK)
		rewind_once(u, &m);
	uplink_send(u);
}

static void send_dict(struct uplink *u, const struct wire_dict *d)
{
	struct spool *s = u->cfg.spool;

	wire_dict_encode(&u->frame, d);
	if (dealer_send(u->sock, &u->frame) < 0) {
		collector_lost(u);
		return;
	}
	u->stat.dicts++;
	for (enum wire_stream i = STREAM_EVENT; i < STREAM_END; i++)
		spool_rewind(s, i, spool_base(s, i) - 1);
	uplink_send(u);
}

static void on_need_dict(struct uplink *u, const void *frame, size_t len)
{
	uint64_t now = clock_mono_ns();
	struct wire_need_dict nd;

	if (u->state == UP && wire_need_dict_decode(frame, len, &nd) == 0) {
		for (size_t i = 0; i < u->cfg.nlayouts; i++) {
			if (u->cfg.layouts[i]->layout != nd.layout)
				continue;
			if (now >= u->dict_until_ns[i]) {
				u->dict_until_ns[i] = now + SETTLE_NS;
				send_dict(u, u->cfg.layouts[i]);
			}
			return;
		}
	}
	u->stat.ignored++;
}

static void on_foreign(struct uplink *u)
{
	u->stat.ignored++;
	if (u->foreign)
		return;
	u->foreign = true;
	log_err(0, "collector at %s speaks another version than this probe: update the older one",
		u->cfg.collector);
}

static void on_frame(struct uplink *u, const void *frame, size_t len)
{
	enum wire_type type;
	int r = wire_type_of(frame, len, &type);

	if (r == -EPROTONOSUPPORT)
		on_foreign(u);
	else if (r == 0 && type == WIRE_WELCOME)
		on_welcome(u, frame, len);
	else if (r == 0 && (type == WIRE_ACK || type == WIRE_NACK))
		on_mark(u, type, frame, len);
	else if (r == 0 && type == WIRE_NEED_DICT)
		on_need_dict(u, frame, len);
	else
		u->stat.ignored++; /* of a later version, or damaged: acks that stay away tell */
}

int uplink_input(void *uplink)
{
	struct uplink *u = uplink;
	bool tail = false; /* a second frame, which no answer has */
	zmq_msg_t m;

	zmq_msg_init(&m);
	for (int i = 0; i < MAX_ANSWERS && zmq_msg_recv(&m, u->sock, ZMQ_DONTWAIT) >= 0; i++) {
		bool more = zmq_msg_more(&m);

		if (tail || more)
			u->stat.ignored++;
		else
			on_frame(u, zmq_msg_data(&m), zmq_msg_size(&m));
		tail = more;
	}
	zmq_msg_close(&m);
	return 0;
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

int uplink_tick(void *uplink)
{
	struct uplink *u = uplink;
	uint64_t now = clock_mono_ns();

	if (out_of_patience(u, now)) {
		if (u->patience_ns < PATIENCE_MAX_NS)
			u->patience_ns *= 2;
		collector_lost(u);
	} else if (u->state == CONNECTING) {
		if (now - u->since_ns >= PATIENCE_NS)
			say_away(u);
		say_hello(u);
	} else {
		uplink_send(u);
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
