// SPDX-License-Identifier: Apache-2.0
/*
 * fakecollector.c - a collector of one probe without a database: what it takes it prints, a line
 *each, fields parted by tabs.
 *
 *	fakecollector URL KEYS
 *
 * Its key is in the directory KEYS, the public one in KEYS/collector.pub; every node comes in. KEYS
 * "-" is a collector of before version 0.2, which has none.
 *
 * hello NODE VERSION; source NAME STATE WHY; sample KIND ENTITY NAME=VALUE...; unread APP KIND
 *COUNT; red APP ROUTE PEER ROLE CLASS COUNT; request START_NS APP REMOTE LOCAL METHOD PATH STATUS
 *REQUEST_US REASON FLAGS TRIES, where a try is
 *ADDR;LOCAL_PORT;START_US;CONNECT_US;RESPONSE_US;STATUS;FLAGS. It keeps the delivery rule of
 *docs/reference/wire.md: nothing is printed twice, a hole is printed as "gap".
 */
#include <inttypes.h>
#include <stdio.h>
#include <zmq.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/uplink/keys.h"
#include "lib/wire/reason.h"
#include "lib/base/text.h"
#include "lib/wire/wire.h"

enum { MAX_DICTS = 64, MAX_PEER = 64, BODY_LIMIT = 64 << 20, DICT_LIMIT = 1 << 20 };

struct fake {
	void *zmq, *sock;
	char peer[MAX_PEER];
	int peer_len;
	uint64_t node_id, epoch, mark[STREAM_END];
	struct arena *dict_arena, *arena;
	struct wire_dict dicts[MAX_DICTS];
	size_t ndicts;
	struct buf frame;
};

static const char *clean(struct fake *f, const char *s)
{
	return text_clean(f->arena, s, strlen(s));
}

static void answer(struct fake *f)
{
	zmq_send(f->sock, f->peer, (size_t)f->peer_len, ZMQ_SNDMORE);
	zmq_send(f->sock, f->frame.data, f->frame.len, 0);
}

static void answer_mark(struct fake *f, enum wire_type type, uint8_t stream)
{
	wire_mark_encode(&f->frame, type,
			 &(struct wire_mark){ .node_id = f->node_id,
					      .epoch = f->epoch,
					      .stream = stream,
					      .mark = f->mark[stream] });
	answer(f);
}

static void on_hello(struct fake *f, const void *data, size_t len)
{
	struct wire_welcome w = { .wall_ns = clock_wall_ns() };
	struct wire_hello h;

	if (wire_hello_decode(f->arena, data, len, &h) < 0) {
		puts("bad\thello");
		return;
	}
	if (h.epoch != f->epoch) {
		memset(f->mark, 0, sizeof(f->mark));
		printf("hello\t%s\t%s\n", clean(f, h.node), clean(f, h.version));
	}
	f->node_id = w.node_id = hash_node_id(h.node);
	f->epoch = w.epoch = h.epoch;
	memcpy(w.mark, f->mark, sizeof(w.mark));
	wire_welcome_encode(&f->frame, &w);
	answer(f);
}

static const struct wire_dict *dict_of(const struct fake *f, uint64_t layout)
{
	for (size_t i = 0; i < f->ndicts; i++)
		if (f->dicts[i].layout == layout)
			return &f->dicts[i];
	return NULL;
}

static void on_dict(struct fake *f, const void *data, size_t len)
{
	struct wire_dict d;

	if (wire_dict_decode(f->dict_arena, data, len, &d) < 0)
		puts("bad\tdict");
	else if (!dict_of(f, d.layout) && f->ndicts < MAX_DICTS)
		f->dicts[f->ndicts++] = d;
}

static void print_try(const struct up_item *u)
{
	char addr[ADDR_TEXT];

	printf("%s;%u;%" PRIu64 ";%" PRIu64 ";%" PRIu64 ";%u;%u ", addr_text(&u->addr, addr),
	       u->local_port, u->start_us, u->connect_us, u->response_us, u->status, u->flags);
}

static void print_request(struct fake *f, const struct request_item *q)
{
	const struct reason *reason = reason_find(q->reason);
	char remote[ADDR_TEXT], local[ADDR_TEXT];

	printf("request\t%" PRIu64 "\t%s\t%s\t%s\t%s\t%s\t%u\t%" PRIu64 "\t%s\t%u\t", q->start_ns,
	       clean(f, q->app), addr_text(&q->remote, remote), addr_text(&q->local, local),
	       clean(f, q->method), clean(f, q->path), q->status, q->request_us,
	       reason ? reason->code : "?", q->flags);
	for (uint32_t i = 0; i < q->nups; i++)
		print_try(&q->ups[i]);
	putchar('\n');
}

static void print_sample(struct fake *f, const struct sample_item *s)
{
	const struct wire_dict *d = dict_of(f, s->layout);

	printf("sample\t%s\t%s\t", clean(f, d->entity_kind), clean(f, s->entity));
	for (uint32_t i = 0; i < s->n && i < d->n; i++)
		printf("%s=%.10g ", clean(f, d->metrics[i].name), s->v[i]);
	putchar('\n');
}

static void print_body(struct fake *f, const struct wire_body *b)
{
	static const char *const states[] = { "off", "attached", "throttled" };

	for (uint32_t i = 0; i < b->nsources; i++)
		printf("source\t%s\t%s\t%s\n", clean(f, b->sources[i].name),
		       b->sources[i].state < ARRAY_SIZE(states) ? states[b->sources[i].state] : "?",
		       clean(f, b->sources[i].why));
	for (uint32_t i = 0; i < b->nsamples; i++)
		print_sample(f, &b->samples[i]);
	for (uint32_t i = 0; i < b->nunreads; i++)
		printf("unread\t%s\t%s\t%" PRIu64 "\n", clean(f, b->unreads[i].app),
		       clean(f, b->unreads[i].kind), b->unreads[i].count);
	for (uint32_t i = 0; i < b->nreds; i++)
		printf("red\t%s\t%s\t%s\t%u\t%u\t%" PRIu64 "\n", clean(f, b->reds[i].app),
		       clean(f, b->reds[i].route), clean(f, b->reds[i].peer), b->reds[i].role,
		       b->reds[i].status_class, b->reds[i].count);
	for (uint32_t i = 0; i < b->nrequests; i++)
		print_request(f, &b->requests[i]);
}

/* All layouts of the body are known; one that is not is asked for. */
static bool can_be_read(struct fake *f, const struct wire_body *b)
{
	for (uint32_t i = 0; i < b->nsamples; i++)
		if (!dict_of(f, b->samples[i].layout)) {
			wire_need_dict_encode(&f->frame,
					      &(struct wire_need_dict){ b->samples[i].layout });
			answer(f);
			return false;
		}
	return true;
}

static void on_batch(struct fake *f, const void *data, size_t len, const void *body,
		     size_t body_len)
{
	struct wire_batch_head h;
	struct wire_body b;

	if (wire_batch_head_decode(data, len, &h) < 0 ||
	    wire_body_decode(f->arena, body, body_len, &b) < 0) {
		puts("bad\tbatch");
		return;
	}
	if (h.epoch != f->epoch || h.node_id != f->node_id)
		return;
	if (h.seq > f->mark[h.stream]) {
		if (h.seq != f->mark[h.stream] + 1 && h.seq != h.base_seq) {
			answer_mark(f, WIRE_NACK, h.stream);
			return;
		}
		if (!can_be_read(f, &b))
			return;
		if (h.seq != f->mark[h.stream] + 1)
			printf("gap\t%u\t%" PRIu64 "\n", h.stream, h.seq - f->mark[h.stream] - 1);
		print_body(f, &b);
		f->mark[h.stream] = h.seq;
	}
	answer_mark(f, WIRE_ACK, h.stream);
}

static void on_message(struct fake *f, zmq_msg_t frame[static 2])
{
	const void *data = zmq_msg_data(&frame[0]);
	size_t len = zmq_msg_size(&frame[0]);
	enum wire_type type;

	if (wire_type_of(data, len, &type) < 0)
		puts("bad\tframe");
	else if (type == WIRE_HELLO)
		on_hello(f, data, len);
	else if (type == WIRE_DICT)
		on_dict(f, data, len);
	else if (type == WIRE_BATCH)
		on_batch(f, data, len, zmq_msg_data(&frame[1]), zmq_msg_size(&frame[1]));
	arena_reset(f->arena);
}

/* A message is two frames at most; what follows them is dropped. */
static bool receive(struct fake *f)
{
	zmq_msg_t frame[2], rest;
	bool more;

	f->peer_len = zmq_recv(f->sock, f->peer, sizeof(f->peer), 0);
	if (f->peer_len < 0)
		return errno == EINTR;
	for (int i = 0; i < 2; i++)
		zmq_msg_init(&frame[i]);
	zmq_msg_recv(&frame[0], f->sock, 0);
	more = zmq_msg_more(&frame[0]);
	if (more) {
		zmq_msg_recv(&frame[1], f->sock, 0);
		more = zmq_msg_more(&frame[1]);
	}
	while (more) {
		zmq_msg_init(&rest);
		zmq_msg_recv(&rest, f->sock, 0);
		more = zmq_msg_more(&rest);
		zmq_msg_close(&rest);
	}
	on_message(f, frame);
	for (int i = 0; i < 2; i++)
		zmq_msg_close(&frame[i]);
	return true;
}

static bool secure(struct fake *f, const char *dir)
{
	struct key_list public = { 0 };
	struct key_pair own;
	char path[KEYS_PATH], err[256] = "";
	int one = 1;
	bool made;

	if (strcmp(dir, "-") == 0)
		return true;
	snprintf(path, sizeof(path), "%s/collector.pub", dir);
	if (keys_open(dir, "collector.key", &own, &made, err, sizeof(err)) == 0) {
		keys_add(&public, own.public);
		if (keys_write(path, &public, "fakecollector", err, sizeof(err)) == 0)
			return zmq_setsockopt(f->sock, ZMQ_CURVE_SERVER, &one, sizeof(one)) == 0 &&
			       zmq_setsockopt(f->sock, ZMQ_CURVE_SECRETKEY, own.secret, KEY_TEXT) ==
				       0;
	}
	fprintf(stderr, "fakecollector: %s\n", err);
	return false;
}

int main(int argc, char *argv[])
{
	struct fake f = { .zmq = zmq_ctx_new() };

	if (argc != 3) {
		fputs("usage: fakecollector URL KEYS\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	f.arena = arena_new(BODY_LIMIT);
	f.dict_arena = arena_new(DICT_LIMIT);
	f.sock = zmq_socket(f.zmq, ZMQ_ROUTER);
	if (!f.sock || !secure(&f, argv[2]) || zmq_bind(f.sock, argv[1]) < 0) {
		perror("fakecollector");
		return 1;
	}
	while (receive(&f))
		;
	zmq_close(f.sock);
	zmq_ctx_term(f.zmq);
	arena_free(f.arena);
	arena_free(f.dict_arena);
	buf_free(&f.frame);
	return 1;
}
