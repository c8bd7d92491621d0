// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>

#include "lib/wire/reason.h"
#include "collector/incident/model/incident_window.h"

enum { HTTP_ERROR = 500, JUDGE_GAP_S = 5, AGAIN_S = 20, LEAST_S = 60, UNCOUNTED_S = 30 };
enum { LASTS_S = 10, RISEN = 5, LIMIT_FIRST = 100, LIMIT_OVER = 3, SIGMAS = 3 };
enum { FALL = 4, FALL_US = 3 * BUCKET_US, FALL_LEAST = 8 };

static const char NODE_FAILED[] = "error", UPSTREAM_FAILED[] = "error.up";

/* The class as an operator would name it: io, cpu, up; for failures, own or upstream. */
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

/* A signal with rows knows what its requests waited for, so it comes first. Both are slow; than
 * may be NULL. */
static bool is_better_headline(const struct signal *g, const struct signal *than)
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

		if (g->kind == SIGNAL_SLOW && is_better_headline(g, slow))
			slow = g;
		if (g->kind == SIGNAL_ERROR && (!failed || g->n > failed->n))
			failed = g;
	}
	return slow ? slow : failed;
}

/* Keeps the worst samples; of failures the first ones, as their times mean nothing. */
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

int64_t signal_collector_us(const struct signal *g, int64_t own_us)
{
	return own_us + g->clock_us;
}

static void add_total(struct signal *g, const struct window_events *w)
{
	int64_t last_us = signal_collector_us(g, g->last_us);

	g->n += w->n;
	g->excess_us += w->excess_us;
	g->dirty = true;
	if (w->begin_us < g->first_us)
		g->first_us = w->begin_us;
	if (last_us > g->of->last_us) {
		g->of->last_us = last_us;
		g->of->dirty = true;
	}
}

/* Without a normal time slowness is unknown; and a slow client is no fault here. */
bool signal_is_relevant(const struct incident_row *r, const char *class)
{
	return signal_kind_of(class) == SIGNAL_ERROR ||
	       (r->normal_us > 0 && r->reason != R_CLIENT_SLOW);
}

/* Samples from before a long silence belong to something else. */
static void begin_anew(const struct incident_limits *l, struct signal *g,
		       const struct incident_row *r)
{
	if (!g->of && r->begin_us - g->last_us > l->window_s * INCIDENT_SEC)
		memset(g->worst, 0, sizeof(g->worst));
}

/* Whether the row belongs to what has ended: its own part of an open incident, or a closed
 * incident. */
static bool is_late(const struct signal *g, int64_t begin_us)
{
	if (!g->of || g->active)
		return false;
	return g->of->closed_us ? signal_collector_us(g, begin_us) <= g->of->last_us
				: begin_us <= g->ended_us;
}

void signal_count(struct signal *g, const struct incident_limits *l, const struct incident_row *r)
{
	bool late = is_late(g, r->begin_us);
	struct window_events one = { .begin_us = r->begin_us, .n = 1, .took_us = r->total_us };

	if (g->kind == SIGNAL_SLOW && r->total_us > r->normal_us)
		one.excess_us = (double)(r->total_us - r->normal_us);
	begin_anew(l, g, r);
	if (!late)
		window_put(g, &one);
	if (r->begin_us + r->total_us > g->last_us)
		g->last_us = r->begin_us + r->total_us;
	if (r->old)
		return;
	keep_sample(g, r, one.excess_us);
	if (g->active || late)
		add_total(g, &one);
}

void signal_count_mean(struct signal *g, const struct incident_slowdown *m)
{
	const struct window_events all = { .begin_us = m->begin_us,
					   .n = m->n,
					   .excess_us = m->excess_us };

	window_put(g, &all);
	if (m->end_us > g->last_us)
		g->last_us = m->end_us;
	if (g->active)
		add_total(g, &all);
}

static bool is_enough(const struct incident_limits *l, const struct signal *g,
		      const struct window *w)
{
	if (w->n < (uint64_t)l->least_events)
		return false;
	return g->kind == SIGNAL_ERROR ||
	       w->excess_us >= (double)(w->n * (uint64_t)l->least_excess_ms * 1000);
}

/* Whether the last requests are as frequent as is_risen() requires: then the signal is judged at
 * once. */
static bool is_often(const struct incident_limits *l, const struct signal *g)
{
	int64_t since = (g->last_us / BUCKET_US - 1) * BUCKET_US;
	double least = RISEN * (double)g->least * 2 * SIGNAL_BUCKET_S / (double)l->window_s;

	return (double)window_of(g, since, INT64_MAX).n >
	       least / 2; /* the last bucket is still filling */
}

bool signal_is_due(const struct signal *g, const struct incident_limits *l, int64_t now_us)
{
	struct window w;

	if (g->judge_us > now_us)
		return false;
	if (g->active)
		return strcmp(g->class, SIGNAL_MEAN) != 0; /* their runs end without judging */
	w = window_whole(g, l);
	if (w.n < g->least && !is_often(l, g) && now_us - g->judge_us < LEAST_S * INCIDENT_SEC)
		return false;
	return is_enough(l, g, &w);
}

/* Includes the bucket in which the counts end: waiting for all of it would be too late. */
static bool is_risen(const struct incident_limits *l, const struct signal *g,
		     struct signal_requests asked)
{
	struct window w = window_of(g, signal_rise_start(g, l), asked.until_us + BUCKET_US);
	int64_t until = g->last_us < asked.until_us ? g->last_us : asked.until_us;

	return is_enough(l, g, &w) && until - w.first_us >= LASTS_S * INCIDENT_SEC &&
	       (double)w.n * 100 >= RISEN * (double)l->least_percent * asked.risen;
}

/*
 * A fault that is over stays in the window, where an occasional slow request would seem part of
 * it. It has ended when in half a minute, ending as long ago as requests take at most, less than
 * a quarter of the expected events came, and not by chance (Poisson: with 8 expected, 1 in 300
 * cases). Failures have no meaningful time.
 */
static bool has_fallen(const struct incident_limits *l, const struct signal *g, int64_t until_us)
{
	int64_t took = window_whole(g, l).longest_ms * INT64_C(1000);
	int64_t until = (until_us - took) / BUCKET_US * BUCKET_US, since = until - FALL_US;
	struct window before = window_of(g, signal_rise_start(g, l), since);
	int64_t lasted = since - before.first_us;
	double expected = (double)before.n;

	if (g->kind != SIGNAL_SLOW || !before.n)
		return false;
	if (lasted > FALL_US) /* of a shorter fault the rate is unknown */
		expected *= (double)FALL_US / (double)lasted;
	return expected >= FALL_LEAST && (double)window_of(g, since, until).n * FALL < expected;
}

/*
 * Rows arrive before the requests of their time are counted, so only rows within the counted
 * time count. For a route without counts the rows alone decide, once no more can come.
 */
bool signal_judge(struct signal *g, const struct incident_limits *l, struct signal_requests asked,
		  int64_t now_us)
{
	bool uncounted = now_us - signal_collector_us(g, g->last_us) > UNCOUNTED_S * INCIDENT_SEC;
	int64_t until = uncounted ? INT64_MAX : asked.until_us;
	struct window w = window_of(g, signal_window_start(g, l), until);
	double share = (double)l->least_percent / 100;

	g->judge_us = now_us + (g->active ? AGAIN_S : JUDGE_GAP_S) * INCIDENT_SEC;
	if (g->active && !uncounted && asked.until_us < g->last_us - AGAIN_S * INCIDENT_SEC)
		return true; /* its requests are not counted yet */
	if (g->active && has_fallen(l, g, asked.until_us))
		return false;
	if (is_enough(l, g, &w) && (double)w.n >= share * asked.n)
		return true;
	/* also if active: it takes long until a fault is a share of the whole window */
	if (asked.risen > 0 && is_risen(l, g, asked))
		return true;
	g->least = (uint64_t)(share * asked.n *
			      0.8); /* so that on a busy route not every row causes a query */
	return false;
}

/*
 * 2 of n requests exceed the learnt limit (baseline.h), and of those that follow 3 of n do, if
 * they are alike. Requests change, so twice that number is still taken as chance.
 */
bool signal_is_chance(const struct signal *g, const struct incident_limits *l, double asked,
		      double before)
{
	double n = before > LIMIT_FIRST ? before : LIMIT_FIRST;
	double m = 2 * LIMIT_OVER * asked / n;

	return g->kind == SIGNAL_SLOW && (double)window_whole(g, l).n < m + SIGMAS * sqrt(m);
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

/* Occasional events, as they happen without a fault, must not keep an incident open. */
void signal_end(struct signal *g)
{
	g->active = false;
	g->ended_us = g->last_us;
	memset(g->bucket, 0, sizeof(g->bucket)); /* later events are counted anew */
}

/* Counts from the begin of the fault, added to what the signal had in the same incident. */
void signal_begin(struct signal *g, const struct incident_limits *l, const struct incident *in)
{
	struct window w = window_of_fault(g, l);
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
