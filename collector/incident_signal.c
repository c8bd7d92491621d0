// SPDX-License-Identifier: Apache-2.0
#include "incident_signal.h"

#include <math.h>
#include <stdio.h>

#include "../lib/reason.h"

enum { HTTP_ERROR = 500, JUDGE_GAP_S = 5, AGAIN_S = 20, LEAST_S = 60, UNCOUNTED_S = 30 };
enum { LIMIT_FIRST = 100, LIMIT_OVER = 3, SIGMAS = 3 };

static const char NODE_FAILED[] = "error", UPSTREAM_FAILED[] = "error.up";

/* What an operator would call it: io, cpu, up; and of what failed whose failure it is. */
void signal_class(const struct incident_row *r, char class[static SIGNAL_CLASS])
{
	const struct reason *reason = reason_find(r->reason);
	const char *code = reason ? reason->code : "unknown";
	bool up = strncmp(code, "up.", 3) == 0;

	if (r->status >= HTTP_ERROR || r->status == 0)
		snprintf(class, SIGNAL_CLASS, "%s", up ? UPSTREAM_FAILED : NODE_FAILED);
	else
		snprintf(class, SIGNAL_CLASS, "%.*s", (int)strcspn(code, "."), code);
}

enum signal_kind signal_kind_of(const char *class)
{
	return strncmp(class, NODE_FAILED, strlen(NODE_FAILED)) == 0 ? SIGNAL_ERROR : SIGNAL_SLOW;
}

bool signal_is_own(const char *class)
{
	return strcmp(class, "up") != 0 && strcmp(class, UPSTREAM_FAILED) != 0 &&
	       strcmp(class, "client") != 0 && strcmp(class, "unknown") != 0 &&
	       strcmp(class, SIGNAL_MEAN) != 0;
}

/* One with rows says what its requests waited for. Both are slow; than may be NULL. */
static bool says_more(const struct signal *g, const struct signal *than)
{
	bool rows = strcmp(g->class, SIGNAL_MEAN) != 0;

	if (!than || rows != (strcmp(than->class, SIGNAL_MEAN) != 0))
		return !than || rows;
	return g->excess_us > than->excess_us;
}

const struct signal *signal_headline(const struct incident *i)
{
	const struct signal *slow = NULL, *failed = NULL;

	for (size_t k = 0; k < i->nsignals; k++) {
		const struct signal *g = i->signal[k];

		if (g->kind == SIGNAL_SLOW && says_more(g, slow))
			slow = g;
		if (g->kind == SIGNAL_ERROR && (!failed || g->n > failed->n))
			failed = g;
	}
	return slow ? slow : failed;
}

/* The worst first; of what failed the first ones, as their times say nothing. */
static void keep_sample(struct signal *g, const struct incident_row *r, double value)
{
	int i = SIGNAL_WORST - 1;

	if (g->worst[i].id && value <= g->worst[i].value)
		return;
	for (; i > 0 && (!g->worst[i - 1].id || g->worst[i - 1].value < value); i--)
		g->worst[i] = g->worst[i - 1];
	g->worst[i] = (struct signal_sample){ r->begin_us, r->id, value };
	if (i == 0)
		g->reason = r->reason;
}

static void put_bucket(struct signal *g, int64_t begin_us, uint32_t n, double excess)
{
	int64_t number = begin_us / (SIGNAL_BUCKET_S * INCIDENT_SEC);
	struct signal_bucket *b = &g->bucket[(uint64_t)number % SIGNAL_BUCKETS];

	if (b->number > number)
		return;
	if (b->number < number || !b->n)
		*b = (struct signal_bucket){ .number = number, .first_us = begin_us };
	if (begin_us < b->first_us)
		b->first_us = begin_us;
	b->n += n;
	b->excess_us += excess;
}

int64_t signal_here(const struct signal *g, int64_t own_us)
{
	return own_us + g->clock_us;
}

static void put_total(struct signal *g, int64_t begin_us, uint32_t n, double excess)
{
	int64_t last_us = signal_here(g, g->last_us);

	g->n += n;
	g->excess_us += excess;
	g->dirty = true;
	if (begin_us < g->first_us)
		g->first_us = begin_us;
	if (last_us > g->of->last_us) {
		g->of->last_us = last_us;
		g->of->dirty = true;
	}
}

/* Slow beyond what nobody knows is not known; and a slow client is nobody's fault here. */
bool signal_says(const struct incident_row *r, const char *class)
{
	return signal_kind_of(class) == SIGNAL_ERROR ||
	       (r->normal_us > 0 && r->reason != R_CLIENT_SLOW);
}

/* Samples from before a long silence are of something else. */
static void begin_anew(const struct incident_limits *l, struct signal *g,
		       const struct incident_row *r)
{
	if (!g->of && r->begin_us - g->last_us > l->window_s * INCIDENT_SEC)
		memset(g->worst, 0, sizeof(g->worst));
}

void signal_count(struct signal *g, const struct incident_limits *l, const struct incident_row *r)
{
	bool late = g->of && !g->active && signal_here(g, r->begin_us) <= g->of->last_us;
	double excess = 0;

	if (g->kind == SIGNAL_SLOW && r->total_us > r->normal_us)
		excess = (double)(r->total_us - r->normal_us);
	begin_anew(l, g, r);
	if (!late)
		put_bucket(g, r->begin_us, 1, excess);
	if (r->begin_us + r->total_us > g->last_us)
		g->last_us = r->begin_us + r->total_us;
	if (r->old)
		return;
	keep_sample(g, r, excess);
	if (g->active || late)
		put_total(g, r->begin_us, 1, excess);
}

void signal_count_mean(struct signal *g, const struct incident_mean *m)
{
	put_bucket(g, m->begin_us, m->n, m->excess_us);
	if (m->end_us > g->last_us)
		g->last_us = m->end_us;
	if (g->active)
		put_total(g, m->begin_us, m->n, m->excess_us);
}

struct window {
	uint64_t n;
	double excess_us;
	int64_t first_us;
};

/* What began within (since, until], by whole buckets. */
static struct window window_of(const struct signal *g, int64_t since_us, int64_t until_us)
{
	struct window w = { .first_us = INT64_MAX };

	for (int i = 0; i < SIGNAL_BUCKETS; i++) {
		const struct signal_bucket *b = &g->bucket[i];
		int64_t begin = b->number * SIGNAL_BUCKET_S * INCIDENT_SEC;

		if (!b->n || begin < since_us || begin + SIGNAL_BUCKET_S * INCIDENT_SEC > until_us)
			continue;
		w.n += b->n;
		w.excess_us += b->excess_us;
		w.first_us = b->first_us < w.first_us ? b->first_us : w.first_us;
	}
	return w;
}

int64_t signal_since(const struct signal *g, const struct incident_limits *l)
{
	int64_t bucket = SIGNAL_BUCKET_S * INCIDENT_SEC;

	return (g->last_us / bucket - l->window_s / SIGNAL_BUCKET_S) * bucket;
}

static struct window whole_window(const struct signal *g, const struct incident_limits *l)
{
	return window_of(g, signal_since(g, l), INT64_MAX);
}

int64_t signal_begins(const struct signal *g, const struct incident_limits *l)
{
	return whole_window(g, l).first_us;
}

static bool is_enough(const struct incident_limits *l, const struct signal *g,
		      const struct window *w)
{
	if (w->n < (uint64_t)l->least_events)
		return false;
	return g->kind == SIGNAL_ERROR ||
	       w->excess_us >= (double)(w->n * (uint64_t)l->least_excess_ms * 1000);
}

bool signal_is_due(const struct signal *g, const struct incident_limits *l, int64_t now_us)
{
	struct window w;

	if (g->judge_us > now_us)
		return false;
	if (g->active)
		return strcmp(g->class, SIGNAL_MEAN) != 0; /* whose runs end by themselves */
	w = whole_window(g, l);
	if (w.n < g->least && now_us - g->judge_us < LEAST_S * INCIDENT_SEC)
		return false;
	return is_enough(l, g, &w);
}

/*
 * Rows come before what they are a part of is counted, so only those count that are. Of a route
 * that nobody counts they alone count, when it is clear that nothing comes any more.
 */
bool signal_judge(struct signal *g, const struct incident_limits *l, struct incident_asked asked,
		  int64_t now_us)
{
	bool uncounted = now_us - signal_here(g, g->last_us) > UNCOUNTED_S * INCIDENT_SEC;
	int64_t until = uncounted ? INT64_MAX : asked.until_us;
	struct window w = window_of(g, signal_since(g, l), until);
	double share = (double)l->least_percent / 100;

	g->judge_us = now_us + (g->active ? AGAIN_S : JUDGE_GAP_S) * INCIDENT_SEC;
	if (g->active && !uncounted && asked.until_us < g->last_us - AGAIN_S * INCIDENT_SEC)
		return true; /* its requests are not counted yet */
	if (is_enough(l, g, &w) && (double)w.n >= share * asked.n)
		return true;
	g->least = (uint64_t)(share * asked.n *
			      0.8); /* of a busy route it is not asked for each row */
	return false;
}

/*
 * 2 of n are above what is the limit then (baseline.h), and of those that follow 3 of n are, if
 * they are like these: what is asked changes, so of twice as many it is not said that they are too
 * many.
 */
bool signal_is_chance(const struct signal *g, const struct incident_limits *l, double asked,
		      double before)
{
	double n = before > LIMIT_FIRST ? before : LIMIT_FIRST;
	double m = 2 * LIMIT_OVER * asked / n;

	return g->kind == SIGNAL_SLOW && (double)whole_window(g, l).n < m + SIGMAS * sqrt(m);
}

static void drop_samples(struct signal *g, int64_t before_us)
{
	int n = 0;

	for (int i = 0; i < SIGNAL_WORST; i++)
		if (g->worst[i].id && g->worst[i].begin_us >= before_us)
			g->worst[n++] = g->worst[i];
	for (; n < SIGNAL_WORST; n++)
		g->worst[n] = (struct signal_sample){ 0 };
}

/* What goes on now and then, as it does when nothing is wrong, keeps no incident open. */
void signal_end(struct signal *g)
{
	g->active = false;
	memset(g->bucket, 0, sizeof(g->bucket)); /* what comes after it is counted anew */
}

/* It counts from the begin of what it was judged by, on to what it had in the same incident. */
void signal_begin(struct signal *g, const struct incident_limits *l, const struct incident *in)
{
	struct window w = whole_window(g, l);
	bool on = in && g->of == in;

	g->n = (on ? g->n : 0) + w.n;
	g->excess_us = (on ? g->excess_us : 0) + w.excess_us;
	if (!on) {
		g->first_us = w.first_us;
		drop_samples(g, w.first_us);
	}
	g->least = 0;
	g->dirty = true;
}
