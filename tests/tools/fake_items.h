// SPDX-License-Identifier: Apache-2.0
/* fake_items.h - the requests and the evidence that fakeprobe.c sends. */
#pragma once

#include <arpa/inet.h>
#include <inttypes.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/wire/reason.h"
#include "lib/wire/wire.h"

#define MS 1000000ull

static struct request_item request_of(const char *app, const char *path, uint64_t wall_ns)
{
	const struct param p[2] = { { "addr", "10.0.0.1:80", 0 }, { "ms", NULL, 12.5 } };
	struct request_item q = {
		.start_ns = wall_ns, .app = app, .comm = "fake", .pid = 7, .tid = 8
	};

	q.remote = addr_make("\x7f\0\0\1", 4, 40000);
	q.local = addr_make("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16, 80);
	q.method = "GET";
	q.path = path;
	q.route = "/r/{n}";
	q.status = 500;
	q.request_us = 1500;
	q.reason = 1;
	q.nparams = 2;
	memcpy(q.params, p, sizeof(p));
	q.nups = 1;
	q.ups[0] = (struct up_item){ .addr = addr_make("\x0a\0\0\1", 4, 80),
				     .response_us = 900,
				     .status = 502,
				     .error = 111 };
	return q;
}

static void put_request(struct buf *body, const char *app, const char *path, uint64_t wall_ns)
{
	struct request_item q = request_of(app, path, wall_ns);

	wire_put_request(body, &q);
}

static UNUSED void put_whole(struct buf *body, const char *path, uint64_t queue_us)
{
	static const struct stack_item stack = { 77, 1, 2, { "do_fsync+0x1a", "f\n\xff" } };
	uint64_t now = clock_wall_ns();
	struct request_item q = request_of("whole", path, now);
	const struct evidence_item block = { now + MS, 900,	PART_IO,	 7,  8,
					     "fake",   "fsync", "/a\"b on vda1", "", 77 };
	struct event_item e = {
		.start_ns = now - MS, .us = 250000, .error_us = 100000, .kind = "io.slow"
	};

	q.queue_us = queue_us;
	q.normal_us = 100;
	q.nshares = 3;
	q.shares[0] = (struct share_item){ PART_OTHER, 600, 20 };
	q.shares[1] = (struct share_item){ PART_IO, 900, 0 };
	q.shares[2] = (struct share_item){ PART_QUEUE, 500, 1 };
	q.nchecks = 3;
	q.checks[0] = (struct check_item){ 7, NULL };
	q.checks[1] = (struct check_item){ 22, "no \"futex\"" };
	q.checks[2] = (struct check_item){ 999, "later" };
	q.nlosses = 1;
	q.losses[0] = (struct loss_item){ 1, LOSS_RTO, 2 };
	q.nevidence = 2;
	q.evidence[0] = q.evidence[1] = block;
	q.evidence[1].stack = 78; /* that nobody sent */
	e.severity = EVENT_WARNING;
	e.pid = 7;
	e.comm = "fake";
	e.reason = 27;
	e.nparams = 1;
	e.params[0] = (struct param){ "file", "/a", 0 };
	e.nevidence = 1;
	e.evidence[0] = block;
	wire_put_stack(body, &stack);
	wire_put_request(body, &q);
	wire_put_event(body, &e);
}

/* "goes-on-2-1760000000": the second report of the event that began in that second. */
static UNUSED void put_lasting(struct buf *body, const char *what)
{
	unsigned update;
	unsigned long began_s;

	if (sscanf(what + strlen("goes-on-"), "%u-%lu", &update, &began_s) != 2)
		abort();
	wire_put_event(body,
		       &(struct event_item){ .start_ns = began_s * 1000 * MS,
					     .us = clock_wall_ns() / 1000 - began_s * MS,
					     .kind = "fake.lasting",
					     .severity = EVENT_WARNING,
					     .comm = "fake",
					     .nevidence = 1,
					     .evidence = { { began_s * 1000 * MS, update, PART_IO,
							     7, 8, "fake", "fsync", "/a", "", 0 } },
					     .id = 4711,
					     .update = update,
					     .going_on = *what == 'g' });
}

static UNUSED struct addr fake_addr(const char *text, unsigned port)
{
	bool v6 = strchr(text, ':') != NULL;
	uint8_t ip[16];

	if (inet_pton(v6 ? AF_INET6 : AF_INET, text, ip) != 1)
		abort();
	return addr_make(ip, v6 ? 16 : 4, (uint16_t)port);
}

/* "nat@1/10.96.0.1/80/10.0.0.2/8000,": who calls the one reaches the other. */
static UNUSED void put_nat(struct buf *body, const char *what)
{
	struct nat_way ways[8];
	struct nat_item item = { .ways = ways };
	unsigned kind, port, real_port;
	char seen[64], real[64];
	int n = 0;

	for (const char *p = what + 4; *p; p += n) {
		if (sscanf(p, "%u/%63[^/]/%u/%63[^/]/%u,%n", &kind, seen, &port, real, &real_port,
			   &n) != 5)
			abort();
		ways[item.n++] = (struct nat_way){ (uint8_t)kind, fake_addr(seen, port),
						   fake_addr(real, real_port), 0 };
	}
	wire_put_nat(body, &item);
}

static UNUSED void put_rollup(struct buf *body)
{
	static const struct wire_metric metric = { "busy", "s", METRIC_COUNTER };

	wire_put_rollup(body, &(struct rollup_item){ .kind = "disk",
						     .nmetrics = 1,
						     .metrics = &metric,
						     .chunk = "",
						     .chunk_len = 0 });
}

/* "all@2/10.0.0.1/80/nginx/0,-1/10.0.0.2/0//0,": the second is no more. */
static UNUSED void put_places(struct buf *body, const char *what)
{
	struct place places[16];
	struct place_item item = { .whole = *what == 'a', .left_out = 3, .places = places };
	static char apps[16][32];
	unsigned kind, port;
	unsigned long long netns;
	char addr[64], *app;
	int n = 0;

	for (const char *p = strchr(what, '@') + 1; *p; p += n) {
		bool gone = *p == '-';

		app = apps[item.n];
		*app = 0;
		p += gone;
		if (sscanf(p, "%u/%63[^/]/%u/%n", &kind, addr, &port, &n) != 3)
			abort();
		p += n;
		sscanf(p, "%31[^/]", app);
		p += strlen(app);
		if (sscanf(p, "/%llu,%n", &netns, &n) != 1)
			abort();
		places[item.n++] =
			(struct place){ (uint8_t)kind, fake_addr(addr, port), app, netns, gone };
	}
	wire_put_place(body, &item);
}

static UNUSED void put_told(struct buf *body, const char *what)
{
	if (strncmp(what, "nat@", 4) == 0)
		put_nat(body, what);
	else if (strcmp(what, "rollup@") == 0)
		put_rollup(body);
	else
		put_places(body, what);
}

/* "clock@-5000000/500": 5 s ahead, and not more than 500 us from that. */
static UNUSED void put_clock(struct buf *body, const char *what)
{
	struct clock_item c = { .since_ns = clock_wall_ns() };

	if (sscanf(what, "clock@%" SCNd64 "/%" SCNu64, &c.offset_us, &c.uncertainty_us) != 2)
		abort();
	c.since_ns -= (uint64_t)c.offset_us * 1000; /* by its own clock */
	wire_put_clock(body, &c);
}

/* As a relay brings it, which this is not. */
static UNUSED void put_foreign(struct buf *body, const char *path)
{
	wire_put_origin(body, &(struct origin_item){ .node = hash_node_id("stolen"),
						     .epoch = 1,
						     .stream = STREAM_EVENT,
						     .seq = 1,
						     .name = "stolen",
						     .hops = 1,
						     .region = { "eu" } });
	put_request(body, "foreign", path, clock_wall_ns());
}

/* "slow@20/300/15": 20 requests of shop within a second, 15 s ago, of 300 ms each. */
static void put_slow(struct buf *body, const char *what)
{
	unsigned n, ms, ago;

	if (sscanf(what, "slow@%u/%u/%u", &n, &ms, &ago) != 3)
		abort();
	for (unsigned i = 0; i < n; i++) {
		struct request_item q = request_of(
			"shop", "/buy", clock_wall_ns() - ago * 1000 * MS + i * 1000 * MS / n);

		q.route = "/buy";
		q.status = 200;
		q.request_us = ms * 1000ull;
		q.normal_us = 10000;
		q.reason = R_IO_BLOCK;
		q.nups = 0;
		wire_put_request(body, &q);
	}
}

/* "counts@100/300/": of 100 requests of shop, 300 ms too slow each; with an address, of calls. */
static void put_counts(struct buf *body, const char *what)
{
	static const uint32_t slots[] = { 1 };
	struct red_item red = { .app = "shop",
				.route = "/buy",
				.peer = ":80",
				.status_class = 2,
				.lo = 14,
				.nb = 1,
				.b = slots };
	char addr[64] = "", peer[72];
	unsigned n, ms;

	if (sscanf(what, "counts@%u/%u/%63s", &n, &ms, addr) < 2)
		abort();
	red.count = red.judged = n;
	red.excess_us = (uint64_t)n * ms * 1000;
	red.sum_us = red.excess_us + n * 10000ull;
	snprintf(peer, sizeof(peer), "%s:80", addr);
	red.role = *addr ? RED_CLIENT : RED_SERVER;
	red.peer = peer;
	wire_put_red(body, &red);
}

static UNUSED void put_fault(struct buf *body, const char *what)
{
	if (*what == 's')
		put_slow(body, what);
	else
		put_counts(body, what);
}
