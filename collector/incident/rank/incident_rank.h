// SPDX-License-Identifier: Apache-2.0
/*
 * incident_rank.h - ranks hosts by the time, or errors, of an incident that arose there.
 *
 * Plain code over arrays: no clock, no database. A sum is what one key of red counted during the
 * incident, and before it, without an incident. Its net is the excess over the mean before. A
 * host has what arose within it (own) and what arose on the way to it (edge): the call as the
 * caller saw it minus what the callee took. Both are compared with before, and by their means,
 * since a small delay on the way is lost in a callee that varies much. Exception: if most calls
 * of one caller became slow on the way and none stands out, the caller is blamed for them.
 * Errors are counted likewise. The variation between minutes without an incident is noise and is
 * not counted: many requests would add it up to something. A host without a probe is external;
 * it never ranks before a probed host with evidence, and what it forwards arose behind it
 * (incident_via.h).
 */
#pragma once

#include "lib/base/base.h"

enum rank_role { RANK_SERVER, RANK_CALL, RANK_OWN, RANK_SERVED };

struct rank_sum {
	enum rank_role role;
	int host, other; /* indexes; other: callee of a CALL, caller of a SERVED; -1: none */
	double judged, excess; /* requests with a known normal time, and their time above it */
	double judged_before, excess_before;
	double errors, errors_before; /* of n and n_before requests */
	double n, n_before;
	double us, us_before; /* total time of these requests */
	double noise; /* standard deviation of one request, for a call of its way; 0: not known */
};

struct rank_host {
	bool external; /* has no probe */
	int events; /* events of the node that indicate a fault */
	double own_errors; /* requests that failed without a failing upstream */
};

enum { RANK_SHOWN = 3, RANK_PARTS = 4, RANK_GRAPH = 48 };

struct rank_part {
	int from, to; /* an edge, or to -1: own */
	double value;
	double net; /* of an edge: including the callee's part */
};

struct rank_times {
	double n, n_before, us, us_before;
};

struct rank_edge {
	int from, to;
	double net, value; /* value: the part that arose on the way */
	struct rank_times calls;
	double noise;
};

struct rank_candidate {
	int host;
	double own, edge, share; /* share: part of the whole */
	int nparts;
	struct rank_part part[RANK_PARTS]; /* sorted, largest first */
};

struct rank {
	double whole; /* all that arose, plus callers' excess that arose nowhere */
	int n;
	struct rank_candidate best[RANK_SHOWN];
	bool clear; /* the first explains at least half */
	int ngraph;
	struct rank_part graph[RANK_GRAPH]; /* of all hosts, sorted by net */
};

struct rank_input {
	const struct rank_sum *sum;
	size_t nsums;
	const struct rank_host *host;
	int nhosts;
};

/* In microseconds. */
void rank_time(const struct rank_input *in, struct rank *out);
/* In failed requests. */
void rank_errors(const struct rank_input *in, struct rank *out);
