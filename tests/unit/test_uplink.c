// SPDX-License-Identifier: Apache-2.0
/* The uplink against a collector that this test plays: a real ROUTER, answers by script, a turned
 * clock. */
#include <zmq.h>

#include "../../lib/hash.h"
#include "../../probe/uplink.h"
#include "../fake/clock.h"
#include "../test.h"

#define SEC 1000000000ull
#define NODE "n1"

enum { MAX_SEEN = 4096, PEER = 64, LAYOUT = 2 };

struct seen {
	enum wire_type type;
	uint8_t stream;
	uint64_t epoch, seq, base, layout;
	size_t len;
};

/* The one in the middle: what it saw, and whom it answers. */
struct collector {
	void *zmq, *router;
	char endpoint[64];
	uint8_t peer[PEER];
	size_t peer_len;
	uint32_t peers; /* how many there have been */
	struct seen seen[MAX_SEEN];
	uint32_t n, hellos;
	struct buf frame;
};

struct stage {
	struct collector c;
	struct loop *loop;
	struct spool *spool;
	struct uplink *u;
	int fresh;
};

static const struct wire_metric metrics[] = { { "a", "s", METRIC_GAUGE } };
static struct wire_dict dict[LAYOUT] = { { .entity_kind = "x", .n = 1, .metrics = metrics },
					 { .entity_kind = "y", .n = 1, .metrics = metrics } };
static const struct wire_dict *const layouts[] = { &dict[0], &dict[1] };

static void on_fresh(void *arg)
{
	(*(int *)arg)++;
}

static void collector_bind(struct collector *c)
{
	int zero = 0;

	c->router = zmq_socket(c->zmq, ZMQ_ROUTER);
	zmq_setsockopt(c->router, ZMQ_LINGER, &zero, sizeof(zero));
	for (int i = 0; i < 200; i++) {
		if (zmq_bind(c->router, c->endpoint[0] ? c->endpoint : "tcp://127.0.0.1:*") == 0) {
			size_t len = sizeof(c->endpoint);

			zmq_getsockopt(c->router, ZMQ_LAST_ENDPOINT, c->endpoint, &len);
			return;
		}
		usleep(10000); /* the last one's port is not free yet */
	}
	CHECK(!"bound");
}

static void open_stage(struct stage *s, size_t cap)
{
	struct uplink_config cfg = { .node = NODE,
				     .machine = "m",
				     .version = "v",
				     .collector = s->c.endpoint,
				     .spool_mb = 8,
				     .layouts = layouts,
				     .nlayouts = LAYOUT,
				     .on_fresh = on_fresh,
				     .arg = &s->fresh };

	memset(s, 0, sizeof(*s));
	clock_set_ns(1000 * SEC);
	for (int i = 0; i < LAYOUT; i++)
		dict[i].layout = wire_layout_id(&dict[i]);
	s->c.zmq = zmq_ctx_new();
	collector_bind(&s->c);
	s->loop = cfg.loop = loop_new();
	s->spool = cfg.spool = spool_new(cap);
	CHECK_EQ(uplink_open(&s->u, &cfg), 0);
}

static void close_stage(struct stage *s)
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
	} else {
		CHECK_EQ(e.type, WIRE_DICT);
		CHECK_EQ(wire_dict_decode(a, f, len, &d), 0);
		e.layout = d.layout;
	}
	if (c->n < MAX_SEEN)
		c->seen[c->n++] = e;
}

/* All that has come so far. */
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

static void turn(struct stage *s)
{
	uplink_tick(s->u);
	uplink_input(s->u);
	look(&s->c);
}

/* Until it is so: seconds of real time at most, none of the probe's. */
#define UNTIL(s, cond)                                                                             \
	do {                                                                                       \
		for (int i_ = 0; i_ < 1000 && !(cond); i_++) {                                     \
			turn(s);                                                                   \
			if (!(cond))                                                               \
				usleep(5000);                                                      \
		}                                                                                  \
		CHECK(cond);                                                                       \
	} while (0)

static void settle(struct stage *s)
{
	for (int i = 0; i < 10; i++) {
		turn(s);
		usleep(5000);
	}
}

static void say(struct collector *c)
{
	zmq_send(c->router, c->peer, c->peer_len, ZMQ_SNDMORE);
	zmq_send(c->router, c->frame.data, c->frame.len, 0);
}

static void say_welcome(struct stage *s, uint64_t event, uint64_t metric)
{
	struct wire_welcome w = { .node_id = hash_node_id(NODE), .epoch = spool_epoch(s->spool) };

	w.mark[STREAM_EVENT] = event;
	w.mark[STREAM_METRIC] = metric;
	wire_welcome_encode(&s->c.frame, &w);
	say(&s->c);
}

static void say_mark(struct stage *s, enum wire_type type, enum wire_stream stream, uint64_t mark)
{
	struct wire_mark m = { .node_id = hash_node_id(NODE),
			       .epoch = spool_epoch(s->spool),
			       .stream = (uint8_t)stream,
			       .mark = mark };

	wire_mark_encode(&s->c.frame, type, &m);
	say(&s->c);
}

static void say_need_dict(struct stage *s, uint64_t layout)
{
	wire_need_dict_encode(&s->c.frame, &(struct wire_need_dict){ layout });
	say(&s->c);
}

static void append(struct stage *s, enum wire_stream stream, int n, size_t len)
{
	static const char body[WIRE_MAX_FRAME];

	for (int i = 0; i < n; i++)
		spool_append(s->spool, stream, 1, 1, body, len);
}

static uint32_t count(const struct collector *c, enum wire_type type)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		n += c->seen[i].type == type;
	return n;
}

static void meet(struct stage *s)
{
	UNTIL(s, s->c.hellos > 0);
	say_welcome(s, 0, 0);
	UNTIL(s, uplink_up(s->u));
}

TEST(nothing_but_hello_is_sent_before_welcome)
{
	static struct stage s;

	open_stage(&s, 1 << 20);
	append(&s, STREAM_EVENT, 3, 10);
	UNTIL(&s, s.c.hellos == 1);
	uplink_send(s.u);
	settle(&s);
	CHECK_EQ(s.c.n, 1);
	CHECK_EQ(s.c.seen[0].epoch, spool_epoch(s.spool));
	CHECK(!uplink_up(s.u));
	close_stage(&s);
}

TEST(after_welcome_each_stream_goes_on_behind_its_mark)
{
	static struct stage s;

	open_stage(&s, 1 << 20);
	append(&s, STREAM_METRIC, 3, 10);
	append(&s, STREAM_EVENT, 2, 20);
	UNTIL(&s, s.c.hellos == 1);
	say_welcome(&s, 1, 2);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 2);
	CHECK(s.c.seen[1].stream == STREAM_EVENT && s.c.seen[1].seq == 2);
	CHECK(s.c.seen[1].base == 2 && s.c.seen[1].len == 20);
	CHECK(s.c.seen[2].stream == STREAM_METRIC && s.c.seen[2].seq == 3);
	CHECK_EQ(spool_batches(s.spool), 2);
	close_stage(&s);
}

TEST(no_more_than_64_batches_are_under_way)
{
	static struct stage s;

	open_stage(&s, 1 << 20);
	append(&s, STREAM_EVENT, 100, 10);
	meet(&s);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 64);
	settle(&s);
	CHECK_EQ(count(&s.c, WIRE_BATCH), 64);
	say_mark(&s, WIRE_ACK, STREAM_EVENT, 10);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 74);
	settle(&s);
	CHECK_EQ(count(&s.c, WIRE_BATCH), 74);
	CHECK_EQ(s.c.seen[s.c.n - 1].seq, 74);
	CHECK_EQ(s.c.seen[s.c.n - 1].base, 11);
	close_stage(&s);
}

TEST(no_more_than_4_megabytes_and_a_batch_are_under_way)
{
	static struct stage s;

	open_stage(&s, 64 << 20);
	append(&s, STREAM_METRIC, 20, WIRE_MAX_FRAME - 100);
	meet(&s);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 5);
	settle(&s);
	CHECK_EQ(count(&s.c, WIRE_BATCH), 5);
	close_stage(&s);
}

TEST(a_nack_brings_all_behind_its_mark_again_and_a_storm_of_them_only_once)
{
	static struct stage s;

	open_stage(&s, 1 << 20);
	append(&s, STREAM_EVENT, 20, 10);
	meet(&s);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 20);
	for (int i = 0; i < 15; i++)
		say_mark(&s, WIRE_NACK, STREAM_EVENT, 5);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 35);
	settle(&s);
	CHECK_EQ(count(&s.c, WIRE_BATCH), 35);
	CHECK_EQ(s.c.seen[s.c.n - 15].seq, 6);
	CHECK_EQ(uplink_stat(s.u).nacks, 15);
	CHECK_EQ(uplink_stat(s.u).rewinds, 1);
	clock_set_ns(1001 * SEC);
	say_mark(&s, WIRE_NACK, STREAM_EVENT, 5); /* the second try was lost as well */
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 50);
	close_stage(&s);
}

TEST(a_layout_that_is_asked_for_is_announced_before_its_batches_come_again)
{
	static struct stage s;

	open_stage(&s, 1 << 20);
	append(&s, STREAM_METRIC, 2, 10);
	meet(&s);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 2);
	say_need_dict(&s, dict[1].layout);
	say_need_dict(&s, dict[1].layout);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 4);
	settle(&s);
	CHECK_EQ(count(&s.c, WIRE_DICT), 1);
	CHECK_EQ(s.c.seen[3].layout, dict[1].layout);
	CHECK_EQ(s.c.seen[4].seq, 1);
	CHECK_EQ(count(&s.c, WIRE_BATCH), 4);
	say_need_dict(&s, 12345);
	UNTIL(&s, uplink_stat(s.u).ignored == 1);
	CHECK(uplink_up(s.u));
	close_stage(&s);
}

TEST(when_acks_stay_away_for_3_s_a_new_socket_says_hello_and_goes_on_behind_the_mark)
{
	static struct stage s;

	open_stage(&s, 1 << 20);
	append(&s, STREAM_EVENT, 4, 10);
	meet(&s);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 4);
	clock_set_ns(1002 * SEC);
	settle(&s);
	CHECK_EQ(s.c.peers, 1);
	clock_set_ns(1003 * SEC + 1);
	UNTIL(&s, s.c.hellos == 2);
	CHECK_EQ(s.c.peers, 2);
	CHECK(!uplink_up(s.u));
	say_welcome(&s, 3, 0); /* three of them had been stored, and only the acks were lost */
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 5);
	CHECK_EQ(s.c.seen[s.c.n - 1].seq, 4);
	say_mark(&s, WIRE_ACK, STREAM_EVENT, 4);
	UNTIL(&s, spool_batches(s.spool) == 0);
	close_stage(&s);
}

TEST(patience_doubles_while_it_is_in_vain_and_is_short_again_after_an_ack)
{
	static struct stage s;

	open_stage(&s, 1 << 20);
	append(&s, STREAM_EVENT, 1, 10);
	UNTIL(&s, s.c.hellos == 1);
	clock_set_ns(1003 * SEC);
	UNTIL(&s, s.c.hellos == 2);
	clock_set_ns(1008 * SEC);
	settle(&s);
	CHECK_EQ(s.c.hellos, 2);
	clock_set_ns(1009 * SEC);
	UNTIL(&s, s.c.hellos == 3);
	say_welcome(&s, 0, 0);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 1);
	say_mark(&s, WIRE_ACK, STREAM_EVENT, 1);
	UNTIL(&s, spool_batches(s.spool) == 0);
	append(&s, STREAM_EVENT, 1, 10);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 2);
	clock_set_ns(1012 * SEC);
	UNTIL(&s, s.c.hellos == 4);
	close_stage(&s);
}

TEST(a_quiet_probe_waits_for_no_ack)
{
	static struct stage s;

	open_stage(&s, 1 << 20);
	meet(&s);
	clock_set_ns(2000 * SEC);
	settle(&s);
	CHECK(uplink_up(s.u));
	CHECK_EQ(s.c.hellos, 1);
	append(&s, STREAM_EVENT, 1,
	       10); /* patience begins now, not when there was nothing to ack */
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 1);
	settle(&s);
	CHECK_EQ(s.c.hellos, 1);
	close_stage(&s);
}

TEST(a_collector_that_was_restarted_is_found_and_gets_what_it_has_not_stored)
{
	static struct stage s;
	uint32_t before;

	open_stage(&s, 1 << 20);
	append(&s, STREAM_EVENT, 5, 10);
	meet(&s);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 5);
	say_mark(&s, WIRE_ACK, STREAM_EVENT, 2);
	UNTIL(&s, spool_batches(s.spool) == 3);
	zmq_close(s.c.router);
	s.c.router = NULL;
	for (int i = 0; i < 400 && uplink_up(s.u); i++) {
		append(&s, STREAM_EVENT, 1, 10); /* a send finds that nobody is there */
		turn(&s);
		usleep(5000);
	}
	CHECK(!uplink_up(s.u));
	before = s.c.n;
	collector_bind(&s.c);
	UNTIL(&s, s.c.hellos == 2);
	say_welcome(&s, 2, 0);
	UNTIL(&s, s.c.n > before + 1);
	CHECK_EQ(s.c.seen[before + 1].seq, 3);
	CHECK_EQ(s.fresh, 0);
	close_stage(&s);
}

TEST(a_collector_that_knows_more_than_there_was_makes_the_probe_go_on_under_a_new_epoch)
{
	static struct stage s;
	uint64_t epoch;

	open_stage(&s, 1 << 20);
	append(&s, STREAM_EVENT, 2, 10);
	epoch = spool_epoch(s.spool);
	UNTIL(&s, s.c.hellos == 1);
	say_welcome(&s, 7, 0);
	UNTIL(&s, s.c.hellos == 2);
	CHECK(s.c.seen[s.c.n - 1].epoch != epoch);
	CHECK_EQ(s.c.seen[s.c.n - 1].epoch, spool_epoch(s.spool));
	say_welcome(&s, 0, 0);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 2);
	CHECK_EQ(s.c.seen[s.c.n - 1].seq, 2);
	say_mark(&s, WIRE_ACK, STREAM_EVENT, 99);
	UNTIL(&s, s.c.hellos == 3);
	close_stage(&s);
}

TEST(a_collector_that_has_forgotten_this_probe_is_told_about_its_sources_again)
{
	static struct stage s;

	open_stage(&s, 1 << 20);
	append(&s, STREAM_EVENT, 2, 10);
	meet(&s);
	CHECK_EQ(s.fresh, 0); /* what it does not know yet is still in the first batch */
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 2);
	say_mark(&s, WIRE_ACK, STREAM_EVENT, 2);
	UNTIL(&s, spool_batches(s.spool) == 0);
	say_welcome(&s, 0, 0);
	UNTIL(&s, s.fresh == 1);
	append(&s, STREAM_EVENT, 1, 10);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 3);
	CHECK_EQ(s.c.seen[s.c.n - 1].seq, 3);
	CHECK_EQ(s.c.seen[s.c.n - 1].base,
		 3); /* and so the collector knows what it will never get */
	close_stage(&s);
}

TEST(answers_for_another_node_or_epoch_are_ignored)
{
	static struct stage s;
	struct wire_welcome w = { .node_id = hash_node_id("n2") };
	struct wire_mark m = { .node_id = hash_node_id(NODE), .stream = STREAM_EVENT, .mark = 1 };

	open_stage(&s, 1 << 20);
	append(&s, STREAM_EVENT, 1, 10);
	UNTIL(&s, s.c.hellos == 1);
	w.epoch = spool_epoch(s.spool);
	wire_welcome_encode(&s.c.frame, &w);
	say(&s.c);
	UNTIL(&s, uplink_stat(s.u).ignored == 1);
	CHECK(!uplink_up(s.u));
	say_mark(&s, WIRE_ACK, STREAM_EVENT, 1); /* nobody has been greeted yet */
	UNTIL(&s, uplink_stat(s.u).ignored == 2);
	say_welcome(&s, 0, 0);
	UNTIL(&s, uplink_up(s.u));
	m.epoch = spool_epoch(s.spool) + 1;
	wire_mark_encode(&s.c.frame, WIRE_ACK, &m);
	say(&s.c);
	UNTIL(&s, uplink_stat(s.u).ignored == 3);
	CHECK_EQ(spool_batches(s.spool), 1);
	close_stage(&s);
}

TEST(what_is_no_answer_does_no_harm)
{
	static const char *const junk[] = { "", "\x01", "\x96\x01\x06", "\xdd\x10",
					    "GET / HTTP/1.1" };
	static struct stage s;

	open_stage(&s, 1 << 20);
	append(&s, STREAM_EVENT, 1, 10);
	meet(&s);
	for (size_t i = 0; i < ARRAY_SIZE(junk); i++) {
		zmq_send(s.c.router, s.c.peer, s.c.peer_len, ZMQ_SNDMORE);
		zmq_send(s.c.router, junk[i], strlen(junk[i]), 0);
	}
	UNTIL(&s, uplink_stat(s.u).ignored == ARRAY_SIZE(junk));
	wire_mark_encode(
		&s.c.frame, WIRE_ACK,
		&(struct wire_mark){ hash_node_id(NODE), spool_epoch(s.spool), STREAM_EVENT, 1 });
	zmq_send(s.c.router, s.c.peer, s.c.peer_len, ZMQ_SNDMORE);
	zmq_send(s.c.router, s.c.frame.data, s.c.frame.len, ZMQ_SNDMORE);
	zmq_send(s.c.router, s.c.frame.data, s.c.frame.len, 0); /* an answer has one frame */
	UNTIL(&s, uplink_stat(s.u).ignored == ARRAY_SIZE(junk) + 2);
	CHECK_EQ(spool_batches(s.spool), 1);
	CHECK(uplink_up(s.u));
	close_stage(&s);
}

/* How often what is logged between two calls says so. */
static int told(const char *what)
{
	static FILE *file;
	static int err = -1;
	char line[512];
	int n = 0;

	if (!what) {
		file = tmpfile();
		err = dup(STDERR_FILENO);
		dup2(fileno(file), STDERR_FILENO);
		return 0;
	}
	dup2(err, STDERR_FILENO);
	close(err);
	rewind(file);
	while (fgets(line, sizeof(line), file))
		n += strstr(line, what) != NULL;
	fclose(file);
	return n;
}

TEST(a_collector_that_greets_and_does_not_store_is_not_called_back)
{
	static struct stage s;

	open_stage(&s, 1 << 20);
	append(&s, STREAM_EVENT, 1, 10);
	meet(&s);
	UNTIL(&s, count(&s.c, WIRE_BATCH) == 1);
	told(NULL);
	for (uint32_t i = 2; i < 6; i++) {
		clock_set_ns((1000 + 40 * i) * SEC);
		UNTIL(&s, s.c.hellos == i);
		say_welcome(&s, 0, 0);
		UNTIL(&s, count(&s.c, WIRE_BATCH) == i);
	}
	CHECK_EQ(told("is back"), 0);
	told(NULL);
	say_mark(&s, WIRE_ACK, STREAM_EVENT, 1);
	UNTIL(&s, spool_batches(s.spool) == 0);
	CHECK_EQ(told("is back"), 1);
	close_stage(&s);
}

static uint64_t rnd(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The contiguous rule, over a collector that loses batches, acks and itself. */
static void store(struct stage *s, uint64_t mark[STREAM_END], uint32_t *from, uint64_t *seed)
{
	for (; *from < s->c.n; ++*from) {
		const struct seen *e = &s->c.seen[*from];

		if (e->type == WIRE_HELLO) {
			say_welcome(s, mark[STREAM_EVENT], mark[STREAM_METRIC]);
			continue;
		}
		if (rnd(seed) % 4 == 0)
			continue; /* lost on its way */
		if (e->seq == mark[e->stream] + 1)
			mark[e->stream]++;
		else if (e->seq > mark[e->stream])
			say_mark(s, WIRE_NACK, e->stream, mark[e->stream]);
		if (rnd(seed) % 3)
			say_mark(s, WIRE_ACK, e->stream, mark[e->stream]);
	}
	if (s->c.n > MAX_SEEN / 2)
		s->c.n = *from = 0;
}

TEST(everything_arrives_however_much_is_lost)
{
	static struct stage s;
	uint64_t mark[STREAM_END] = { 0 }, seed = 42, now = 1000 * SEC;
	uint32_t from = 0;

	open_stage(&s, 8 << 20);
	append(&s, STREAM_EVENT, 150, 100);
	append(&s, STREAM_METRIC, 150, 100);
	for (int i = 0; i < 4000 && spool_batches(s.spool); i++) {
		now += SEC / 20;
		clock_set_ns(now);
		turn(&s);
		store(&s, mark, &from, &seed);
		usleep(1000);
	}
	CHECK_EQ(mark[STREAM_EVENT], 150);
	CHECK_EQ(mark[STREAM_METRIC], 150);
	CHECK_EQ(spool_batches(s.spool), 0);
	CHECK(uplink_stat(s.u).rewinds > 0);
	close_stage(&s);
}
