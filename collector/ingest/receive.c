// SPDX-License-Identifier: Apache-2.0
#include "collector/ingest/receive.h"
#include "collector/ingest/watermarks.h"

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "collector/core/pairmap.h"

enum {
	DRAIN = 256,
	HEAD_MEMORY = 1 << 20,
	NODE_BYTES = 6 << 20, /* queued for the database: a probe's window and a reserve */
	NODE_LAYOUTS = 256, /* first announced by one node */
};

static const uint64_t KEYS_NS = 5000000000u; /* interval of news about keys to one node */

struct receive {
	struct receive_config cfg;
	struct authorize auth;
	struct watermarks *marks;
	struct pairmap *announced; /* node -> number of layouts it was the first to announce */
	struct arena *arena; /* of one HELLO or DICT */
	struct buf out;
};

struct receive *receive_new(const struct receive_config *cfg)
{
	struct receive *r = calloc(1, sizeof(*r));

	if (!r)
		die("out of memory");
	r->cfg = *cfg;
	r->auth = (struct authorize){ .router = cfg->router,
				      .registry = cfg->registry,
				      .own = cfg->own };
	r->marks = watermarks_new();
	r->announced = pairmap_new(sizeof(uint32_t));
	r->arena = arena_new(HEAD_MEMORY);
	return r;
}

void receive_free(struct receive *r)
{
	if (!r)
		return;
	watermarks_free(r->marks);
	pairmap_free(r->announced);
	arena_free(r->arena);
	buf_free(&r->out);
	buf_free(&r->auth.out);
	free(r);
}

static struct mark *touch_mark(struct receive *r, uint64_t node, uint64_t epoch,
			       const struct peer *from)
{
	struct mark *k = watermarks_get(r->marks, node, epoch);

	if (!k) {
		counter_add(C_REFUSED_NODES, 1);
		return NULL;
	}
	k->heard_ns = clock_mono_ns();
	k->peer = *from;
	return k;
}

static void queue_lookup(struct receive *r, struct mark *k, struct work *w)
{
	if (writer_queue_send(r->cfg.link, w) < 0) {
		counter_add(C_REFUSED_QUEUE, 1);
		work_free(w);
	} else if (k->state != MARK_KNOWN) {
		k->state = MARK_LOADING;
	}
}

/* A HELLO of an authorized node: the writer stores it and answers with a note. */
static void accept_hello(struct receive *r, const struct ask *a)
{
	struct mark *k = touch_mark(r, a->node, a->epoch, &a->peer);
	struct work *w;

	if (!k)
		return;
	w = work_new(WORK_HELLO, k->node, k->epoch);
	w->wall_ns = a->wall_ns;
	snprintf(w->name, sizeof(w->name), "%s", a->name);
	snprintf(w->machine, sizeof(w->machine), "%s", a->machine);
	snprintf(w->version, sizeof(w->version), "%s", a->version);
	queue_lookup(r, k, w);
}

static int on_hello(struct receive *r, const struct sender *from, const void *f, size_t len)
{
	struct wire_hello h;
	struct ask a;
	int err = wire_hello_decode(r->arena, f, len, &h);

	if (err < 0)
		return err;
	counter_add(C_HELLOS, 1);
	authorize_ask(&a, from, &h);
	if (authorize_hello(&r->auth, &a))
		accept_hello(r, &a);
	return 0;
}

static int on_dict(struct receive *r, const void *f, size_t len)
{
	struct wire_dict d;
	uint32_t *announced;
	int err = wire_dict_decode(r->arena, f, len, &d);

	if (err < 0)
		return err;
	counter_add(C_DICTS, 1);
	if (layouts_find(r->cfg.layouts, d.layout))
		return 0;
	announced = pairmap_add(r->announced, r->auth.who.node, 0);
	if (*announced >= NODE_LAYOUTS || layouts_add(r->cfg.layouts, &d) < 0)
		counter_add(C_REFUSED_LAYOUT, 1);
	else
		++*announced;
	return 0;
}

static void need_dicts(struct receive *r, struct peer *to, const struct batch *b)
{
	counter_add(C_REFUSED_LAYOUT, 1);
	for (uint32_t i = 0; i < b->nneeded; i++) {
		counter_add(C_NEED_DICTS, 1);
		wire_need_dict_encode(&r->out, &(struct wire_need_dict){ b->needed[i] });
		router_send(r->cfg.router, to, &r->out);
	}
}

/* The next batch of its stream. A malformed one is queued too: the writer quarantines it. */
static void take_batch(struct receive *r, struct mark *k, const struct wire_batch_head *h,
		       zmq_msg_t *body)
{
	uint64_t came_ns = clock_wall_ns();
	AUTO(batch_free) struct batch *b = batch_new();
	uint32_t rows;
	size_t bytes;
	struct work *w;

	b->head = *h;
	b->relay = arena_strndup(b->arena, r->auth.who.relay, sizeof(r->auth.who.relay));
	b->room = *b->relay ? UINT32_MAX : watermarks_room(k, h, r->cfg.rows_per_s);
	zmq_msg_move(&b->body, body);
	if (pipeline_run(r->cfg.front, b) < 0 && !b->malformed) {
		need_dicts(r, &k->peer, b);
		return;
	}
	rows = batch_item_rows(b);
	bytes = batch_bytes(b);
	w = work_new(WORK_BATCH, k->node, k->epoch);
	w->batch = TAKE(b);
	if (writer_queue_send(r->cfg.link, w) < 0) {
		counter_add(C_REFUSED_QUEUE, 1);
		watermarks_refused(r->marks, k, h->stream);
		work_free(w);
		return;
	}
	counter_add(C_BATCHES, 1);
	watermarks_queued(k, h, came_ns);
	watermarks_rows(k, h, rows);
	k->bytes += bytes;
}

static void send_key_news(struct receive *r, struct mark *k)
{
	if (!authorize_has_news(&r->auth) || k->heard_ns - k->keys_ns < KEYS_NS)
		return;
	k->keys_ns = k->heard_ns;
	authorize_send_keys(&r->auth, &k->peer, k->node, k->epoch, "");
}

static int on_batch(struct receive *r, const struct sender *from, zmq_msg_t frame[static 2])
{
	struct wire_batch_head h;
	struct mark *k;
	int err = wire_batch_head_decode(zmq_msg_data(&frame[0]), zmq_msg_size(&frame[0]), &h);

	if (err < 0)
		return err;
	if (h.seq > INT64_MAX)
		return -EBADMSG;
	if (!authorize_node(&r->auth, h.node_id))
		return 0;
	k = touch_mark(r, h.node_id, h.epoch, &from->peer);
	if (!k)
		return 0;
	send_key_news(r, k);
	switch (watermarks_judge(r->marks, k, &h)) {
	case MARK_NEXT:
		if (k->bytes < NODE_BYTES && writer_queue_room(r->cfg.link)) {
			take_batch(r, k, &h, &frame[1]);
			return 0;
		}
		counter_add(k->bytes < NODE_BYTES ? C_REFUSED_QUEUE : C_REFUSED_CREDIT, 1);
		watermarks_refused(r->marks, k, h.stream);
		return 0;
	case MARK_DUPLICATE:
		counter_add(C_REFUSED_TWICE, 1);
		return 0;
	case MARK_GAP:
		counter_add(C_REFUSED_GAP, 1);
		return 0;
	case MARK_UNSYNCED:
		counter_add(C_REFUSED_EARLY, 1);
		if (k->state == MARK_NEW)
			queue_lookup(r, k, work_new(WORK_LOAD, k->node, k->epoch));
		return 0;
	}
	return 0;
}

static int dispatch(struct receive *r, const struct sender *from, zmq_msg_t frame[static 2], int n)
{
	const void *f = zmq_msg_data(&frame[0]);
	size_t len = zmq_msg_size(&frame[0]);
	enum wire_type type;
	int err = wire_type_of(f, len, &type);

	if (err < 0)
		return err;
	if (type == WIRE_HELLO)
		return n == 1 ? on_hello(r, from, f, len) : -EBADMSG;
	if (!authorize_message(&r->auth, from))
		return 0;
	if (type == WIRE_BATCH)
		return n == 2 ? on_batch(r, from, frame) : -EBADMSG;
	if (n != 1)
		return -EBADMSG;
	if (type == WIRE_DICT)
		return on_dict(r, f, len);
	counter_add(C_REFUSED_TYPE, 1);
	return 0;
}

static void send_mark(struct receive *r, struct mark *k, uint8_t stream, enum wire_type type)
{
	const struct wire_mark m = { .node_id = k->node,
				     .epoch = k->epoch,
				     .stream = stream,
				     .mark = k->stored[stream],
				     .sent_ns = k->sent_ns[stream],
				     .received_ns = k->came_ns[stream],
				     .answered_ns = clock_wall_ns() };

	counter_add(type == WIRE_ACK ? C_ACKS : C_NACKS, 1);
	wire_mark_encode(&r->out, type, &m);
	router_send(r->cfg.router, &k->peer, &r->out);
}

/* Sends no NACK while the queue has no room for the batch. */
static void send_due(struct receive *r)
{
	bool room = writer_queue_room(r->cfg.link);
	uint64_t now = clock_mono_ns();
	struct mark *k;

	while ((k = watermarks_next_due(r->marks))) {
		for (uint8_t s = STREAM_EVENT; s < STREAM_END; s++) {
			bool ack = watermarks_take_ack(k, s);

			if (room && watermarks_take_nack(k, s, now))
				send_mark(r, k, s, WIRE_NACK);
			else if (ack)
				send_mark(r, k, s, WIRE_ACK);
		}
	}
}

int receive_messages(void *receive)
{
	struct receive *r = receive;
	int n = 0;

	/* bounded, so that notes, timers and signals get their turn */
	for (int i = 0; i < DRAIN && n >= 0; i++) {
		zmq_msg_t frame[2];
		struct sender from;
		int err = 0;

		zmq_msg_init(&frame[0]);
		zmq_msg_init(&frame[1]);
		n = router_recv(r->cfg.router, &from, frame);
		if (n > 0)
			err = dispatch(r, &from, frame, n);
		if (err < 0)
			counter_add(err == -EPROTONOSUPPORT ? C_REFUSED_VERSION : C_REFUSED_FORMAT,
				    1);
		zmq_msg_close(&frame[0]);
		zmq_msg_close(&frame[1]);
		arena_reset(r->arena);
	}
	send_due(r);
	return n == -EAGAIN || n >= 0 ? 0 : n;
}

static void send_welcome(struct receive *r, struct mark *k)
{
	struct wire_welcome w = { .node_id = k->node,
				  .epoch = k->epoch,
				  .wall_ns = clock_wall_ns() };

	memcpy(w.mark, k->stored, sizeof(w.mark));
	wire_welcome_encode(&r->out, &w);
	router_send(r->cfg.router, &k->peer, &r->out);
}

static bool is_behind(const struct note *n, const struct mark *k)
{
	for (int s = STREAM_EVENT; s < STREAM_END; s++)
		if (n->seq[s] < k->stored[s])
			return true;
	return false;
}

static void on_note(struct receive *r, const struct note *n)
{
	struct mark *k = watermarks_find(r->marks, n->node, n->epoch);

	if (!k)
		return;
	if (n->kind == NOTE_UNKNOWN_NODE) {
		k->state = MARK_UNKNOWN_NODE;
		return;
	}
	k->tagged = n->tagged;
	k->bytes -= n->bytes < k->bytes ? n->bytes : k->bytes;
	if (n->kind == NOTE_LOADED || k->state != MARK_KNOWN || is_behind(n, k))
		watermarks_load(r->marks, k, n->seq);
	else
		watermarks_stored(r->marks, k, n->seq);
	if (watermarks_idle(k))
		k->bytes = 0; /* clears also bytes whose notes were lost */
	if (n->hello)
		send_welcome(r, k);
}

int receive_notes(void *receive)
{
	struct receive *r = receive;
	struct note n;

	writer_queue_clear_signal(r->cfg.link);
	while (writer_queue_take_note(r->cfg.link, &n))
		on_note(r, &n);
	send_due(r);
	return 0;
}

int receive_answers(void *receive)
{
	struct receive *r = receive;
	struct ask a;

	while (authorize_answer(&r->auth, &a))
		accept_hello(r, &a);
	return 0;
}

int receive_tick(void *receive)
{
	struct receive *r = receive;

	router_look(r->cfg.router);
	watermarks_sweep(r->marks, clock_mono_ns());
	send_due(r);
	return 0;
}
