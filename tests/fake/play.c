// SPDX-License-Identifier: Apache-2.0
#include "tests/fake/play.h"

#include <stdio.h>
#include <zmq.h>

#include "lib/base/hash.h"

static const struct wire_metric metrics[] = { { "a", "s", METRIC_GAUGE } };
struct wire_dict play_dict[LAYOUT] = { { .entity_kind = "x", .n = 1, .metrics = metrics },
				       { .entity_kind = "y", .n = 1, .metrics = metrics } };
static const struct wire_dict *const layouts[] = { &play_dict[0], &play_dict[1] };

static void on_fresh(void *arg)
{
	struct play *s = arg;

	s->fresh++;
}

static void on_clock(void *arg, const struct clock_item *c)
{
	struct play *s = arg;

	s->clock = *c;
	s->clocks++;
}

void play_bind(struct collector *c)
{
	int zero = 0, one = 1;

	c->router = zmq_socket(c->zmq, ZMQ_ROUTER);
	zmq_setsockopt(c->router, ZMQ_CURVE_SERVER, &one, sizeof(one));
	zmq_setsockopt(c->router, ZMQ_CURVE_SECRETKEY, c->key.secret, KEY_TEXT);
	zmq_setsockopt(c->router, ZMQ_LINGER, &zero, sizeof(zero));
	for (int i = 0; i < 200; i++) {
		if (zmq_bind(c->router, c->endpoint[0] ? c->endpoint : "tcp://127.0.0.1:*") == 0) {
			size_t len = sizeof(c->endpoint);

			zmq_getsockopt(c->router, ZMQ_LAST_ENDPOINT, c->endpoint, &len);
			return;
		}
		usleep(10000); /* the port of the last one is not free yet */
	}
	CHECK(!"bound");
}

static void play_make_keys(struct play *s)
{
	char err[256];

	CHECK_EQ(keys_make(&s->c.key, err, sizeof(err)), 0);
	CHECK_EQ(keys_make(&s->keys.own, err, sizeof(err)), 0);
	keys_add(&s->keys.collectors, s->c.key.public);
}

void play_again(struct play *s)
{
	const struct uplink_config cfg = { .node = NODE,
					   .machine = "m",
					   .version = "v",
					   .collectors = &s->at,
					   .keys = &s->keys,
					   .spool_mb = 8,
					   .spool_where = "in memory",
					   .layouts = layouts,
					   .nlayouts = LAYOUT,
					   .spool = s->spool,
					   .loop = s->loop,
					   .on_fresh = on_fresh,
					   .on_clock = on_clock,
					   .arg = s };

	CHECK_EQ(uplink_open(&s->u, &cfg), 0);
}

void play_open(struct play *s, size_t cap)
{
	memset(s, 0, sizeof(*s));
	clock_set_ns(1000 * SEC);
	for (int i = 0; i < LAYOUT; i++)
		play_dict[i].layout = wire_layout_id(&play_dict[i]);
	s->c.zmq = zmq_ctx_new();
	play_make_keys(s);
	play_bind(&s->c);
	s->at.n = 1;
	snprintf(s->at.at[0], ENDPOINT_TEXT, "%s", s->c.endpoint);
	s->loop = loop_new();
	s->spool = spool_new(cap);
	play_again(s);
}

void play_close(struct play *s)
{
	uplink_close(s->u);
	spool_free(s->spool);
	loop_free(s->loop);
	if (s->c.router)
		zmq_close(s->c.router);
	zmq_ctx_term(s->c.zmq);
	buf_free(&s->c.frame);
}

static void note_hello(struct collector *c, const void *f, size_t len, struct seen *e)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 16);
	struct wire_hello h;

	CHECK_EQ(wire_hello_decode(a, f, len, &h), 0);
	CHECK_STR(h.node, NODE);
	snprintf(c->next_key, sizeof(c->next_key), "%s", h.next_key);
	e->epoch = h.epoch;
	c->hellos++;
}

static void note(struct collector *c, zmq_msg_t *head, zmq_msg_t *body)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 16);
	const void *f = zmq_msg_data(head);
	size_t len = zmq_msg_size(head);
	struct seen e = { 0 };
	struct wire_batch_head h;
	struct wire_dict d;

	CHECK_EQ(wire_type_of(f, len, &e.type), 0);
	if (e.type == WIRE_HELLO) {
		note_hello(c, f, len, &e);
	} else if (e.type == WIRE_BATCH) {
		CHECK_EQ(wire_batch_head_decode(f, len, &h), 0);
		CHECK_EQ(h.node_id, hash_node_id(NODE));
		e.stream = h.stream, e.epoch = h.epoch, e.seq = h.seq, e.base = h.base_seq;
		e.len = zmq_msg_size(body);
		e.sent_ns = h.sent_ns;
	} else {
		CHECK_EQ(e.type, WIRE_DICT);
		CHECK_EQ(wire_dict_decode(a, f, len, &d), 0);
		e.layout = d.layout;
	}
	if (c->n < MAX_SEEN)
		c->seen[c->n++] = e;
}

/* Reads everything that has arrived. */
static void look(struct collector *c)
{
	zmq_msg_t part[3];
	int n;

	while (c->router) {
		for (n = 0; n < 3; n++) {
			zmq_msg_init(&part[n]);
			if (zmq_msg_recv(&part[n], c->router, ZMQ_DONTWAIT) < 0)
				break;
			if (!zmq_msg_more(&part[n])) {
				n++;
				break;
			}
		}
		if (n >= 2) {
			size_t len = zmq_msg_size(&part[0]);

			if (len != c->peer_len || memcmp(c->peer, zmq_msg_data(&part[0]), len) != 0)
				c->peers++;
			memcpy(c->peer, zmq_msg_data(&part[0]), len);
			c->peer_len = len;
			if (n == 2)
				zmq_msg_init(&part[2]);
			note(c, &part[1], &part[2]);
		}
		for (int i = 0; i < (n == 2 ? 3 : n); i++)
			zmq_msg_close(&part[i]);
		if (n < 2)
			return;
	}
}

void play_turn(struct play *s)
{
	uplink_tick(s->u);
	uplink_input(s->u);
	look(&s->c);
}

void play_settle(struct play *s)
{
	for (int i = 0; i < 10; i++) {
		play_turn(s);
		usleep(5000);
	}
}

void play_say(struct collector *c)
{
	zmq_send(c->router, c->peer, c->peer_len, ZMQ_SNDMORE);
	zmq_send(c->router, c->frame.data, c->frame.len, 0);
}

void play_welcome(struct play *s, uint64_t event, uint64_t metric)
{
	struct wire_welcome w = { .node_id = hash_node_id(NODE), .epoch = spool_epoch(s->spool) };

	w.mark[STREAM_EVENT] = event;
	w.mark[STREAM_METRIC] = metric;
	wire_welcome_encode(&s->c.frame, &w);
	play_say(&s->c);
}

void play_mark(struct play *s, enum wire_type type, enum wire_stream stream, uint64_t mark)
{
	struct wire_mark m = { .node_id = hash_node_id(NODE),
			       .epoch = spool_epoch(s->spool),
			       .stream = (uint8_t)stream,
			       .mark = mark };

	for (uint32_t i = 0; i < s->c.n && s->sends_times; i++)
		if (s->c.seen[i].type == WIRE_BATCH)
			m.sent_ns = s->c.seen[i].sent_ns;
	m.received_ns = m.answered_ns = clock_wall_ns() + (uint64_t)s->ahead_ns;
	wire_mark_encode(&s->c.frame, type, &m);
	play_say(&s->c);
}

void play_need_dict(struct play *s, uint64_t layout)
{
	wire_need_dict_encode(&s->c.frame, &(struct wire_need_dict){ layout });
	play_say(&s->c);
}

void play_append(struct play *s, enum wire_stream stream, int n, size_t len)
{
	static const char body[WIRE_MAX_FRAME];

	for (int i = 0; i < n; i++)
		spool_append(s->spool, stream, 1, 1, body, len);
}

uint32_t play_count(const struct collector *c, enum wire_type type)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		n += c->seen[i].type == type;
	return n;
}

void play_meet(struct play *s)
{
	UNTIL(s, s->c.hellos > 0);
	play_welcome(s, 0, 0);
	UNTIL(s, uplink_up(s->u));
}
