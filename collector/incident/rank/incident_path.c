// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/rank/incident_path.h"

#include "lib/base/log.h"

/* Calls in a circle pass less on each time round. */
enum { ROUNDS = 64 };
static const double LITTLE = 1e-4;

struct path_walk {
	struct rank_edge *edge;
	size_t nedges;
	struct path_host *host;
	int nhosts;
	double *all; /* by host: what its excess is compared with */
	double *comes, *came; /* by host: excess to pass on, in this round and in all */
};

static double *zeros(size_t n)
{
	double *p = calloc(n ? n : 1, sizeof(*p));

	if (!p)
		die("out of memory");
	return p;
}

static double at_callee(const struct rank_edge *e)
{
	return e->net > e->value ? e->net - e->value : 0;
}

/* What its callees took at the same time may be more than the requests lost, and what its callers
 * lost may be more than it counted itself: the largest of the three is the whole. */
static void measure_hosts(struct path_walk *w)
{
	double *within = w->comes, *asked = w->came;

	for (size_t i = 0; i < w->nedges; i++) {
		const struct rank_edge *e = &w->edge[i];

		within[e->from] += e->value + at_callee(e);
		asked[e->to] += at_callee(e);
	}
	for (int h = 0; h < w->nhosts; h++) {
		double most = w->host[h].excess;

		within[h] += w->host[h].own;
		most = within[h] > most ? within[h] : most;
		w->all[h] = asked[h] > most ? asked[h] : most;
		within[h] = asked[h] = 0;
	}
}

static double pass_on(struct path_walk *w, double *next)
{
	double sum = 0;

	for (size_t i = 0; i < w->nedges; i++) {
		const struct rank_edge *e = &w->edge[i];

		if (w->comes[e->from] > 0)
			next[e->to] += w->comes[e->from] * at_callee(e) / w->all[e->from];
	}
	for (int h = 0; h < w->nhosts; h++) {
		/* what a host without counts of its own got arose nowhere */
		w->comes[h] = w->all[h] > 0 ? next[h] : 0;
		w->came[h] += w->comes[h];
		sum += w->comes[h];
		next[h] = 0;
	}
	return sum;
}

/* Returns what arose somewhere. */
static double scale_parts(struct path_walk *w)
{
	double sum = 0;

	for (size_t i = 0; i < w->nedges; i++) {
		struct rank_edge *e = &w->edge[i];
		double by = w->all[e->from] > 0 ? w->came[e->from] / w->all[e->from] : 0;

		e->value *= by;
		e->net *= by;
		sum += e->value;
	}
	for (int h = 0; h < w->nhosts; h++) {
		w->host[h].own *= w->all[h] > 0 ? w->came[h] / w->all[h] : 0;
		sum += w->host[h].own;
	}
	return sum;
}

double path_follow(struct rank_edge *edge, size_t nedges, struct path_host *host, int nhosts,
		   int first, double *unexplained)
{
	AUTO_FREE double *all = zeros((size_t)nhosts);
	AUTO_FREE double *comes = zeros((size_t)nhosts);
	AUTO_FREE double *came = zeros((size_t)nhosts);
	AUTO_FREE double *next = zeros((size_t)nhosts);
	struct path_walk w = { edge, nedges, host, nhosts, all, comes, came };
	double excess, explained;

	measure_hosts(&w);
	excess = host[first].excess > 0 ? host[first].excess : all[first];
	comes[first] = came[first] = excess;
	for (int i = 0; i < ROUNDS && pass_on(&w, next) > LITTLE * excess; i++)
		;
	explained = scale_parts(&w);
	*unexplained = excess > explained ? excess - explained : 0;
	return excess;
}
