// SPDX-License-Identifier: Apache-2.0
/*
 * incident_graph.h - reads hosts and sums from the database for incident_rank.h, and writes the
 * result as JSON. Used for the ranking of an incident and for GET /api/v1/where.
 *
 * The strings are copied. A struct graph starts zeroed.
 */
#pragma once

#include <libpq-fe.h>

#include "lib/base/buf.h"
#include "collector/incident/rank/incident_rank.h"

enum { GRAPH_TEXT = 128 };

struct graph_host {
	uint64_t node; /* 0: external host */
	char address[GRAPH_TEXT]; /* of an external host */
	char name[GRAPH_TEXT]; /* "": unknown, use the address */
};

struct graph {
	struct graph_host *host;
	struct rank_host *rank_host;
	struct rank_sum *sum;
	size_t nhosts, nsums, hosts_cap;
};

/* The columns that graph_read expects, first and in this order, and the filter on roles. */
#define GRAPH_COLUMNS                                                                              \
	"host, role, peer, other, n, errors, judged, excess, n_before, errors_before,"             \
	" judged_before, excess_before, us, us_before, noise"
#define GRAPH_ROWS " where role <= 3 order by host, role, peer, other, n, excess"

void graph_read(struct graph *s, const PGresult *res); /* in text format; call it once */
/* The index of this host in host and rank_host, which may move: keep no pointers across a
 * call. */
int graph_host(struct graph *s, uint64_t node, const char *address);
struct rank_host *graph_rank_host(struct graph *s, uint64_t node); /* may move likewise */
struct rank_input graph_input(const struct graph *s);
/* [{"from":,"to":,"value":,"net":},...] */
void graph_put_parts(const struct graph *s, const struct rank_part *part, int n, struct buf *j);
void graph_free(struct graph *s);
