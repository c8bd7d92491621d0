// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/model/incident_via.h"

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
	size_t n, called; /* called: those that there were */
};

/* What a host had of the requests of one asker, over what was usual. */
static double had(const struct passing *p, int host, int asker, double *net)
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

/* Whether it is an edge on which this asker's requests may have come: to it, or from it to one of
 * these. */
static bool may_carry(const struct passing *p, const struct rank_edge *e, int asker)
{
	return p->in->host[e->to].external && (e->to == asker || e->from == asker);
}

static const struct rank_edge *widest(const struct passing *p, int asker, double *sum)
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

/* A host was asked by one that does not call it: through an external one, which that calls, or
 * which it is. */
static void pass(struct passing *p, int host, int asker)
{
	double sum, net, behind = had(p, host, asker, &net), left;
	const struct rank_edge *by = widest(p, asker, &sum);

	if (!by || is_edge(p, by->to, host))
		return;
	left = sum > behind ? (sum - behind) / sum : 0;
	for (size_t i = 0; i < p->called; i++)
		if (may_carry(p, &p->edge[i], asker))
			p->edge[i].value *= left;
	p->edge[p->n++] = (struct rank_edge){ .from = by->to, .to = host, .net = net };
}

size_t rank_through(const struct rank_input *in, bool errors, struct rank_edge *edge, size_t n)
{
	struct passing p = { in, errors, edge, n, n };

	for (size_t i = 0; i < in->nsums && p.n < in->nsums; i++) {
		const struct rank_sum *s = &in->sum[i];

		if (s->role == RANK_SERVED && s->other >= 0 && s->other != s->host &&
		    !is_edge(&p, s->other, s->host))
			pass(&p, s->host, s->other);
	}
	return p.n;
}
