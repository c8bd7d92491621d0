// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/rank/incident_calls.h"

#include <math.h>

enum { HOSTS = 64 }; /* that miss calls; more of them would have the same cause */
static const double LEAST = 0.1, SIGMAS = 3;

struct calls_host {
	const struct calls_edge *edge;
	size_t n;
	double missing, expected;
};

struct calls_hosts {
	struct calls_host host[HOSTS];
	size_t n;
};

static double missing_calls(const struct calls_edge *e)
{
	return e->expected - e->made;
}

static void add_if_missing(struct calls_hosts *h, const struct calls_edge *edge, size_t n)
{
	struct calls_host one = { edge, n, 0, 0 };
	double variance = 0;

	for (size_t i = 0; i < n; i++) {
		one.missing += missing_calls(&edge[i]);
		one.expected += edge[i].expected;
		variance += edge[i].variance;
	}
	if (h->n < HOSTS && one.missing > SIGMAS * sqrt(variance) &&
	    one.missing >= LEAST * one.expected)
		h->host[h->n++] = one;
}

static const struct calls_edge *edge_to(const struct calls_host *h, const char *to)
{
	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->edge[i].to, to) == 0)
			return &h->edge[i];
	return NULL;
}

static void put_part(struct calls_candidate *c, const struct calls_edge *e)
{
	int i = c->nparts < CALLS_PARTS ? c->nparts : CALLS_PARTS - 1;

	if (missing_calls(e) <= 0 ||
	    (c->nparts == CALLS_PARTS && missing_calls(e) <= missing_calls(c->part[i])))
		return;
	if (c->nparts < CALLS_PARTS)
		c->nparts++;
	for (; i > 0 && missing_calls(c->part[i - 1]) < missing_calls(e); i--)
		c->part[i] = c->part[i - 1];
	c->part[i] = e;
}

static double share_of(const struct calls_edge *e)
{
	return e->expected > 0 && missing_calls(e) > 0 ? missing_calls(e) / e->expected : 0;
}

/* Whether all these hosts call the callee of `first`. *score: the sum of their missing
 * shares. */
static bool is_common_callee(const struct calls_hosts *h, const struct calls_edge *first,
			     struct calls_candidate *c, double *score)
{
	*c = (struct calls_candidate){ .name = first->to,
				       .external = first->external,
				       .callee = true };
	*score = 0;
	for (size_t i = 0; i < h->n; i++) {
		const struct calls_edge *e = edge_to(&h->host[i], first->to);

		if (!e)
			return false;
		c->missing += missing_calls(e);
		c->expected += e->expected;
		*score += share_of(e);
		put_part(c, e);
	}
	return *score > 0;
}

struct calls_list {
	struct calls_rank *out;
	double score[CALLS_SHOWN];
};

/* Inserts c by score among the entries from `first` on; an entry that falls off the end is
 * dropped. */
static void put_candidate(struct calls_list *l, int first, const struct calls_candidate *c,
			  double score)
{
	struct calls_rank *out = l->out;
	int i = out->n < CALLS_SHOWN ? out->n : CALLS_SHOWN - 1;

	if (out->n == CALLS_SHOWN && (first >= out->n || score <= l->score[i]))
		return;
	if (out->n < CALLS_SHOWN)
		out->n++;
	for (; i > first && l->score[i - 1] < score; i--) {
		out->best[i] = out->best[i - 1];
		l->score[i] = l->score[i - 1];
	}
	out->best[i] = *c;
	l->score[i] = score;
}

static void put_hosts(struct calls_list *l, const struct calls_hosts *h)
{
	int first = l->out->n;

	for (size_t i = 0; i < h->n; i++) {
		const struct calls_host *one = &h->host[i];
		struct calls_candidate c = { .name = one->edge->from,
					     .missing = one->missing,
					     .expected = one->expected };

		for (size_t k = 0; k < one->n; k++)
			put_part(&c, &one->edge[k]);
		put_candidate(l, first, &c, c.missing);
	}
}

void calls_rank(const struct calls_edge *edge, size_t n, struct calls_rank *out)
{
	struct calls_hosts h = { .n = 0 };
	struct calls_list l = { .out = out };
	struct calls_candidate c;
	double score;

	out->n = 0;
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && strcmp(edge[next].from, edge[i].from) == 0;)
			next++;
		add_if_missing(&h, &edge[i], next - i);
	}
	for (size_t k = 0; h.n > 1 && k < h.host[0].n; k++)
		if (is_common_callee(&h, &h.host[0].edge[k], &c, &score))
			put_candidate(&l, 0, &c, score);
	put_hosts(&l, &h);
}
