// SPDX-License-Identifier: Apache-2.0
/*
 * incident_rank.h - follow the milliseconds: which host the time of an incident arose in.
 *
 * Plain code over arrays: no clock, no database. A sum is what one key of red counted while the
 * incident went on, and before it, when none did. What is left when the mean before is taken off is
 * its net. A host has what arose within it (own), and what arose on the way to it (edge: the call
 * as its caller saw it, less what the callee took, each against before and by means, since what is
 * little of a way is lost in how much its callee varies): unless most calls of one caller became
 * slow and none of them stands out, then the caller is to blame for the way. Errors are counted
 * likewise. What minutes without a fault differ by as much is noise, and not counted: of many
 * requests a little each. A host without a probe is external, and never before a probed one that
 * has evidence; what it passes on arose behind it (incident_via.h).
 */
#pragma once

#include "lib/base/base.h"

enum rank_role { RANK_SERVER, RANK_CALL, RANK_OWN, RANK_SERVED };

struct rank_sum {
	enum rank_role role;
	int host, other; /* places in hosts; other: the callee of a call, the caller of SERVED, or
			    -1 */
	double judged, excess; /* requests that were judged, and what of their time was too much */
	double judged_before, excess_before;
	double errors, errors_before; /* of n_before requests */
	double n, n_before;
	double us, us_before; /* of these requests, in all */
	double noise; /* by which one of them varies, of a call its way; 0: not known */
};

struct rank_host {
	bool external; /* no probe */
	int events; /* of the node, that say what was wrong with it */
	double own_errors; /* failed without a failing upstream */
};

enum { RANK_SHOWN = 3, RANK_PARTS = 4, RANK_GRAPH = 48 };

struct rank_part {
	int from, to; /* the edge; to -1: own */
	double value;
	double net; /* of an edge, with what the callee had of it */
};

struct rank_times {
	double n, n_before, us, us_before;
};

struct rank_edge {
	int from, to;
	double net, value; /* value: what of it arose on the way */
	struct rank_times calls;
	double noise;
};

struct rank_candidate {
	int host;
	double own, edge, share; /* share: of the whole */
	int nparts;
	struct rank_part part[RANK_PARTS]; /* the largest first */
};

struct rank {
	double whole; /* all that arose, and what of the callers' excess did not arise anywhere */
	int n;
	struct rank_candidate best[RANK_SHOWN];
	bool clear; /* the first explains half */
	int ngraph;
	struct rank_part graph[RANK_GRAPH]; /* of all hosts, the largest by net first */
};

struct rank_input {
	const struct rank_sum *sum;
	size_t nsums;
	const struct rank_host *host;
	int nhosts;
};

/* What is too much of it, and was not so before. */
double rank_net(const struct rank_sum *s, bool errors);
void rank_add_times(struct rank_times *t, const struct rank_sum *s);
/* By how much a request took longer than before, on the mean. False: there is nothing to compare.
 */
bool rank_slower_by(const struct rank_times *t, double *us);

/* In us. */
void rank_time(const struct rank_input *in, struct rank *out);
/* In failed requests. */
void rank_errors(const struct rank_input *in, struct rank *out);
