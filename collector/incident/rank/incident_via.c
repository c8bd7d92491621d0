// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/rank/incident_via.h"
#include "collector/incident/rank/rank_sums.h"

#include "lib/base/log.h"

bool rank_is_at(const char *called, const char *asker)
{
	size_t n = strlen(asker);

	if (*called == '[')
		return n && strncmp(called + 1, asker, n) == 0 && called[n + 1] == ']';
	return n && strncmp(called, asker, n) == 0 && called[n] == ':';
}

struct passing {
	const struct rank_input *in;
	bool errors;
	struct rank_edge *edge;
	size_t n, called; /* called: the number of original edges */
};

/* The excess of a host in the requests of one asker. */
static double served_excess(const struct passing *p, int host, int asker, double *net)
{
	struct rank_times t = { 0 };
	double sum = 0, by;

	*net = 0;
	for (size_t i = 0; i < p->in->nsums; i++) {
		const struct rank_sum *s = &p->in->sum[i];

		if (s->role != RANK_SERVED || s->host != host || s->other != asker)
			continue;
		rank_add_times(&t, s);
		*net += rank_net(s, p->errors);
		sum += p->errors ? s->errors : s->excess;
	}
	if (!p->errors && rank_slower_by(&t, &by))
		sum = by * t.n;
	return sum > 0 ? sum : 0;
}

static bool is_edge(const struct passing *p, int from, int to)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->edge[i].from == from && p->edge[i].to == to)
			return true;
	return false;
}

/* Whether requests of this asker may have come over this edge: it leads to the asker, or from it
 * to an external host. */
static bool may_carry(const struct passing *p, const struct rank_edge *e, int asker)
{
	return p->in->host[e->to].external && (e->to == asker || e->from == asker);
}

static const struct rank_edge *largest_edge(const struct passing *p, int asker, double *sum)
{
	const struct rank_edge *most = NULL;

	*sum = 0;
	for (size_t i = 0; i < p->called; i++) {
		const struct rank_edge *e = &p->edge[i];

		if (!may_carry(p, e, asker))
			continue;
		*sum += e->value;
		if (!most || e->value > most->value)
			most = e;
	}
	return most;
}

/* A host was called by an asker that does not call it directly: through an external host that
 * the asker calls, or that it is. */
static void pass_through(struct passing *p, int host, int asker)
{
	double sum, net, behind = served_excess(p, host, asker, &net), left;
	const struct rank_edge *by = largest_edge(p, asker, &sum);

	if (!by || is_edge(p, by->to, host))
		return;
	left = sum > behind ? (sum - behind) / sum : 0;
	for (size_t i = 0; i < p->called; i++)
		if (may_carry(p, &p->edge[i], asker))
			p->edge[i].value *= left;
	p->edge[p->n++] = (struct rank_edge){ .from = by->to, .to = host, .net = net };
}

size_t rank_via(const struct rank_input *in, bool errors, struct rank_edge *edge, size_t n)
{
	struct passing p = { in, errors, edge, n, n };

	for (size_t i = 0; i < in->nsums && p.n < in->nsums; i++) {
		const struct rank_sum *s = &in->sum[i];

		if (s->role == RANK_SERVED && s->other >= 0 && s->other != s->host &&
		    !is_edge(&p, s->other, s->host))
			pass_through(&p, s->host, s->other);
	}
	return p.n;
}
