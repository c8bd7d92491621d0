// SPDX-License-Identifier: Apache-2.0
/*
 * fakeprobe.c - a scripted probe for tests of the collector.
 *
 *	fakeprobe URL deliver NODE EPOCH BATCHES PER_S [WINDOW [WHAT]]
 *		sends them all and prints what it took
 *	fakeprobe URL script
 *		commands from stdin, one answer line for each "want"
 *
 * Commands: node NAME EPOCH | hello | dict | new | send STREAM SEQ BASE WHAT | raw FRAMES BYTES |
 * head-only | want welcome M1 M2 | want ack S M | want nack S M | want dict | want refused WHY |
 * want nothing MS.
 * The key of a node follows from its name; COLLECTOR_PUB is a file with the collector's, TOKEN one
 * with what lets a node in. WHAT: request, sample, short, broken, dirty, future, red, served,
 *source, origin (of another node), rollup@ or NAME=PATH of a request; whole: a stack, a request
 *with all that is known of its time, and an event; uneven: one whose parts do not add up;
 *all@PLACES and change@PLACES, each
 *[-]KIND/ADDR/PORT/APP/NETNS with a comma behind it; nat@KIND/ADDR/PORT/ADDR/PORT,...;
 *clock@OFFSET/UNCERTAINTY in us; slow@N/MS/AGO: N requests of shop AGO seconds ago, each of MS;
 *counts@N/MS/ADDR: of N requests, or calls to ADDR:80, which were MS too slow.
 */
#include <stdio.h>
#include <sys/random.h>
#include <zmq.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "tests/tools/fake_items.h"
#include "tests/tools/fake_keys.h"

enum { WINDOW = 64, PATIENCE_MS = 1500 };

struct fake {
	void *zmq, *sock;
	const char *url;
	char node[64];
	char token[64];
	uint64_t epoch;
	struct buf frame, body;
	uint64_t window, sent, next, acked, rewinds, opened, nack_ns, progress_ns;
	bool up;
};

static const struct wire_metric metrics[] = { { "speed", "m/s", METRIC_GAUGE },
					      { "falls_total", "falls", METRIC_COUNTER } };

static struct wire_dict dict(void)
{
	struct wire_dict d = { .entity_kind = "fake",
			       .n = ARRAY_SIZE(metrics),
			       .metrics = metrics };

	d.layout = wire_layout_id(&d);
	return d;
}

static void set(void *sock, int option, int value)
{
	if (zmq_setsockopt(sock, option, &value, sizeof(value)) < 0)
		abort();
}

static void open_socket(struct fake *f)
{
	if (f->sock)
		zmq_close(f->sock);
	f->sock = zmq_socket(f->zmq, ZMQ_DEALER);
	if (!f->sock)
		abort();
	set(f->sock, ZMQ_LINGER, 0);
	set(f->sock, ZMQ_IMMEDIATE, 1);
	set(f->sock, ZMQ_IPV6, 1);
	set(f->sock, ZMQ_SNDTIMEO, 3000);
	set(f->sock, ZMQ_SNDHWM, 4 * WINDOW);
	set(f->sock, ZMQ_RECONNECT_IVL, 20);
	set(f->sock, ZMQ_RECONNECT_IVL_MAX, 200);
	fake_secure(f->sock, f->node);
	zmq_connect(f->sock, f->url);
	f->opened++;
	f->up = false;
}

static int send_frame(struct fake *f, const struct buf *b, int flags)
{
	return zmq_send(f->sock, b->data, b->len, flags) < 0 ? -errno : 0;
}

static int say_hello(struct fake *f, int flags)
{
	wire_hello_encode(&f->frame, &(struct wire_hello){ .node = f->node,
							   .epoch = f->epoch,
							   .machine = "0123",
							   .version = "fake",
							   .token = f->token,
							   .wall_ns = clock_wall_ns() });
	return send_frame(f, &f->frame, flags);
}

/* "keys@6000": the counts of 6,000 routes from that number on. */
static void put_keys(struct buf *body, const char *what)
{
	static const uint32_t slots[] = { 1 };
	char route[32];
	struct red_item red = { .app = "fake",
				.route = route,
				.peer = ":80",
				.status_class = 2,
				.count = 1,
				.sum_us = 5,
				.lo = 3,
				.nb = 1,
				.b = slots };
	int from = atoi(what + strlen("keys@"));

	for (int i = from; i < from + 6000; i++) {
		snprintf(route, sizeof(route), "/k/%d", i);
		wire_put_red(body, &red);
	}
}

/* What says more behind its name. */
static void put_said(struct buf *body, const char *what)
{
	if (strncmp(what, "keys@", 5) == 0)
		put_keys(body, what);
	else if (strncmp(what, "clock@", 6) == 0)
		put_clock(body, what);
	else if (strncmp(what, "slow@", 5) == 0 || strncmp(what, "counts@", 7) == 0)
		put_fault(body, what);
	else if (strchr(what, '@'))
		put_told(body, what);
	else
		put_lasting(body, what);
}

static void put_item(struct buf *body, const char *what, const char *path)
{
	static const double speed[] = { 1.5, 2 };
	static const uint32_t slots[] = { 1, 2 };
	static const struct red_item red = { .app = "fake",
					     .route = "/r/{n}",
					     .peer = ":80",
					     .status_class = 5,
					     .count = 3,
					     .sum_us = 900,
					     .lo = 4,
					     .nb = 2,
					     .b = slots };
	struct red_item served = red;
	struct wire_dict d = dict();
	const char *equals = strchr(what, '=');

	served.role = RED_SERVED;
	served.route = "";
	served.peer = "10.0.0.9";
	served.excess_us = 1000;
	served.judged = 2;
	if (equals)
		put_request(body, "named", equals + 1, clock_wall_ns());
	else if (strcmp(what, "request") == 0)
		put_request(body, "fake", path, clock_wall_ns());
	else if (strcmp(what, "whole") == 0 || strcmp(what, "uneven") == 0)
		put_whole(body, path, *what == 'w' ? 500 : 501);
	else if (strchr(what, '@') || strstr(what, "-on-") || strstr(what, "-over-"))
		put_said(body, what);
	else if (strcmp(what, "dirty") == 0)
		put_request(body, "fake", "/\xff\x01\"\\<script>\xe2\x80\xae", clock_wall_ns());
	else if (strcmp(what, "future") == 0)
		put_request(body, "future", path, clock_wall_ns() + 400ull * 86400 * 1000 * MS);
	else if (strcmp(what, "sample") == 0 || strcmp(what, "short") == 0)
		wire_put_sample(body, &(struct sample_item){ d.layout, "x0",
							     *what == 's' && what[1] == 'a' ? 2 : 1,
							     speed });
	else if (strcmp(what, "red") == 0 || strcmp(what, "served") == 0)
		wire_put_red(body, *what == 'r' ? &red : &served);
	else if (strcmp(what, "origin") == 0)
		put_foreign(body, path);
	else if (strcmp(what, "source") == 0)
		wire_put_source(body, &(struct source_item){ "request", SOURCE_OFF, "no BTF" });
	else if (strcmp(what, "broken") == 0)
		buf_put(body, "\xc1\xc1\xc1", 3);
	else
		abort();
}

static int send_batch(struct fake *f, uint8_t stream, uint64_t seq, uint64_t base, const char *what,
		      int flags)
{
	const struct wire_batch_head head = { .node_id = hash_node_id(f->node),
					      .epoch = f->epoch,
					      .stream = stream,
					      .seq = seq,
					      .base_seq = base,
					      .wall_ns = clock_wall_ns() };
	char path[32];
	int r;

	snprintf(path, sizeof(path), "/r/%llu", (unsigned long long)seq);
	buf_reset(&f->body);
	put_item(&f->body, what, path);
	wire_batch_head_encode(&f->frame, &head);
	r = send_frame(f, &f->frame, flags | ZMQ_SNDMORE);
	return r < 0 ? r : send_frame(f, &f->body, flags);
}

static void on_mark(struct fake *f, const struct wire_mark *m, bool nack)
{
	uint64_t now = clock_mono_ns();

	if (m->mark > f->acked) {
		f->acked = m->mark;
		f->progress_ns = now;
	}
	if (f->next <= f->acked)
		f->next = f->acked + 1;
	if (nack && now - f->nack_ns > 200 * MS) {
		f->nack_ns = now;
		f->next = f->acked + 1;
		f->rewinds++;
	}
}

static void on_answer(struct fake *f, const void *data, size_t len)
{
	struct wire_welcome w;
	struct wire_mark m;
	enum wire_type type;

	if (wire_type_of(data, len, &type) < 0)
		abort();
	if (type == WIRE_WELCOME && wire_welcome_decode(data, len, &w) == 0) {
		f->up = true;
		f->acked = w.mark[STREAM_EVENT];
		f->next = f->acked + 1;
		f->progress_ns = clock_mono_ns();
	} else if (wire_mark_decode(data, len, &m) == 0 && m.epoch == f->epoch) {
		on_mark(f, &m, type == WIRE_NACK);
	}
}

static void listen_for(struct fake *f, long ms)
{
	zmq_pollitem_t p = { .socket = f->sock, .events = ZMQ_POLLIN };
	char data[4096];
	int len;

	zmq_poll(&p, 1, ms);
	while ((len = zmq_recv(f->sock, data, sizeof(data), ZMQ_DONTWAIT)) >= 0)
		on_answer(f, data, (size_t)len);
}

/* As the real one: HELLO until WELCOME, a window, rewinds, and a new socket when acks stay away. */
static int deliver(struct fake *f, uint64_t batches, uint64_t per_s, const char *what)
{
	uint64_t hello_ns = 0, began_ns = clock_mono_ns();

	while (f->acked < batches) {
		uint64_t now = clock_mono_ns();
		uint64_t made = (now - began_ns) * per_s / (1000 * MS);

		if (made > batches)
			made = batches;
		if (!f->up && now - hello_ns > 300 * MS && say_hello(f, ZMQ_DONTWAIT) == 0)
			hello_ns = f->progress_ns = now;
		while (f->up && f->next <= made && f->next <= f->acked + f->window &&
		       send_batch(f, STREAM_EVENT, f->next, f->acked + 1, what, ZMQ_DONTWAIT) ==
			       0) {
			f->next++;
			f->sent++;
		}
		listen_for(f, 10);
		if (f->next == f->acked + 1)
			f->progress_ns = clock_mono_ns();
		if (f->up && clock_mono_ns() - f->progress_ns > PATIENCE_MS * MS)
			open_socket(f);
	}
	printf("sent %llu rewinds %llu sockets %llu\n", (unsigned long long)f->sent,
	       (unsigned long long)f->rewinds, (unsigned long long)f->opened);
	return 0;
}

static unsigned why_of(const void *data, size_t len)
{
	AUTO(arena_free) struct arena *a = arena_new(4096);
	struct wire_refused r;

	return wire_refused_decode(a, data, len, &r) == 0 ? r.why : 0;
}

static void describe(const struct fake *f, const void *data, size_t len, char out[static 96])
{
	struct wire_welcome w;
	struct wire_need_dict nd;
	struct wire_mark m;
	enum wire_type type;

	snprintf(out, 96, "garbage");
	if (wire_type_of(data, len, &type) < 0)
		return;
	if (type == WIRE_WELCOME && wire_welcome_decode(data, len, &w) == 0 && w.epoch == f->epoch)
		snprintf(out, 96, "welcome %llu %llu", (unsigned long long)w.mark[STREAM_EVENT],
			 (unsigned long long)w.mark[STREAM_METRIC]);
	else if (type == WIRE_NEED_DICT && wire_need_dict_decode(data, len, &nd) == 0)
		snprintf(out, 96, nd.layout == dict().layout ? "dict" : "another dict");
	else if (type == WIRE_REFUSED)
		snprintf(out, 96, "refused %u", why_of(data, len));
	else if (type == WIRE_KEYS)
		snprintf(out, 96, "keys");
	else if (wire_mark_decode(data, len, &m) == 0 && m.epoch == f->epoch)
		snprintf(out, 96, "%s %u %llu", type == WIRE_ACK ? "ack" : "nack", m.stream,
			 (unsigned long long)m.mark);
}

/* Waits for just this answer; others may come before, but what is "nothing" may not. */
static void want(struct fake *f, const char *what)
{
	bool nothing = strncmp(what, "nothing", 7) == 0;
	uint64_t until = clock_mono_ns() + (nothing ? strtoull(what + 7, NULL, 10) : 8000) * MS;
	char got[96], all[400] = "";
	char data[4096];

	while (clock_mono_ns() < until) {
		zmq_pollitem_t p = { .socket = f->sock, .events = ZMQ_POLLIN };
		int len;

		zmq_poll(&p, 1, 10);
		len = zmq_recv(f->sock, data, sizeof(data), ZMQ_DONTWAIT);
		if (len < 0)
			continue;
		describe(f, data, (size_t)len, got);
		if (strcmp(got, what) == 0) {
			printf("yes %s\n", what);
			return;
		}
		snprintf(all + strlen(all), sizeof(all) - strlen(all), " [%s]", got);
	}
	printf("%s %s%s%s\n", nothing && !*all ? "yes" : "NO", what, *all ? ", but" : "", all);
}

static void send_raw(struct fake *f, unsigned frames, size_t bytes)
{
	unsigned char *junk = malloc(bytes);

	for (size_t i = 0; junk && i < bytes; i += 256)
		if (getrandom(junk + i, bytes - i < 256 ? bytes - i : 256, 0) < 0)
			abort();
	for (unsigned i = 0; i < frames; i++)
		zmq_send(f->sock, junk, bytes, i + 1 < frames ? ZMQ_SNDMORE : 0);
	free(junk);
}

static void head_only(struct fake *f)
{
	wire_batch_head_encode(&f->frame,
			       &(struct wire_batch_head){ .node_id = hash_node_id(f->node),
							  .epoch = f->epoch,
							  .stream = 1,
							  .seq = 1,
							  .base_seq = 1,
							  .wall_ns = clock_wall_ns() });
	send_frame(f, &f->frame, 0);
}

static void obey(struct fake *f, char *line)
{
	unsigned long long a, b, c;
	char what[256], name[64];
	struct wire_dict d = dict();

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "node %63s %llu", name, &a) == 2) {
		bool other = strcmp(f->node, name) != 0;

		snprintf(f->node, sizeof(f->node), "%s", name);
		f->epoch = a;
		if (other)
			open_socket(f);
	} else if (strcmp(line, "hello") == 0) {
		say_hello(f, 0);
	} else if (strcmp(line, "dict") == 0) {
		wire_dict_encode(&f->frame, &d);
		send_frame(f, &f->frame, 0);
	} else if (strcmp(line, "new") == 0) {
		open_socket(f);
	} else if (strcmp(line, "head-only") == 0) {
		head_only(f);
	} else if (sscanf(line, "send %llu %llu %llu %255s", &a, &b, &c, what) == 4) {
		send_batch(f, (uint8_t)a, b, c, what, 0);
	} else if (sscanf(line, "raw %llu %llu", &a, &b) == 2) {
		send_raw(f, (unsigned)a, b);
	} else if (strncmp(line, "want ", 5) == 0) {
		want(f, line + 5);
	} else if (*line) {
		printf("NO such command: %s\n", line);
	}
}

int main(int argc, char *argv[])
{
	struct fake f = { .zmq = zmq_ctx_new() };
	char line[320];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3)
		return 2;
	f.url = argv[1];
	fake_token(f.token);
	snprintf(f.node, sizeof(f.node), "%s", argc > 3 ? argv[3] : "nobody");
	open_socket(&f);
	if (strcmp(argv[2], "deliver") == 0 && argc >= 7) {
		f.epoch = strtoull(argv[4], NULL, 10);
		f.window = argc > 7 ? strtoull(argv[7], NULL, 10) : WINDOW;
		deliver(&f, strtoull(argv[5], NULL, 10), strtoull(argv[6], NULL, 10),
			argc > 8 ? argv[8] : "request");
	} else {
		while (fgets(line, sizeof(line), stdin))
			obey(&f, line);
	}
	zmq_close(f.sock);
	zmq_ctx_term(f.zmq);
	buf_free(&f.frame);
	buf_free(&f.body);
	return 0;
}
