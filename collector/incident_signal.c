// SPDX-License-Identifier: Apache-2.0
#include "incident_signal.h"

#include <math.h>
#include <stdio.h>

#include "../lib/reason.h"

enum { HTTP_ERROR = 500, JUDGE_GAP_S = 5, AGAIN_S = 20, LEAST_S = 60, UNCOUNTED_S = 30 };
enum { LASTS_S = 10, RISEN = 5, LIMIT_FIRST = 100, LIMIT_OVER = 3, SIGMAS = 3 };
enum { BUCKET_US = SIGNAL_BUCKET_S * 1000000, RISE = 4, FALL_US = 3 * BUCKET_US, FALL_LEAST = 8 };
static const double RISE_GAIN = 1.92; /* half of what chi squared of one degree passes in 1 of 20 */

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
	int64_t number = begin_us / BUCKET_US;
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
		int64_t begin = b->number * BUCKET_US;

		if (!b->n || begin < since_us || begin + BUCKET_US > until_us)
			continue;
		w.n += b->n;
		w.excess_us += b->excess_us;
		w.first_us = b->first_us < w.first_us ? b->first_us : w.first_us;
	}
	return w;
}

int64_t signal_since(const struct signal *g, const struct incident_limits *l)
{
	return (g->last_us / BUCKET_US - l->window_s / SIGNAL_BUCKET_S) * BUCKET_US;
}

static struct window whole_window(const struct signal *g, const struct incident_limits *l)
{
	return window_of(g, signal_since(g, l), INT64_MAX);
}

/* Of n within that time, at their likeliest rate; less what is the same however they are split. */
static double log_likelihood(double n, int64_t us)
{
	return n * log(n / (double)us);
}

static int64_t bucket_end(const struct signal_bucket *b)
{
	return (b->number + 1) * BUCKET_US;
}

static bool is_steep(double most_before, const struct signal_bucket *b)
{
	return b->n * (double)BUCKET_US >=
	       RISE * most_before * (double)(bucket_end(b) - b->first_us);
}

/*
 * A request that was slow by itself, minutes before, is in the window of a fault, and not of it.
 * That begins where the rate of a Poisson process changes: at the likeliest such place, if the
 * change is no chance, and steep (what grows slowly began with its first), and what is left enough.
 */
static const struct signal_bucket *rise(const struct signal_bucket *const *b, int n, double all,
					double enough)
{
	int64_t begin = b[0]->first_us, end = bucket_end(b[n - 1]);
	double most = 0, before = 0, least = RISE_GAIN + log_likelihood(all, end - begin);
	int best = 0;

	for (int i = 1; i < n; i++) {
		double likely;

		before += b[i - 1]->n;
		most = fmax(most, b[i - 1]->n);
		likely = log_likelihood(before, b[i]->first_us - begin) +
			 log_likelihood(all - before, end - b[i]->first_us);
		if (all - before < enough || likely < least || !is_steep(most, b[i]))
			continue;
		least = likely;
		best = i;
	}
	return b[best];
}

int64_t signal_rises(const struct signal *g, const struct incident_limits *l)
{
	const struct signal_bucket *in[SIGNAL_BUCKETS];
	int64_t first = signal_since(g, l) / BUCKET_US;
	double all = 0;
	int n = 0;

	for (int64_t i = first; i < first + SIGNAL_BUCKETS; i++) {
		const struct signal_bucket *b = &g->bucket[(uint64_t)i % SIGNAL_BUCKETS];

		if (!b->n || b->number != i)
			continue;
		in[n++] = b;
		all += b->n;
	}
	if (n == 0)
		return signal_since(g, l);
	return rise(in, n, all, (double)l->least_events)->number * BUCKET_US;
}

static struct window fault_window(const struct signal *g, const struct incident_limits *l)
{
	return window_of(g, signal_rises(g, l), INT64_MAX);
}

int64_t signal_begins(const struct signal *g, const struct incident_limits *l)
{
	return fault_window(g, l).first_us;
}

static bool is_enough(const struct incident_limits *l, const struct signal *g,
		      const struct window *w)
{
	if (w->n < (uint64_t)l->least_events)
		return false;
	return g->kind == SIGNAL_ERROR ||
	       w->excess_us >= (double)(w->n * (uint64_t)l->least_excess_ms * 1000);
}

/* As is_risen() wants it, by how often the route was asked of late: then it is judged at once. */
static bool is_often(const struct incident_limits *l, const struct signal *g)
{
	int64_t since = (g->last_us / BUCKET_US - 1) * BUCKET_US;
	double least = RISEN * (double)g->least * 2 * SIGNAL_BUCKET_S / (double)l->window_s;

	return (double)window_of(g, since, INT64_MAX).n > least / 2; /* the last one goes on */
}

bool signal_is_due(const struct signal *g, const struct incident_limits *l, int64_t now_us)
{
	struct window w;

	if (g->judge_us > now_us)
		return false;
	if (g->active)
		return strcmp(g->class, SIGNAL_MEAN) != 0; /* whose runs end by themselves */
	w = whole_window(g, l);
	if (w.n < g->least && !is_often(l, g) && now_us - g->judge_us < LEAST_S * INCIDENT_SEC)
		return false;
	return is_enough(l, g, &w);
}

/* With the bucket in which the counts end: all of it would come too late. */
static bool is_risen(const struct incident_limits *l, const struct signal *g,
		     struct incident_asked asked)
{
	struct window w = window_of(g, signal_rises(g, l), asked.until_us + BUCKET_US);
	int64_t until = g->last_us < asked.until_us ? g->last_us : asked.until_us;

	return is_enough(l, g, &w) && until - w.first_us >= LASTS_S * INCIDENT_SEC &&
	       (double)w.n * 100 >= RISEN * (double)l->least_percent * asked.risen;
}

/*
 * A fault that is over stays in the window, and one slow request now and then would be a part of
 * it. It has ended when, as long ago as they take, less than a quarter came of what comes of it in
 * half a minute, by no chance (Poisson: of 8 at most one in 1 of 300 cases). Failures tell no time.
 */
static bool has_fallen(const struct incident_limits *l, const struct signal *g, int64_t until_us)
{
	struct window all = whole_window(g, l);
	int64_t took = all.n ? (int64_t)(all.excess_us / (double)all.n) : 0;
	int64_t until = (until_us - took) / BUCKET_US * BUCKET_US, since = until - FALL_US;
	struct window before = window_of(g, signal_rises(g, l), since);
	double expected;

	if (g->kind != SIGNAL_SLOW || !before.n)
		return false;
	expected = (double)before.n * FALL_US / (double)(since - before.first_us);
	return expected >= FALL_LEAST && (double)window_of(g, since, until).n * RISE < expected;
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
	if (g->active && has_fallen(l, g, asked.until_us))
		return false;
	if (is_enough(l, g, &w) && (double)w.n >= share * asked.n)
		return true;
	if (!g->active && asked.risen > 0 && is_risen(l, g, asked))
		return true;
	g->least = (uint64_t)(share * asked.n * 0.8); /* of a busy route not each row asks */
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
	g->ended_us = g->last_us;
	memset(g->bucket, 0, sizeof(g->bucket)); /* what comes after it is counted anew */
}

/* It counts from the begin of its fault, on to what it had in the same incident. */
void signal_begin(struct signal *g, const struct incident_limits *l, const struct incident *in)
{
	struct window w = fault_window(g, l);
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
