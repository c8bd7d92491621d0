// SPDX-License-Identifier: Apache-2.0
/* fleet_node.h - one node of fleet.c: its connection, and what it says and hears there. */
#pragma once

#include <sys/epoll.h>
#include <zmq.h>

#include "lib/base/clock.h"
#include "lib/wire/wire.h"
#include "tests/tools/fake_keys.h"
#include "tests/tools/fleet_bodies.h"
#include "tests/tools/fleet_calls.h"
#include "tests/tools/fleet_lags.h"

#define MS 1000000ull

enum { WINDOW = 64 };

/* Of uplink_state.h: how long a probe waits for an answer before it opens a new connection. */
static const uint64_t PATIENCE_NS = 3000 * MS, PATIENCE_MAX_NS = 24000 * MS, SETTLE_NS = 200 * MS;

enum state { CLOSED, CONNECTING, GREETED, UP };

struct flow { /* one stream of a node */
	uint64_t made, next, acked; /* seq */
	uint64_t progress_ns, nack_ns;
};

struct node {
	void *sock;
	struct key_pair key;
	char name[24];
	uint64_t id, open_ns; /* when a closed one opens */
	struct flow flow[STREAM_END]; /* by its number */
	uint64_t since_ns, patience_ns, dict_until_ns;
	enum state state;
};

struct fleet {
	uint64_t first, nodes, seconds, interval, storm, spread, entities, metrics, batches;
	uint64_t events; /* a second, of all nodes here */
	uint64_t settle; /* seconds */
	struct fleet_calls calls; /* edges 0: there are none, and no events */
	const char *url;
	char collector[KEY_TEXT], token[64];
	void *zmq;
	int poll_fd;
	struct node *node;
	uint64_t epoch, start_ns, wall_ns, storm_ns, welcome_ns;
	uint64_t ticks, events_made; /* of all nodes: batches of metrics, and of events */
	uint64_t up, opened, hellos, sent, acked, acked_ticks, rewinds, refused;
	struct fleet_bodies bodies;
	struct fleet_lags lags, event_lags, begin_lags;
	struct buf frame, body;
};

static void set(void *sock, int option, int v)
{
	if (zmq_setsockopt(sock, option, &v, sizeof(v)) < 0)
		abort();
}

/* As lib/uplink/dealer.c does. */
static void open_node(struct fleet *f, struct node *n)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = n };
	size_t size = sizeof(int);
	int fd;

	n->sock = zmq_socket(f->zmq, ZMQ_DEALER);
	if (!n->sock) {
		perror("fleet: a socket");
		exit(1);
	}
	set(n->sock, ZMQ_LINGER, 0);
	set(n->sock, ZMQ_IMMEDIATE, 1);
	set(n->sock, ZMQ_CONNECT_TIMEOUT, 5000);
	set(n->sock, ZMQ_HEARTBEAT_IVL, 10000);
	set(n->sock, ZMQ_HEARTBEAT_TIMEOUT, 30000);
	set(n->sock, ZMQ_HEARTBEAT_TTL, 60000);
	set(n->sock, ZMQ_RECONNECT_IVL, 1000 + rand() % 4000);
	set(n->sock, ZMQ_RECONNECT_IVL_MAX, 20000);
	zmq_setsockopt(n->sock, ZMQ_CURVE_SERVERKEY, f->collector, KEY_TEXT);
	zmq_setsockopt(n->sock, ZMQ_CURVE_PUBLICKEY, n->key.public, KEY_TEXT);
	zmq_setsockopt(n->sock, ZMQ_CURVE_SECRETKEY, n->key.secret, KEY_TEXT);
	if (zmq_connect(n->sock, f->url) < 0 || zmq_getsockopt(n->sock, ZMQ_FD, &fd, &size) < 0 ||
	    epoll_ctl(f->poll_fd, EPOLL_CTL_ADD, fd, &e) < 0)
		abort();
	n->state = CONNECTING;
	f->opened++;
}

static void close_node(struct fleet *f, struct node *n, uint64_t open_ns)
{
	size_t size = sizeof(int);
	int fd;

	if (n->sock) {
		zmq_getsockopt(n->sock, ZMQ_FD, &fd, &size);
		epoll_ctl(f->poll_fd, EPOLL_CTL_DEL, fd, NULL);
		zmq_close(n->sock);
	}
	f->up -= n->state == UP;
	n->sock = NULL;
	n->state = CLOSED;
	n->open_ns = open_ns;
}

static bool put(struct node *n, const struct buf *b, int more)
{
	return zmq_send(n->sock, b->data, b->len, ZMQ_DONTWAIT | more) >= 0;
}

static void say_hello(struct fleet *f, struct node *n)
{
	wire_hello_encode(&f->frame, &(struct wire_hello){ .node = n->name,
							   .epoch = f->epoch,
							   .machine = n->name,
							   .version = "fleet",
							   .token = f->token,
							   .wall_ns = clock_wall_ns() });
	if (!put(n, &f->frame, 0))
		return;
	f->hellos++;
	n->state = GREETED;
	n->since_ns = clock_mono_ns();
}

static uint64_t number_of(const struct fleet *f, const struct node *n)
{
	return (uint64_t)(n - f->node);
}

/*
 * Ticks are spread over the interval; of events the first of each node is where it is, and is due
 * at once.
 */
static uint64_t due_ns(const struct fleet *f, const struct node *n, uint8_t stream, uint64_t seq)
{
	if (f->batches || (stream == STREAM_EVENT && seq == 1))
		return f->start_ns;
	if (stream == STREAM_EVENT)
		return f->start_ns +
		       ((seq - 2) * f->nodes + number_of(f, n)) * 1000 * MS / f->events;
	return f->start_ns + (seq - 1) * f->interval * MS +
	       number_of(f, n) * f->interval * MS / f->nodes;
}

/*
 * Batches that are made at once lie behind us, but within the last hour, however many they are:
 * what is older than the hours that a collector expects is stored in another way.
 */
static uint64_t tick_ns(const struct fleet *f, const struct node *n, uint8_t stream, uint64_t seq)
{
	if (f->batches)
		return f->wall_ns - (f->batches - seq) * (3600 * 1000 * MS / f->batches);
	return f->wall_ns + (due_ns(f, n, stream, seq) - f->start_ns);
}

/* What the nodes do not share is made anew each time. */
static void send_body(struct fleet *f, struct node *n, uint8_t stream, uint64_t seq)
{
	const struct buf *samples = &f->bodies.body[(seq + n->id) % FLEET_BODIES];
	uint64_t node = f->first + number_of(f, n);
	zmq_msg_t m;

	buf_reset(&f->body);
	if (stream == STREAM_EVENT && seq == 1)
		calls_put_places(&f->body, node);
	else if (stream == STREAM_EVENT)
		calls_put_event(&f->calls, &f->body, node, seq, tick_ns(f, n, stream, seq));
	else if (f->calls.edges)
		calls_put_counts(&f->calls, &f->body, node, seq);
	if (stream == STREAM_METRIC && !f->body.len) {
		zmq_msg_init_data(&m, samples->data, samples->len, NULL, NULL);
	} else {
		size_t before = stream == STREAM_METRIC ? samples->len : 0;

		if (zmq_msg_init_size(&m, before + f->body.len) < 0)
			abort();
		memcpy(zmq_msg_data(&m), samples->data, before);
		memcpy((char *)zmq_msg_data(&m) + before, f->body.data, f->body.len);
	}
	if (zmq_msg_send(&m, n->sock, ZMQ_DONTWAIT) < 0)
		abort();
}

static void send_some(struct fleet *f, struct node *n, uint8_t stream)
{
	struct flow *w = &n->flow[stream];

	while (w->next <= w->made && w->next <= w->acked + WINDOW) {
		wire_batch_head_encode(
			&f->frame,
			&(struct wire_batch_head){ .node_id = n->id,
						   .epoch = f->epoch,
						   .stream = stream,
						   .seq = w->next,
						   .base_seq = w->acked + 1,
						   .wall_ns = tick_ns(f, n, stream, w->next) });
		if (!put(n, &f->frame, ZMQ_SNDMORE))
			return;
		send_body(f, n, stream, w->next);
		if (w->next == w->acked + 1)
			w->progress_ns = clock_mono_ns();
		w->next++;
		f->sent++;
	}
}

/* When all nodes are new, what they have is, too: that is reported apart. */
static void note_lag(struct fleet *f, uint8_t stream, uint64_t now, uint64_t due)
{
	struct fleet_lags *lags = stream == STREAM_EVENT ? &f->event_lags : &f->lags;

	if (due < f->start_ns + f->settle * 1000 * MS)
		lags = &f->begin_lags;
	fleet_note_lag(lags, now, due);
}

static void on_mark(struct fleet *f, struct node *n, uint8_t stream, uint64_t mark, bool nack)
{
	struct flow *w = &n->flow[stream];
	uint64_t now = clock_mono_ns();

	while (w->acked < mark) {
		w->acked++;
		note_lag(f, stream, now, due_ns(f, n, stream, w->acked));
		f->acked++;
		f->acked_ticks += stream == STREAM_METRIC;
		w->progress_ns = now;
		n->patience_ns = PATIENCE_NS;
	}
	if (w->next <= w->acked)
		w->next = w->acked + 1;
	if (nack && now - w->nack_ns > SETTLE_NS) {
		w->nack_ns = now;
		w->next = w->acked + 1;
		f->rewinds++;
	}
}

static void on_welcome(struct fleet *f, struct node *n, const struct wire_welcome *w)
{
	n->state = UP;
	f->up++;
	f->welcome_ns = clock_mono_ns();
	for (uint8_t stream = STREAM_EVENT; stream < STREAM_END; stream++) {
		n->flow[stream].progress_ns = f->welcome_ns;
		on_mark(f, n, stream, w->mark[stream], false);
		n->flow[stream].next = n->flow[stream].acked + 1;
	}
}

/* One missing layout makes many questions: the first is answered. */
static void send_dict(struct fleet *f, struct node *n)
{
	uint64_t now = clock_mono_ns();

	if (now < n->dict_until_ns)
		return;
	n->dict_until_ns = now + SETTLE_NS;
	wire_dict_encode(&f->frame, &f->bodies.dict);
	put(n, &f->frame, 0);
	n->flow[STREAM_METRIC].next = n->flow[STREAM_METRIC].acked + 1;
}

static void on_answer(struct fleet *f, struct node *n, const void *data, size_t len)
{
	struct wire_welcome w;
	struct wire_mark m;
	enum wire_type type;

	if (wire_type_of(data, len, &type) < 0)
		abort();
	if (type == WIRE_WELCOME && wire_welcome_decode(data, len, &w) == 0 &&
	    n->state == GREETED) {
		on_welcome(f, n, &w);
	} else if (type == WIRE_NEED_DICT) {
		send_dict(f, n);
	} else if (type == WIRE_REFUSED) {
		f->refused++;
	} else if (n->state == UP && wire_mark_decode(data, len, &m) == 0 && m.epoch == f->epoch &&
		   m.stream < STREAM_END) {
		on_mark(f, n, m.stream, m.mark, type == WIRE_NACK);
	}
}

static int events_of(struct node *n)
{
	size_t size = sizeof(int);
	int events;

	return zmq_getsockopt(n->sock, ZMQ_EVENTS, &events, &size) < 0 ? 0 : events;
}

static void send_both(struct fleet *f, struct node *n)
{
	send_some(f, n, STREAM_EVENT);
	send_some(f, n, STREAM_METRIC);
}

/* Until nothing is left: ZMQ_FD signals changes only, and a send may swallow one. */
static void serve(struct fleet *f, struct node *n)
{
	char data[4096];
	int len;

	do {
		while ((len = zmq_recv(n->sock, data, sizeof(data), ZMQ_DONTWAIT)) >= 0)
			on_answer(f, n, data, (size_t)len);
		if (n->state == CONNECTING && events_of(n) & ZMQ_POLLOUT)
			say_hello(f, n);
		if (n->state == UP)
			send_both(f, n);
	} while (events_of(n) & ZMQ_POLLIN);
}
