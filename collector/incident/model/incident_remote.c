// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/model/incident_remote.h"

enum { RANK_GAP_S = 10 };

static bool is_told_by(const struct incident *i, uint64_t region)
{
	for (unsigned k = 0; k < i->ntold; k++)
		if (i->told[k] == region)
			return true;
	return false;
}

static bool is_told_by_same(const struct incident *a, const struct incident *b)
{
	for (unsigned k = 0; k < a->ntold; k++)
		if (is_told_by(b, a->told[k]))
			return true;
	return false;
}

bool incident_set_lacks(const struct incident_set *s, const struct incident_telling *t)
{
	return t->has_row && !t->closed_us && !t->into && !t->was_open &&
	       !incident_set_find(s, t->at);
}

bool incident_set_may_take(const struct incident_set *s, const struct incident_telling *t)
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

static struct incident *add(struct incident_set *s, const struct incident_telling *t)
{
	return incident_set_add(s, &(struct incident){ .id = t->id,
						       .region = t->region,
						       .onset_us = t->onset_us,
						       .last_us = t->last_us,
						       .opened_us = t->opened_us,
						       .closed_us = t->closed_us,
						       .fresh = true });
}

/* What both counted is the same rows; who has seen more of them is right. */
static void match(struct signal *g, const struct incident_remote_signal *q)
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
 * One incident, and another that has a signal of it: what was opened here of the same is the
 * region's; what is of others too goes by age. One that the same region told has lost the signal
 * to this one there, and does here.
 */
static struct incident *meet(struct incident_set *s, struct incident *i, struct incident *other,
			     const struct incident_telling *t)
{
	if (is_told_by(other, t->region))
		return i;
	if (!other->ntold && other->region == t->region)
		return incident_set_merge(s, i, other, t->now_us);
	return incident_set_merge_older(s, i, other, t->now_us);
}

static struct incident *take_signal(struct incident_set *s, struct incident *i, bool fresh,
				    const struct incident_telling *t,
				    const struct incident_remote_signal *q)
{
	struct signal *g = incident_set_signal(s, q->node, q->app, q->route, q->class);
	struct incident *of = g ? incident_set_target(s, g->of) : NULL;
	bool is_new = of != i;

	if (!g || (is_new && of && !of->closed_us && !fresh))
		return i; /* it was split off here, or is another's by what is seen here */
	g->clock_us = q->clock_us;
	if (is_new && of && !of->closed_us)
		i = meet(s, i, of, t);
	if (incident_set_target(s, g->of) != i || (!g->active && !i->closed_us)) {
		if (!g->active)
			signal_begin(g, incident_set_limits(s), i);
		incident_set_attach(i, g);
	}
	match(g, q);
	if (i->closed_us)
		signal_end(g); /* what it had is counted */
	if (!is_new)
		return i;
	g->dirty = true;
	i->rank_us = 0;
	i->rank_gap_us = RANK_GAP_S * INCIDENT_SEC;
	incident_set_step(s, i, fresh ? t->opened_us : t->now_us,
			  fresh && i->nsignals == 1 ? "opened" : "joined", g, NULL);
	return i;
}

/* Of those that went on at the same time, in reach, and that its region did not keep apart. */
static struct incident *join(struct incident_set *s, struct incident *i,
			     const struct incident_telling *t)
{
	int64_t gap = incident_set_limits(s)->join_s * INCIDENT_SEC;

	for (size_t k = 0; k < incident_set_count_of(s); k++) {
		struct incident *j = incident_set_target(s, incident_set_at(s, k));

		if (!j || j == i || !j->closed_us != !i->closed_us || is_told_by_same(i, j) ||
		    (i->apart && j->apart) || i->onset_us - j->last_us > gap ||
		    j->onset_us - i->last_us > gap ||
		    !incident_reaches(incident_set_at(s, k), t->near, t->nnear))
			continue;
		i = incident_set_merge_older(s, i, j, t->now_us);
	}
	return i;
}

static bool has_more(const struct incident *i, const struct incident_telling *t)
{
	for (size_t k = 0; k < i->nsignals; k++) {
		bool told = !i->signal[k]->active;

		for (size_t n = 0; n < t->nsignals && !told; n++)
			told = t->signal[n].node == i->signal[k]->node;
		if (!told)
			return true;
	}
	return false;
}

static bool is_of_one(const struct incident *i, uint64_t region)
{
	return i->ntold == 0 || (i->ntold == 1 && i->told[0] == region);
}

static void hold(struct incident_set *s, struct incident *i, const struct incident_telling *t)
{
	bool open = !t->closed_us && !t->into;

	if (open && !t->was_open)
		i->held++;
	if (!open && t->was_open && i->held)
		i->held--;
	if (t->closed_us && t->was_open && !i->closed_us && !i->held && !has_more(i, t)) {
		incident_set_close(s, i, t->closed_us > i->onset_us ? t->closed_us : i->onset_us);
		if (is_of_one(i, t->region)) /* what was counted until this came is after its end */
			i->last_us = t->last_us;
	}
	if (!is_told_by(i, t->region) && i->ntold < INCIDENT_TOLD)
		i->told[i->ntold++] = t->region;
	i->dirty = true;
}

/* It became a part of another one there. */
static struct incident *take_merged(struct incident_set *s, const struct incident_telling *t)
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

static void reopen(struct incident_set *s, struct incident *i, int64_t at_us)
{
	i->closed_us = 0;
	i->rank_us = 0;
	i->rank_gap_us = RANK_GAP_S * INCIDENT_SEC;
	incident_set_step(s, i, at_us, "reopened", NULL, NULL);
}

struct incident *incident_set_take(struct incident_set *s, const struct incident_telling *t)
{
	struct incident *i;
	bool fresh;

	if (t->into)
		return take_merged(s, t);
	i = incident_set_target(s, incident_set_find(s, t->at));
	if (!i && t->has_row)
		return NULL; /* long over */
	fresh = !i;
	if (fresh)
		i = add(s, t);
	else if (i->id == t->id && !i->ntold)
		i->onset_us = t->onset_us; /* opened here, too: by its clock there it is known */
	if (i->closed_us && !t->closed_us && !t->was_open)
		reopen(s, i, t->now_us);
	if (fresh || i->closed_us == 0)
		for (size_t k = 0; k < t->nsignals; k++)
			i = take_signal(s, i, fresh, t, &t->signal[k]);
	if (t->last_us > i->last_us)
		i->last_us = t->last_us;
	hold(s, i, t);
	return join(s, i, t);
}
