// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/model/incident_set.h"

#include <stdio.h>

#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "collector/core/pairmap.h"

enum { HELD_S = 3600 };

struct incident_set {
	const struct incident_limits *limits;
	const struct incident_steps *steps;
	struct pairmap *signals; /* struct signal by id */
	struct incident **incident;
	size_t n;
};

struct incident_set *incident_set_new(const struct incident_limits *limits,
				      const struct incident_steps *steps)
{
	struct incident_set *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->limits = limits;
	s->steps = steps;
	s->signals = pairmap_new(sizeof(struct signal));
	return s;
}

static void free_texts(struct signal *g)
{
	free(g->app);
	free(g->route);
}

static bool drop_signal(void *arg UNUSED, uint64_t a UNUSED, uint64_t b UNUSED, void *value)
{
	free_texts(value);
	return false;
}

static void free_incident(struct incident *i)
{
	free(i->signal);
	buf_free(&i->step_rows);
	free(i);
}

void incident_set_free(struct incident_set *s)
{
	if (!s)
		return;
	pairmap_each(s->signals, drop_signal, NULL);
	pairmap_free(s->signals);
	for (size_t i = 0; i < s->n; i++)
		free_incident(s->incident[i]);
	free(s->incident);
	free(s);
}

static char *copy_text(const char *text)
{
	char *p = strdup(text);

	if (!p)
		die("out of memory");
	return p;
}

static uint64_t signal_id(uint64_t node, const char *app, const char *route, const char *class)
{
	uint64_t h = hash_add(HASH_START, &node, sizeof(node));

	return hash_end(hash_add_str(hash_add_str(hash_add_str(h, app), route), class));
}

struct signal *incident_set_signal_of(const struct incident_set *s, uint64_t node, const char *app,
				      const char *route, const char *class)
{
	return pairmap_find(s->signals, signal_id(node, app, route, class), 0);
}

struct signal *incident_set_signal(struct incident_set *s, uint64_t node, const char *app,
				   const char *route, const char *class)
{
	uint64_t id = signal_id(node, app, route, class);
	struct signal *g = pairmap_find(s->signals, id, 0);

	if (g)
		return g;
	if (pairmap_count(s->signals) >= INCIDENT_SIGNALS)
		return NULL;
	g = pairmap_add(s->signals, id, 0);
	g->id = id;
	g->node = node;
	g->app = copy_text(app);
	g->route = copy_text(route);
	snprintf(g->class, sizeof(g->class), "%s", class);
	g->kind = signal_kind_of(class);
	return g;
}

struct signal *incident_set_count(struct incident_set *s, const struct incident_row *r, bool *full)
{
	char class[SIGNAL_CLASS];
	struct signal *g;

	signal_class(r, class);
	if (!signal_is_relevant(r, class))
		return NULL;
	g = incident_set_signal(s, r->node, r->app, r->route, class);
	*full = !g;
	if (!g)
		return NULL;
	signal_count(g, s->limits, r);
	return g;
}

struct due_list {
	struct incident_set *set;
	int64_t now_us;
	struct signal **out;
	size_t n, max;
};

static bool collect_due(void *arg, uint64_t a UNUSED, uint64_t b UNUSED, void *value)
{
	struct due_list *d = arg;
	struct signal *g = value;

	if (d->n < d->max && signal_is_due(g, d->set->limits, d->now_us))
		d->out[d->n++] = g;
	return true;
}

size_t incident_set_due(struct incident_set *s, int64_t now_us, struct signal **out, size_t max)
{
	struct due_list d = { s, now_us, out, 0, max };

	pairmap_each(s->signals, collect_due, &d);
	return d.n;
}

static void detach_signal(struct signal *g)
{
	struct incident *i = g->of;

	for (size_t k = 0; i && k < i->nsignals; k++)
		if (i->signal[k] == g) {
			i->signal[k] = i->signal[--i->nsignals];
			break;
		}
	g->of = NULL;
}

void incident_set_attach(struct incident *i, struct signal *g)
{
	if (g->of != i) {
		detach_signal(g);
		i->signal = realloc(i->signal, (i->nsignals + 1) * sizeof(struct signal *));
		if (!i->signal)
			die("out of memory");
		i->signal[i->nsignals++] = g;
		g->of = i;
	}
	g->active = !i->closed_us;
}

struct incident *incident_set_add(struct incident_set *s, const struct incident *of)
{
	struct incident *i = malloc(sizeof(*i));

	s->incident = realloc(s->incident, (s->n + 1) * sizeof(struct incident *));
	if (!s->incident || !i)
		die("out of memory");
	*i = *of;
	s->incident[s->n++] = i;
	return i;
}

void incident_set_step(struct incident_set *s, struct incident *i, int64_t at_us, const char *kind,
		       const struct signal *g, const struct incident *other)
{
	s->steps->on_step(s->steps->arg, i, at_us, kind, g, other);
	i->dirty = true;
}

void incident_set_close(struct incident_set *s, struct incident *i, int64_t at_us)
{
	i->closed_us = at_us;
	/* a signal that ended earlier may have counted a new fault since */
	for (size_t k = 0; k < i->nsignals; k++)
		if (i->signal[k]->active)
			signal_end(i->signal[k]);
	incident_set_step(s, i, at_us, "closed", NULL, NULL);
}

/* Its region reports it as open, and was heard within HELD_S. */
static bool is_held(const struct incident *i, int64_t now_us)
{
	return i->held && now_us - i->last_us <= HELD_S * INCIDENT_SEC;
}

static void forget_incident(struct incident_set *s, size_t at)
{
	struct incident *i = s->incident[at];

	while (i->nsignals)
		detach_signal(i->signal[0]);
	free_incident(i);
	s->incident[at] = s->incident[--s->n];
}

void incident_set_pass(struct incident_set *s, uint64_t region, int64_t now_us)
{
	int64_t quiet = s->limits->quiet_s * INCIDENT_SEC;
	size_t k = 0;

	while (k < s->n) {
		struct incident *i = s->incident[k];

		if (i->region == region && !i->closed_us && !is_held(i, now_us) &&
		    now_us - i->last_us > quiet)
			incident_set_close(s, i, i->last_us + quiet);
		if (i->region == region && i->closed_us && (!i->dirty || i->retry_ns) &&
		    (i->into || now_us - i->closed_us > s->limits->reopen_s * INCIDENT_SEC))
			forget_incident(s, k);
		else
			k++;
	}
}

struct silence {
	const struct incident_set *set;
	int64_t now_us;
};

static bool is_heard(void *arg, uint64_t a UNUSED, uint64_t b UNUSED, void *value)
{
	const struct silence *q = arg;
	struct signal *g = value;

	if (g->of || q->now_us - g->last_us <=
			     (2 * q->set->limits->window_s + INCIDENT_LATE_S) * INCIDENT_SEC)
		return true;
	free_texts(g);
	return false;
}

void incident_set_forget(struct incident_set *s, int64_t now_us)
{
	struct silence q = { s, now_us };

	pairmap_each(s->signals, is_heard, &q);
}

const struct incident_limits *incident_set_limits(const struct incident_set *s)
{
	return s->limits;
}

size_t incident_set_count_of(const struct incident_set *s)
{
	return s->n;
}

struct incident *incident_set_at(const struct incident_set *s, size_t i)
{
	return s->incident[i];
}

struct incident *incident_set_find(const struct incident_set *s, uint64_t id)
{
	for (size_t k = 0; k < s->n; k++)
		if (s->incident[k]->id == id)
			return s->incident[k];
	return NULL;
}
