// SPDX-License-Identifier: Apache-2.0
/*
 * incident_graph.h - hosts and sums as rows of the database tell them, for incident_rank.h, and
 * what came of it as JSON. Both who ranks an incident and who was asked about a time by a person
 * use it.
 *
 * Strings are kept; s is all zero at first.
 */
#pragma once

#include <libpq-fe.h>

#include "lib/base/buf.h"
#include "collector/incident/model/incident_rank.h"

enum { SCENE_TEXT = 128 };

struct scene_host {
	uint64_t node; /* 0: external */
	char address[SCENE_TEXT]; /* of who is external */
	char name[SCENE_TEXT]; /* "": its address */
};

struct scene {
	struct scene_host *host;
	struct rank_host *about;
	struct rank_sum *sum;
	size_t nhosts, nsums, hosts_cap;
};

/* The columns that scene_read wants, first and in this order; and of which role. */
#define SCENE_COLUMNS                                                                              \
	"host, role, peer, other, n, errors, judged, excess, n_before, errors_before,"             \
	" judged_before, excess_before, us, us_before, noise"
#define SCENE_ROWS " where role <= 3 order by host, role, peer, other, n, excess"

void scene_read(struct scene *s, const PGresult *res); /* texts; once */
/* Where it is in host and about, which may move: nothing that points there outlives this. */
int scene_host(struct scene *s, uint64_t node, const char *address);
struct rank_host *scene_about(struct scene *s, uint64_t node); /* likewise */
struct rank_input scene_input(const struct scene *s);
/* [{"from":,"to":,"value":,"net":},...] */
void scene_put_parts(const struct scene *s, const struct rank_part *part, int n, struct buf *j);
void scene_free(struct scene *s);
