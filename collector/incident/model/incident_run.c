// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/model/incident_run.h"

#include <stdlib.h>

enum {
	BEFORE_S = 900,
	BEFORE = 512, /* more than a key has, unless it is new */
	BEFORE_LEAST = 12, /* counts needed for a baseline */
	RUN = 3, /* counts of a run; as many last counts are excluded from the baseline */
	GAP_S = 60, /* largest gap in a run: no requests came */
	SPREADS = 3,
};

static double mean(const struct run_count *c)
{
	return c->excess_us / c->n;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double least_us(const struct incident_limits *l)
{
	return (double)l->least_excess_ms * 1000;
}

/* The limit above which count i is slow; < 0: no baseline outside incidents is known. */
static double limit_us(const struct run_count *c, size_t i, const struct incident_limits *l)
{
	const int64_t until = c[i].ts_us - RUN * RUN_COUNT_S * INCIDENT_SEC;
	double before[BEFORE], spread;
	size_t n = 0;

	for (size_t j = i; j-- > 0 && n < BEFORE;) {
		if (c[j].ts_us <= c[i].ts_us - BEFORE_S * INCIDENT_SEC)
			break;
		if (c[j].incident == RUN_NO_INCIDENT && c[j].ts_us <= until)
			before[n++] = mean(&c[j]);
	}
	if (n < BEFORE_LEAST)
		return -1;
	qsort(before, n, sizeof(before[0]), by_value);
	spread = SPREADS * (before[n * 3 / 4] - before[n / 4]);
	return before[n / 2] + (spread > least_us(l) ? spread : least_us(l));
}

/* The run began within its first count, in the part that is as slow as the next count. */
static int64_t begin_of(const struct run_count *c, size_t first, size_t last)
{
	double part = first < last ? mean(&c[first]) / mean(&c[first + 1]) : 1;

	return c[first].ts_us - (int64_t)((part < 1 ? part : 1) * RUN_COUNT_S * INCIDENT_SEC);
}

bool incident_run(struct run_count *c, size_t i, const struct incident_limits *l,
		  struct incident_slowdown *whole)
{
	const int64_t end = c[i].ts_us, most = (l->window_s - RUN_COUNT_S) * INCIDENT_SEC;
	double limit = mean(&c[i]) >= least_us(l) ? limit_us(c, i, l) : -1;
	struct incident_slowdown run = { .end_us = end };
	int counts = 0;

	if (limit < 0)
		return false;
	for (size_t j = i + 1; j-- > 0; counts++) {
		if (c[j].incident == RUN_CLOSED_INCIDENT || mean(&c[j]) < limit ||
		    end - c[j].ts_us > most ||
		    (counts && c[j + 1].ts_us - c[j].ts_us > GAP_S * INCIDENT_SEC))
			break;
		run.begin_us = begin_of(c, j, i);
		run.n += (uint32_t)c[j].n;
		run.excess_us += c[j].excess_us;
	}
	if (counts < RUN || run.n < (uint64_t)l->least_events)
		return false;
	for (size_t j = i + 1 - (size_t)counts; j <= i; j++)
		c[j].incident =
			c[j].incident == RUN_NO_INCIDENT ? RUN_OPEN_INCIDENT : c[j].incident;
	*whole = run;
	return true;
}
