// SPDX-License-Identifier: Apache-2.0
/*
 * incident_calls.h - who makes fewer calls for each request than before, and because of whom.
 *
 * What fails without a status, or ends early, makes no request slower: it is seen by the calls that
 * are not made. Plain code over arrays. Expected are the calls that were made for a request of the
 * same route before, times the requests now. A host misses calls if all of its calls together are
 * fewer by a tenth and three standard deviations (of two Poisson counts): who calls another one
 * instead misses none. If several hosts miss calls, it is because of a callee that all of them
 * have, the one to which the largest shares are missing first; then the hosts.
 */
#pragma once

#include "lib/base/base.h"

/* Of one host to one callee. Names stay the caller's. */
struct calls_edge {
	const char *from, *to;
	bool external; /* nobody's host: to is an address */
	double made, expected, variance; /* variance: of the difference of these */
};

enum { CALLS_SHOWN = 3, CALLS_PARTS = 4 };

struct calls_candidate {
	const char *name;
	bool external, callee;
	double missing, expected;
	int nparts;
	const struct calls_edge *part[CALLS_PARTS]; /* the most that are missing first */
};

struct calls_rank {
	int n;
	struct calls_candidate best[CALLS_SHOWN];
};

/* edge: those of a host one after the other. */
void calls_rank(const struct calls_edge *edge, size_t n, struct calls_rank *out);
