// SPDX-License-Identifier: Apache-2.0
/* incident_set_open.c - assigns a sufficient signal to an incident: joins, reopens, merges or
 * opens one. */
#include "lib/base/hash.h"
#include "collector/incident/model/incident_set.h"
#include "collector/incident/model/incident_window.h"

enum { RANK_GAP_S = 10, ID_TRIES = 16 };

static bool contains_id(const uint64_t *sorted, size_t n, uint64_t x)
{
	size_t low = 0;

	while (n) {
		size_t half = n / 2;

		if (sorted[low + half] == x)
			return true;
		if (sorted[low + half] < x) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return false;
}

bool incident_reaches(const struct incident *i, const uint64_t *neighbors, size_t n)
{
	for (size_t k = 0; k < i->nsignals; k++)
		if (contains_id(neighbors, n, i->signal[k]->node))
			return true;
	return false;
}

/* The older incident remains; the younger one stays as a name that leads to it. Its signals
 * follow once both are written. */
struct incident *incident_set_merge(struct incident_set *s, struct incident *into,
				    struct incident *from, int64_t at_us)
{
	from->into = into->id;
	from->closed_us = at_us;
	if (from->last_us > into->last_us)
		into->last_us = from->last_us;
	into->rank_us = into->ranked_us = 0;
	incident_set_step(s, into, at_us, "merged", NULL, from);
	into->held += from->held;
	for (unsigned k = 0; k < from->nreported_by && into->nreported_by < INCIDENT_REPORTERS; k++)
		into->reported_by[into->nreported_by++] = from->reported_by[k];
	incident_set_step(s, from, at_us, "merged", NULL, into);
	return into;
}

struct incident *incident_set_target(const struct incident_set *s, struct incident *i)
{
	while (i && i->into)
		i = incident_set_find(s, i->into);
	return i;
}

/* a is older, or as old with the smaller id, as everywhere. */
static bool is_older(const struct incident *a, const struct incident *b)
{
	return a->onset_us < b->onset_us || (a->onset_us == b->onset_us && a->id < b->id);
}

struct incident *incident_set_merge_older(struct incident_set *s, struct incident *a,
					  struct incident *b, int64_t at_us)
{
	return is_older(a, b) ? incident_set_merge(s, a, b, at_us)
			      : incident_set_merge(s, b, a, at_us);
}

/* The oldest incident close in time and place; all others that match are merged into it. */
static struct incident *find_open_incident(struct incident_set *s, int64_t first_us,
					   const struct signal *g, const struct incident_place *p)
{
	int64_t gap = incident_set_limits(s)->join_s * INCIDENT_SEC;
	struct incident *to = NULL;

	for (size_t k = 0; k < incident_set_count_of(s); k++) {
		struct incident *at = incident_set_at(s, k);
		struct incident *i = incident_set_target(s, at);

		if (!i || i == to || i->closed_us || first_us - i->last_us > gap ||
		    i->onset_us - signal_collector_us(g, g->last_us) > gap ||
		    !incident_reaches(at, p->neighbors, p->nneighbors))
			continue;
		to = to ? incident_set_merge_older(s, to, i, p->now_us) : i;
	}
	return to;
}

/* The incident of the same node that closed last. */
static struct incident *find_closed_incident(const struct incident_set *s, int64_t first_us,
					     const struct signal *g)
{
	int64_t gap = incident_set_limits(s)->reopen_s * INCIDENT_SEC;
	struct incident *last = NULL;

	for (size_t k = 0; k < incident_set_count_of(s); k++) {
		struct incident *i = incident_set_at(s, k);

		if (i->closed_us && !i->into && first_us - i->closed_us <= gap &&
		    incident_reaches(i, &g->node, 1) && (!last || i->closed_us > last->closed_us))
			last = i;
	}
	return last;
}

/* An id stays that of one incident: links and steps refer to it. */
static bool is_taken(const struct incident_set *s, const struct incident_place *p, uint64_t id)
{
	return incident_set_find(s, id) || (p->is_taken && p->is_taken(p->arg, id));
}

static struct incident *open_new(struct incident_set *s, const struct signal *g,
				 const struct incident_place *p)
{
	uint64_t h = hash_add(hash_add_str(HASH_START, p->region_name), &g->id, sizeof(g->id));
	struct incident i = { .region = p->region,
			      .onset_us = signal_collector_us(g, g->first_us),
			      .last_us = signal_collector_us(g, g->last_us),
			      .opened_us = p->now_us,
			      .fresh = true };

	h = hash_add(h, &g->first_us, sizeof(g->first_us));
	i.id = hash_end(h);
	for (int again = 0; again < ID_TRIES && is_taken(s, p, i.id); again++)
		i.id = hash_end(h = hash_add(h, &p->now_us, sizeof(p->now_us)));
	return incident_set_add(s, &i);
}

struct incident *incident_set_open(struct incident_set *s, struct signal *g,
				   const struct incident_place *p)
{
	int64_t first_us = signal_collector_us(g, signal_fault_start(g, incident_set_limits(s)));
	struct incident *i = find_open_incident(s, first_us, g, p);
	const char *kind = "joined";

	if (!i && (i = find_closed_incident(s, first_us, g))) {
		kind = "reopened";
		i->closed_us = 0;
	}
	signal_begin(g, incident_set_limits(s), i);
	if (!i) {
		kind = "opened";
		i = open_new(s, g, p);
	}
	incident_set_attach(i, g);
	if (signal_collector_us(g, g->last_us) > i->last_us)
		i->last_us = signal_collector_us(g, g->last_us);
	i->rank_us = i->ranked_us = 0;
	i->rank_gap_us = RANK_GAP_S * INCIDENT_SEC;
	incident_set_step(s, i, p->now_us, kind, g, NULL);
	return i;
}
