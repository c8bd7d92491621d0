// SPDX-License-Identifier: Apache-2.0
/*
 * incident_path.h - follows the excess of one host's requests along the calls they waited for.
 *
 * Each host on the way keeps of the excess that reaches it what arose there, and passes on what
 * its callees took, both in the proportion that was measured. So the parts and what is
 * unexplained add up to the excess of the first host, and no part is at a host that its calls do
 * not reach.
 */
#pragma once

#include "collector/incident/rank/incident_rank.h"

struct path_host {
	double excess; /* of its requests */
	double own; /* in: what arose within it; out: of that, what the first host waited for */
};

/*
 * In and out: net and value of the edges, own of the hosts. An edge's net without its value is
 * what the callee took. Out: what arose nowhere on the way, so far as was measured. Returns the
 * excess of the first host; 0: nothing was measured, and all that is set is 0.
 */
double path_follow(struct rank_edge *edge, size_t nedges, struct path_host *host, int nhosts,
		   int first, double *unexplained);
