// SPDX-License-Identifier: Apache-2.0
/*
 * incident_calls.h - finds the hosts that make fewer calls per request than before, and the
 * likely cause.
 *
 * A callee that fails without a status, or ends requests early, makes no request slower; it
 * shows in the calls that are missing. Plain code over arrays. Expected calls: the calls per
 * request of the same route before, times the requests now. A host misses calls if all its calls
 * together are fewer by a tenth and by three standard deviations (of two Poisson counts); a host
 * that calls another callee instead misses none. If several hosts miss calls, the callees that
 * all of them have rank first, by the sum of the missing shares; then follow the hosts.
 */
#pragma once

#include "lib/base/base.h"

/* The calls of one host to one callee. The caller owns the names. */
struct calls_edge {
	const char *from, *to;
	bool external; /* `to` is an address of no known host */
	double made, expected, variance; /* variance: of expected - made */
};

enum { CALLS_SHOWN = 3, CALLS_PARTS = 4 };

struct calls_candidate {
	const char *name;
	bool external, callee;
	double missing, expected;
	int nparts;
	const struct calls_edge *part[CALLS_PARTS]; /* sorted, most missing calls first */
};

struct calls_rank {
	int n;
	struct calls_candidate best[CALLS_SHOWN];
};

/* edge: sorted by host. */
void calls_rank(const struct calls_edge *edge, size_t n, struct calls_rank *out);
