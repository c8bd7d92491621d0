// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/model/incident_remote.h"

enum { RANK_GAP_S = 10 };

static bool is_reported_by(const struct incident *i, uint64_t region)
{
	for (unsigned k = 0; k < i->nreported_by; k++)
		if (i->reported_by[k] == region)
			return true;
	return false;
}

static bool have_common_reporter(const struct incident *a, const struct incident *b)
{
	for (unsigned k = 0; k < a->nreported_by; k++)
		if (is_reported_by(b, a->reported_by[k]))
			return true;
	return false;
}

bool incident_set_must_reload(const struct incident_set *s, const struct incident_report *t)
{
	return t->has_row && !t->closed_us && !t->into && !t->was_open &&
	       !incident_set_find(s, t->at);
}

bool incident_set_is_ready(const struct incident_set *s, const struct incident_report *t)
{
	for (size_t k = 0; k < t->nsignals; k++) {
		const struct incident_remote_signal *q = &t->signal[k];
		const struct signal *g =
			incident_set_signal_of(s, q->node, q->app, q->route, q->class);

		if (g && g->of && g->of->id != t->at && g->of->closed_us && g->dirty)
			return false;
	}
	return true;
}

static struct incident *add_incident(struct incident_set *s, const struct incident_report *t)
{
	return incident_set_add(s, &(struct incident){ .id = t->id,
						       .region = t->region,
						       .onset_us = t->onset_us,
						       .last_us = t->last_us,
						       .opened_us = t->opened_us,
						       .closed_us = t->closed_us,
						       .fresh = true });
}

/* Both sides counted the same rows; the one that saw more of them is right. */
static void merge_counts(struct signal *g, const struct incident_remote_signal *q)
{
	if (q->n > g->n) {
		g->n = q->n;
		g->excess_us = q->excess_us;
		g->dirty = true;
	}
	if (q->first_us < g->first_us) {
		g->first_us = q->first_us;
		g->dirty = true;
	}
	if (q->last_us > g->last_us) {
		g->last_us = q->last_us;
		g->dirty = true;
	}
	if (!g->worst[0].id)
		g->reason = q->reason;
}

/*
 * Another incident has a signal of this one. If it was opened here for the same region, the
 * region's incident takes it over; if it includes other regions, age decides. If the same region
 * reported it, the signal moved there, and moves here too.
 */
static struct incident *merge_conflicting(struct incident_set *s, struct incident *i,
					  struct incident *other, const struct incident_report *t)
{
	if (is_reported_by(other, t->region))
		return i;
	if (!other->nreported_by && other->region == t->region)
		return incident_set_merge(s, i, other, t->now_us);
	return incident_set_merge_older(s, i, other, t->now_us);
}

static struct incident *take_signal(struct incident_set *s, struct incident *i, bool fresh,
				    const struct incident_report *t,
				    const struct incident_remote_signal *q)
{
	struct signal *g = incident_set_signal(s, q->node, q->app, q->route, q->class);
	struct incident *of = g ? incident_set_target(s, g->of) : NULL;
	bool is_new = of != i;

	if (!g || (is_new && of && !of->closed_us && !fresh))
		return i; /* split off here, or assigned to another incident here */
	g->clock_us = q->clock_us;
	if (is_new && of && !of->closed_us)
		i = merge_conflicting(s, i, of, t);
	if (incident_set_target(s, g->of) != i || (!g->active && !i->closed_us)) {
		if (!g->active)
			signal_begin(g, incident_set_limits(s), i);
		incident_set_attach(i, g);
	}
	merge_counts(g, q);
	if (i->closed_us)
		signal_end(g); /* its events are counted */
	if (!is_new)
		return i;
	g->dirty = true;
	i->rank_us = 0;
	i->rank_gap_us = RANK_GAP_S * INCIDENT_SEC;
	incident_set_step(s, i, fresh ? t->opened_us : t->now_us,
			  fresh && i->nsignals == 1 ? "opened" : "joined", g, NULL);
	return i;
}

/* Merges incidents that overlap in time, are within reach, and that their region does not keep
 * apart. */
static struct incident *merge_neighbors(struct incident_set *s, struct incident *i,
					const struct incident_report *t)
{
	int64_t gap = incident_set_limits(s)->join_s * INCIDENT_SEC;

	for (size_t k = 0; k < incident_set_count_of(s); k++) {
		struct incident *j = incident_set_target(s, incident_set_at(s, k));

		if (!j || j == i || !j->closed_us != !i->closed_us || have_common_reporter(i, j) ||
		    (i->apart && j->apart) || i->onset_us - j->last_us > gap ||
		    j->onset_us - i->last_us > gap ||
		    !incident_reaches(incident_set_at(s, k), t->neighbors, t->nneighbors))
			continue;
		i = incident_set_merge_older(s, i, j, t->now_us);
	}
	return i;
}

static bool has_unreported_node(const struct incident *i, const struct incident_report *t)
{
	for (size_t k = 0; k < i->nsignals; k++) {
		bool reported_by = !i->signal[k]->active;

		for (size_t n = 0; n < t->nsignals && !reported_by; n++)
			reported_by = t->signal[n].node == i->signal[k]->node;
		if (!reported_by)
			return true;
	}
	return false;
}

static bool is_of_one_region(const struct incident *i, uint64_t region)
{
	return i->nreported_by == 0 || (i->nreported_by == 1 && i->reported_by[0] == region);
}

static void apply_state(struct incident_set *s, struct incident *i, const struct incident_report *t)
{
	bool open = !t->closed_us && !t->into;

	if (open && !t->was_open)
		i->held++;
	if (!open && t->was_open && i->held)
		i->held--;
	if (t->closed_us && t->was_open && !i->closed_us && !i->held &&
	    !has_unreported_node(i, t)) {
		incident_set_close(s, i, t->closed_us > i->onset_us ? t->closed_us : i->onset_us);
		if (is_of_one_region(i, t->region)) /* events counted here until this report are
						       after its end */
			i->last_us = t->last_us;
	}
	if (!is_reported_by(i, t->region) && i->nreported_by < INCIDENT_REPORTERS)
		i->reported_by[i->nreported_by++] = t->region;
	i->dirty = true;
}

/* It was merged into another incident there. */
static struct incident *take_merged(struct incident_set *s, const struct incident_report *t)
{
	struct incident *from = incident_set_target(s, incident_set_find(s, t->at));
	struct incident *into = incident_set_target(s, incident_set_find(s, t->into));

	if (from && into && from != into && from->id == t->id)
		incident_set_merge(s, into, from, t->now_us);
	from = incident_set_target(s, from);
	if (from && t->was_open && from->held)
		from->held--;
	return into ? into : from;
}

static void reopen_incident(struct incident_set *s, struct incident *i, int64_t at_us)
{
	i->closed_us = 0;
	i->rank_us = 0;
	i->rank_gap_us = RANK_GAP_S * INCIDENT_SEC;
	incident_set_step(s, i, at_us, "reopened", NULL, NULL);
}

struct incident *incident_set_import(struct incident_set *s, const struct incident_report *t)
{
	struct incident *i;
	bool fresh;

	if (t->into)
		return take_merged(s, t);
	i = incident_set_target(s, incident_set_find(s, t->at));
	if (!i && t->has_row)
		return NULL; /* closed long ago */
	fresh = !i;
	if (fresh)
		i = add_incident(s, t);
	else if (i->id == t->id && !i->nreported_by)
		i->onset_us = t->onset_us; /* opened here too: the region's clock knows the onset */
	if (i->closed_us && !t->closed_us && !t->was_open)
		reopen_incident(s, i, t->now_us);
	if (fresh || i->closed_us == 0)
		for (size_t k = 0; k < t->nsignals; k++)
			i = take_signal(s, i, fresh, t, &t->signal[k]);
	if (t->last_us > i->last_us)
		i->last_us = t->last_us;
	apply_state(s, i, t);
	return merge_neighbors(s, i, t);
}
