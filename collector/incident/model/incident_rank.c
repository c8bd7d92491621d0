// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/model/incident_rank.h"

#include <math.h>

#include "lib/base/log.h"
#include "collector/incident/model/incident_via.h"

/* A caller is to blame for the ways to its callees, if it has so many, and so. */
static const int EDGES_LEAST = 3;
static const double SLOWED_LEAST = 0.6, ONE_MOST = 0.8;
/* Of the largest: less is what is left of noise. */
static const double EVIDENCE = 0.05, TIE = 0.9;
static const double CLEAR = 0.5;
static const double SIGMAS = 3; /* within so many of them it may be chance */

struct work {
	const struct rank_input *in;
	bool errors;
	struct rank_edge *edge;
	size_t nedges;
	double *own, *way; /* by host */
	bool *blamed; /* callers whom the common-endpoint rule found */
};

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		die("out of memory");
	return p;
}

static double over(double now, double n, double before, double n_before)
{
	double net = now - (n_before > 0 ? n * before / n_before : 0);

	return net > 0 ? net : 0;
}

double rank_net(const struct rank_sum *s, bool errors)
{
	if (errors)
		return over(s->errors, s->n, s->errors_before, s->n_before);
	return over(s->excess, s->judged, s->excess_before, s->judged_before);
}

static double net(const struct work *w, const struct rank_sum *s)
{
	return rank_net(s, w->errors);
}

/* Of n requests, of which each varies by that. */
static double beyond_noise(double value, double noise, double n)
{
	return value > SIGMAS * noise * sqrt(n) ? value : 0;
}

static double net_beyond(const struct work *w, const struct rank_sum *s)
{
	return beyond_noise(net(w, s), s->noise, s->judged);
}

typedef double value_fn(const struct work *w, const struct rank_sum *s);

/* With what is usual of it. */
static double gross(const struct work *w, const struct rank_sum *s)
{
	return w->errors ? s->errors : s->excess;
}

/* other -1: any. */
static double total(const struct work *w, enum rank_role role, int host, int other, value_fn *value,
		    bool *any)
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

/* The time of its requests less that of its calls, where its probe does not say it itself. */
static double own_of(const struct work *w, int host)
{
	bool told = false;
	double own;

	if (w->errors)
		return w->in->host[host].own_errors;
	own = total(w, RANK_OWN, host, -1, net_beyond, &told);
	if (!told)
		own = total(w, RANK_SERVER, host, -1, net, NULL) -
		      total(w, RANK_CALL, host, -1, net, NULL);
	return own > 0 ? own : 0;
}

void rank_add_times(struct rank_times *t, const struct rank_sum *s)
{
	t->n += s->n;
	t->n_before += s->n_before;
	t->us += s->us;
	t->us_before += s->us_before;
}

bool rank_slower_by(const struct rank_times *t, double *us)
{
	if (t->n <= 0 || t->n_before <= 0)
		return false;
	*us = t->us / t->n - t->us_before / t->n_before;
	return true;
}

/* other -1: of all. */
static struct rank_times times_of(const struct work *w, enum rank_role role, int host, int other)
{
	struct rank_times t = { 0 };

	for (size_t i = 0; i < w->in->nsums; i++) {
		const struct rank_sum *s = &w->in->sum[i];

		if (s->role == role && s->host == host && (other < 0 || s->other == other))
			rank_add_times(&t, s);
	}
	return t;
}

static struct rank_edge *edge_of(struct work *w, int from, int to)
{
	for (size_t i = 0; i < w->nedges; i++)
		if (w->edge[i].from == from && w->edge[i].to == to)
			return &w->edge[i];
	w->edge[w->nedges] = (struct rank_edge){ .from = from, .to = to };
	return &w->edge[w->nedges++];
}

/*
 * What the callee had of it is not the way's, be it usual or not: as told of this caller, else of
 * all.
 */
static double at_callee(const struct work *w, const struct rank_edge *e)
{
	bool told = false;
	double served;

	if (w->in->host[e->to].external)
		return 0;
	served = total(w, RANK_SERVED, e->to, e->from, gross, &told);
	return told ? served : total(w, RANK_SERVER, e->to, -1, gross, NULL);
}

/* Of the time of its calls, what its callee did not have, and was not so before. */
static bool way_by_means(const struct work *w, const struct rank_edge *e, double *value)
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

static void measure_edges(struct work *w)
{
	for (size_t i = 0; i < w->in->nsums; i++) {
		const struct rank_sum *s = &w->in->sum[i];
		struct rank_edge *e;

		if (s->role != RANK_CALL || s->other < 0 || s->other == s->host)
			continue;
		e = edge_of(w, s->host, s->other);
		e->net += net(w, s);
		rank_add_times(&e->calls, s);
		e->noise = s->noise > e->noise ? s->noise : e->noise; /* each has that of all */
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

/* Most of its calls are slow on the way, to whomever, and none stands out. */
static bool is_common(const struct work *w, int caller)
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

static void attribute(struct work *w)
{
	measure_edges(w);
	w->nedges = rank_through(w->in, w->errors, w->edge, w->nedges);
	for (int h = 0; h < w->in->nhosts; h++) {
		w->blamed[h] = is_common(w, h);
		w->own[h] = w->in->host[h].external ? 0 : own_of(w, h);
	}
	for (size_t i = 0; i < w->nedges; i++) {
		const struct rank_edge *e = &w->edge[i];

		w->way[w->blamed[e->from] ? e->from : e->to] += e->value;
	}
}

/* Of hosts that nobody here calls: what their clients waited for. */
static double at_entry(const struct work *w)
{
	double sum = 0;

	for (int h = 0; h < w->in->nhosts; h++) {
		bool called = false;

		for (size_t i = 0; i < w->nedges; i++)
			called |= w->edge[i].to == h;
		if (!called && !w->in->host[h].external)
			sum += total(w, RANK_SERVER, h, -1, net, NULL);
	}
	return sum;
}

static double value_of(const struct work *w, int host)
{
	return w->own[host] + w->way[host];
}

/* Whether a is to be named before b; most is the largest of all probed hosts. */
static bool before(const struct work *w, int a, int b, double most)
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

/* The largest by what by() says, at most max of them. */
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

static void describe(const struct work *w, struct rank_candidate *c, int host, double whole)
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

static void draw(const struct work *w, struct rank *out)
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

/* The first three, each looked for among those that are not named yet. */
static void choose(const struct work *w, struct rank *out)
{
	AUTO_FREE bool *named = zeroed((size_t)w->in->nhosts, sizeof(*named));
	double most = 0;

	for (int h = 0; h < w->in->nhosts; h++)
		if (!w->in->host[h].external && value_of(w, h) > most)
			most = value_of(w, h);
	while (out->n < RANK_SHOWN) {
		int first = -1;

		for (int h = 0; h < w->in->nhosts; h++)
			if (!named[h] && value_of(w, h) > 0 &&
			    (first < 0 || before(w, h, first, most)))
				first = h;
		if (first < 0)
			break;
		named[first] = true;
		describe(w, &out->best[out->n++], first, out->whole);
	}
	out->clear = out->n > 0 && out->best[0].share >= CLEAR;
}

static void rank(const struct rank_input *in, bool errors, struct rank *out)
{
	size_t n = (size_t)in->nhosts;
	AUTO_FREE struct rank_edge *edges = zeroed(in->nsums, sizeof(*edges));
	AUTO_FREE double *own = zeroed(n, sizeof(*own));
	AUTO_FREE double *way = zeroed(n, sizeof(*way));
	AUTO_FREE bool *blamed = zeroed(n, sizeof(*blamed));
	struct work w = { in, errors, edges, 0, own, way, blamed };
	double entry;

	*out = (struct rank){ 0 };
	attribute(&w);
	for (int h = 0; h < in->nhosts; h++)
		out->whole += value_of(&w, h);
	entry = at_entry(&w);
	if (entry > out->whole)
		out->whole = entry;
	choose(&w, out);
	draw(&w, out);
}

void rank_time(const struct rank_input *in, struct rank *out)
{
	rank(in, false, out);
}

void rank_errors(const struct rank_input *in, struct rank *out)
{
	rank(in, true, out);
}
