// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/model/incident_window.h"

#include <math.h>

enum { RISE = 4 };
static const double RISE_GAIN =
	1.92; /* half of the value that chi squared with one degree exceeds in 1 of 20 cases */

void window_put(struct signal *g, const struct window_events *w)
{
	int64_t number = w->begin_us / BUCKET_US;
	struct signal_bucket *b = &g->bucket[(uint64_t)number % SIGNAL_BUCKETS];

	if (b->number > number)
		return;
	if (b->number < number || !b->n)
		*b = (struct signal_bucket){ .number = number, .first_us = w->begin_us };
	if (w->begin_us < b->first_us)
		b->first_us = w->begin_us;
	if (w->took_us / 1000 > b->longest_ms)
		b->longest_ms = (uint32_t)(w->took_us / 1000);
	b->n += w->n;
	b->excess_us += w->excess_us;
}

struct window window_of(const struct signal *g, int64_t since_us, int64_t until_us)
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
		w.longest_ms = b->longest_ms > w.longest_ms ? b->longest_ms : w.longest_ms;
	}
	return w;
}

int64_t signal_window_start(const struct signal *g, const struct incident_limits *l)
{
	return (g->last_us / BUCKET_US - l->window_s / SIGNAL_BUCKET_S) * BUCKET_US;
}

struct window window_whole(const struct signal *g, const struct incident_limits *l)
{
	return window_of(g, signal_window_start(g, l), INT64_MAX);
}

/* The log likelihood of n events in that time at their likeliest rate, without terms that do not
 * depend on the split. */
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
 * A single slow request minutes earlier lies in the window of a fault without belonging to it.
 * The fault begins where the rate of a Poisson process changes: at the likeliest such place, if
 * the change is significant and steep (a slow growth began with its first event), and the rest
 * is enough events.
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

int64_t signal_rise_start(const struct signal *g, const struct incident_limits *l)
{
	const struct signal_bucket *in[SIGNAL_BUCKETS];
	int64_t first = signal_window_start(g, l) / BUCKET_US;
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
		return signal_window_start(g, l);
	return rise(in, n, all, (double)l->least_events)->number * BUCKET_US;
}

struct window window_of_fault(const struct signal *g, const struct incident_limits *l)
{
	return window_of(g, signal_rise_start(g, l), INT64_MAX);
}

int64_t signal_fault_start(const struct signal *g, const struct incident_limits *l)
{
	return window_of_fault(g, l).first_us;
}
