// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/rank/incident_rank.h"

#include <math.h>

#include "lib/base/log.h"
#include "collector/incident/rank/incident_via.h"
#include "collector/incident/rank/rank_sums.h"

/* A caller is blamed for the ways to its callees if at least EDGES_LEAST exist, this share of
 * them is slow, and none has more than ONE_MOST of the sum. */
static const int EDGES_LEAST = 3;
static const double SLOWED_LEAST = 0.6, ONE_MOST = 0.8;
/* Relative to the largest value: less than EVIDENCE is noise; from TIE on two are equal. */
static const double EVIDENCE = 0.05, TIE = 0.9;
static const double CLEAR = 0.5;
static const double SIGMAS = 3; /* up to this many standard deviations may be chance */

struct ranking {
	const struct rank_input *in;
	bool errors;
	struct rank_edge *edge;
	size_t nedges;
	double *own, *way; /* by host */
	bool *blamed; /* callers that are blamed (is_common) */
};

static void *calloc_or_die(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		die("out of memory");
	return p;
}

static double net_of(const struct ranking *w, const struct rank_sum *s)
{
	return rank_net(s, w->errors);
}

/* Zero if within the noise of n requests, each with this standard deviation. */
static double beyond_noise(double value, double noise, double n)
{
	return value > SIGMAS * noise * sqrt(n) ? value : 0;
}

static double net_beyond(const struct ranking *w, const struct rank_sum *s)
{
	return beyond_noise(net_of(w, s), s->noise, s->judged);
}

typedef double value_fn(const struct ranking *w, const struct rank_sum *s);

/* Including the usual part. */
static double gross(const struct ranking *w, const struct rank_sum *s)
{
	return w->errors ? s->errors : s->excess;
}

/* other -1: any */
static double sum_of(const struct ranking *w, enum rank_role role, int host, int other,
		     value_fn *value, bool *any)
{
	double sum = 0;

	for (size_t i = 0; i < w->in->nsums; i++) {
		const struct rank_sum *s = &w->in->sum[i];

		if (s->role != role || s->host != host || (other >= 0 && s->other != other))
			continue;
		if (any)
			*any = true;
		sum += value(w, s);
	}
	return sum;
}

/* A host's own time: as reported by its probe, else the time of its requests minus that of its
 * calls. */
static double own_time(const struct ranking *w, int host)
{
	bool reported = false;
	double own;

	if (w->errors)
		return w->in->host[host].own_errors;
	own = sum_of(w, RANK_OWN, host, -1, net_beyond, &reported);
	if (!reported)
		own = sum_of(w, RANK_SERVER, host, -1, net_of, NULL) -
		      sum_of(w, RANK_CALL, host, -1, net_of, NULL);
	return own > 0 ? own : 0;
}

/* other -1: all */
static struct rank_times times_of(const struct ranking *w, enum rank_role role, int host, int other)
{
	struct rank_times t = { 0 };

	for (size_t i = 0; i < w->in->nsums; i++) {
		const struct rank_sum *s = &w->in->sum[i];

		if (s->role == role && s->host == host && (other < 0 || s->other == other))
			rank_add_times(&t, s);
	}
	return t;
}

static struct rank_edge *edge_of(struct ranking *w, int from, int to)
{
	for (size_t i = 0; i < w->nedges; i++)
		if (w->edge[i].from == from && w->edge[i].to == to)
			return &w->edge[i];
	w->edge[w->nedges] = (struct rank_edge){ .from = from, .to = to };
	return &w->edge[w->nedges++];
}

/*
 * The callee's part is not the way's, usual or not: as reported for this caller, else for all
 * callers.
 */
static double at_callee(const struct ranking *w, const struct rank_edge *e)
{
	bool reported = false;
	double served;

	if (w->in->host[e->to].external)
		return 0;
	served = sum_of(w, RANK_SERVED, e->to, e->from, gross, &reported);
	return reported ? served : sum_of(w, RANK_SERVER, e->to, -1, gross, NULL);
}

/* The time of the calls that the callee did not have, minus what it was before. */
static bool way_by_means(const struct ranking *w, const struct rank_edge *e, double *value)
{
	double calls, served = 0;
	struct rank_times t;

	if (!rank_slower_by(&e->calls, &calls))
		return false;
	if (!w->in->host[e->to].external) {
		t = times_of(w, RANK_SERVED, e->to, e->from);
		if (t.n <= 0)
			t = times_of(w, RANK_SERVER, e->to, -1);
		if (t.n > 0 && !rank_slower_by(&t, &served))
			return false;
	}
	*value = (calls - served) * e->calls.n;
	return true;
}

static void measure_edges(struct ranking *w)
{
	for (size_t i = 0; i < w->in->nsums; i++) {
		const struct rank_sum *s = &w->in->sum[i];
		struct rank_edge *e;

		if (s->role != RANK_CALL || s->other < 0 || s->other == s->host)
			continue;
		e = edge_of(w, s->host, s->other);
		e->net += net_of(w, s);
		rank_add_times(&e->calls, s);
		e->noise = s->noise > e->noise ? s->noise
					       : e->noise; /* each sum has the noise of all */
	}
	for (size_t i = 0; i < w->nedges; i++) {
		struct rank_edge *e = &w->edge[i];
		double value;

		if (!w->errors && way_by_means(w, e, &value))
			value = beyond_noise(value, e->noise, e->calls.n);
		else
			value = e->net > 0 ? e->net - at_callee(w, e) : 0;
		e->value = value > 0 ? value : 0;
	}
}

/* Whether most calls of this caller are slow on the way, and none stands out. */
static bool is_common(const struct ranking *w, int caller)
{
	double sum = 0, most = 0;
	int n = 0, slowed = 0;

	for (size_t i = 0; i < w->nedges; i++) {
		const struct rank_edge *e = &w->edge[i];

		if (e->from != caller || e->calls.n <= 0)
			continue;
		n++;
		slowed += e->value > 0;
		sum += e->value;
		most = e->value > most ? e->value : most;
	}
	return n >= EDGES_LEAST && slowed >= SLOWED_LEAST * n && most <= ONE_MOST * sum;
}

static void attribute_times(struct ranking *w)
{
	measure_edges(w);
	w->nedges = rank_via(w->in, w->errors, w->edge, w->nedges);
	for (int h = 0; h < w->in->nhosts; h++) {
		w->blamed[h] = is_common(w, h);
		w->own[h] = w->in->host[h].external ? 0 : own_time(w, h);
	}
	for (size_t i = 0; i < w->nedges; i++) {
		const struct rank_edge *e = &w->edge[i];

		w->way[w->blamed[e->from] ? e->from : e->to] += e->value;
	}
}

/* What clients of hosts that no other host calls waited for. */
static double at_entry(const struct ranking *w)
{
	double sum = 0;

	for (int h = 0; h < w->in->nhosts; h++) {
		bool called = false;

		for (size_t i = 0; i < w->nedges; i++)
			called |= w->edge[i].to == h;
		if (!called && !w->in->host[h].external)
			sum += sum_of(w, RANK_SERVER, h, -1, net_of, NULL);
	}
	return sum;
}

static double value_of(const struct ranking *w, int host)
{
	return w->own[host] + w->way[host];
}

/* Whether a ranks before b; most: the largest value of all probed hosts. */
static bool ranks_before(const struct ranking *w, int a, int b, double most)
{
	const struct rank_host *x = &w->in->host[a], *y = &w->in->host[b];
	double va = value_of(w, a), vb = value_of(w, b);

	if (x->external != y->external) {
		double probed = x->external ? vb : va, other = x->external ? va : vb;
		bool evidence = probed > 0 && probed >= EVIDENCE * (most > other ? most : other);

		return x->external ? !evidence && va > vb : evidence || va >= vb;
	}
	if ((va > 0 && vb > 0) && (x->events > 0) != (y->events > 0) &&
	    (va < vb ? va >= TIE * vb : vb >= TIE * va))
		return x->events > 0;
	return va > vb;
}

/* Inserts p, keeping the max largest by by(). */
static void put_part(struct rank_part *list, int *n, int max, struct rank_part p,
		     double (*by)(const struct rank_part *p))
{
	int i = *n < max ? *n : max - 1;

	if (*n == max && by(&p) <= by(&list[i]))
		return;
	if (*n < max)
		++*n;
	for (; i > 0 && by(&list[i - 1]) < by(&p); i--)
		list[i] = list[i - 1];
	list[i] = p;
}

static double by_value(const struct rank_part *p)
{
	return p->value;
}

static double by_net(const struct rank_part *p)
{
	return p->net;
}

static void describe_candidate(const struct ranking *w, struct rank_candidate *c, int host,
			       double whole)
{
	*c = (struct rank_candidate){ .host = host, .own = w->own[host], .edge = w->way[host] };
	c->share = whole > 0 ? value_of(w, host) / whole : 0;
	if (c->own > 0)
		put_part(c->part, &c->nparts, RANK_PARTS,
			 (struct rank_part){ host, -1, c->own, c->own }, by_value);
	for (size_t i = 0; i < w->nedges; i++) {
		const struct rank_edge *e = &w->edge[i];

		if (e->value > 0 && (w->blamed[e->from] ? e->from : e->to) == host)
			put_part(c->part, &c->nparts, RANK_PARTS,
				 (struct rank_part){ e->from, e->to, e->value, e->net }, by_value);
	}
}

static void put_graph(const struct ranking *w, struct rank *out)
{
	for (int h = 0; h < w->in->nhosts; h++)
		if (w->own[h] > 0)
			put_part(out->graph, &out->ngraph, RANK_GRAPH,
				 (struct rank_part){ h, -1, w->own[h], w->own[h] }, by_net);
	for (size_t i = 0; i < w->nedges; i++) {
		const struct rank_edge *e = &w->edge[i];

		if (e->net > 0)
			put_part(out->graph, &out->ngraph, RANK_GRAPH,
				 (struct rank_part){ e->from, e->to, e->value, e->net }, by_net);
	}
}

/* The first three, each chosen from the hosts not yet named. */
static void choose_candidates(const struct ranking *w, struct rank *out)
{
	AUTO_FREE bool *named = calloc_or_die((size_t)w->in->nhosts, sizeof(*named));
	double most = 0;

	for (int h = 0; h < w->in->nhosts; h++)
		if (!w->in->host[h].external && value_of(w, h) > most)
			most = value_of(w, h);
	while (out->n < RANK_SHOWN) {
		int first = -1;

		for (int h = 0; h < w->in->nhosts; h++)
			if (!named[h] && value_of(w, h) > 0 &&
			    (first < 0 || ranks_before(w, h, first, most)))
				first = h;
		if (first < 0)
			break;
		named[first] = true;
		describe_candidate(w, &out->best[out->n++], first, out->whole);
	}
	out->clear = out->n > 0 && out->best[0].share >= CLEAR;
}

static void run_ranking(const struct rank_input *in, bool errors, struct rank *out)
{
	size_t n = (size_t)in->nhosts;
	AUTO_FREE struct rank_edge *edges = calloc_or_die(in->nsums, sizeof(*edges));
	AUTO_FREE double *own = calloc_or_die(n, sizeof(*own));
	AUTO_FREE double *way = calloc_or_die(n, sizeof(*way));
	AUTO_FREE bool *blamed = calloc_or_die(n, sizeof(*blamed));
	struct ranking w = { in, errors, edges, 0, own, way, blamed };
	double entry;

	*out = (struct rank){ 0 };
	attribute_times(&w);
	for (int h = 0; h < in->nhosts; h++)
		out->whole += value_of(&w, h);
	entry = at_entry(&w);
	if (entry > out->whole)
		out->whole = entry;
	choose_candidates(&w, out);
	put_graph(&w, out);
}

void rank_time(const struct rank_input *in, struct rank *out)
{
	run_ranking(in, false, out);
}

void rank_errors(const struct rank_input *in, struct rank *out)
{
	run_ranking(in, true, out);
}
