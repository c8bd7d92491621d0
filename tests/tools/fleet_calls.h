// SPDX-License-Identifier: Apache-2.0
/*
 * fleet_calls.h - who calls whom among the nodes of fleet.c, of all its processes, and what a node
 * sends it. What one sequence number carries is the same however often it is sent.
 *
 * Each node has two applications of five hundred, at ports 8000 and 8001, which call those of other
 * nodes, each other edge one of them: as in tests/bench/fleet.sql.
 */
#pragma once

#include <stdio.h>

#include "lib/wire/wire.h"

enum { CALLS_APPS = 500, CALLS_PORT = 8000, CALLS_EACH = 1000 /* requests of a server's tick */ };

struct fleet_calls {
	uint64_t nodes, edges, counts; /* of all; of each; edges that a node reports in a tick */
};

static void calls_app(uint64_t node, uint64_t which, char out[static 16])
{
	snprintf(out, 16, "app-%u", (unsigned)((node + which * 37) % CALLS_APPS));
}

static struct addr calls_addr(uint64_t node, unsigned port)
{
	uint64_t at = node + 1;
	const uint8_t ip[4] = { 10, (uint8_t)(at >> 16), (uint8_t)(at >> 8), (uint8_t)at };

	return addr_make(ip, sizeof(ip), (uint16_t)port);
}

static struct addr calls_peer(const struct fleet_calls *c, uint64_t node, uint64_t edge)
{
	return calls_addr((node * 7919 + edge * 104729) % c->nodes,
			  CALLS_PORT + (unsigned)(node + edge) % 2);
}

static void put_count(struct buf *body, uint8_t role, const char *app, const char *peer,
		      uint32_t count)
{
	const uint32_t slots[] = { count / 2, count - count / 2 };

	wire_put_red(body, &(struct red_item){ .app = app,
					       .route = "/r",
					       .peer = peer,
					       .role = role,
					       .status_class = 2,
					       .count = count,
					       .sum_us = count * 3000ull,
					       .lo = 11,
					       .nb = 2,
					       .b = slots });
}

/* What its servers answered, and the calls on some of its edges, in turn. */
static void calls_put_counts(const struct fleet_calls *c, struct buf *body, uint64_t node,
			     uint64_t seq)
{
	char app[16], peer[ADDR_TEXT];

	for (unsigned which = 0; which < 2; which++) {
		calls_app(node, which, app);
		snprintf(peer, sizeof(peer), ":%u", CALLS_PORT + which);
		put_count(body, RED_SERVER, app, peer, CALLS_EACH);
	}
	for (uint64_t i = 0; i < c->counts; i++) {
		uint64_t edge = (seq * c->counts + i) % c->edges;
		struct addr to = calls_peer(c, node, edge);

		calls_app(node, edge % 2, app);
		put_count(body, RED_CLIENT, app, addr_text(&to, peer),
			  1 + (uint32_t)(seq + edge) % 90);
	}
}

/* Where it is, and who listens there. */
static void calls_put_places(struct buf *body, uint64_t node)
{
	char app[2][16];
	struct place places[3] = { { .kind = PLACE_ADDRESS, .app = "" } };

	places[0].addr = calls_addr(node, 0);
	for (unsigned which = 0; which < 2; which++) {
		calls_app(node, which, app[which]);
		places[1 + which] =
			(struct place){ .kind = PLACE_LISTENER,
					.addr = addr_make("\0\0\0\0", 4,
							  (uint16_t)(CALLS_PORT + which)),
					.app = app[which] };
	}
	wire_put_place(body, &(struct place_item){ .whole = true, .n = 3, .places = places });
	wire_put_source(body, &(struct source_item){ "request", SOURCE_ATTACHED, "" });
}

/* A request that failed, and the call by which it did. */
static void calls_put_event(const struct fleet_calls *c, struct buf *body, uint64_t node,
			    uint64_t seq, uint64_t wall_ns)
{
	struct request_item q = { .start_ns = wall_ns, .comm = "fleet", .pid = 7, .tid = 8 };
	uint64_t edge = seq % c->edges;
	char app[16], path[32];

	calls_app(node, edge % 2, app);
	snprintf(path, sizeof(path), "/r/%llu", (unsigned long long)seq);
	q.app = app;
	q.remote = calls_addr((node * 31 + seq) % c->nodes, 40000 + (unsigned)(seq % 20000));
	q.local = calls_addr(node, CALLS_PORT + (unsigned)(edge % 2));
	q.method = "GET";
	q.path = path;
	q.route = "/r";
	q.status = 502;
	q.request_us = 20000 + seq % 1000;
	q.queue_us = 100;
	q.normal_us = 3000;
	q.limit_us = 15000;
	q.reason = 1;
	q.nups = 1;
	q.ups[0] = (struct up_item){ .addr = calls_peer(c, node, edge),
				     .response_us = 15000,
				     .status = 502,
				     .local_port = (uint16_t)(40000 + seq % 20000) };
	wire_put_request(body, &q);
}
