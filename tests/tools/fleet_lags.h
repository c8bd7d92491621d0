// SPDX-License-Identifier: Apache-2.0
/* fleet_lags.h - from when each batch of fleet.c was due to its ACK. */
#pragma once

#include <stdio.h>

#include "lib/base/base.h"

static const double FLEET_LATE_MS = 2000;

struct fleet_lag {
	uint64_t at_ns; /* of the ACK */
	double ms;
};

struct fleet_lags {
	struct fleet_lag *lag; /* in the order of at_ns */
	size_t n, room;
};

static void fleet_note_lag(struct fleet_lags *l, uint64_t now, uint64_t due)
{
	if (l->n == l->room) {
		l->room = l->room * 2 + 1024;
		l->lag = realloc(l->lag, l->room * sizeof(*l->lag));
		if (!l->lag)
			abort();
	}
	l->lag[l->n++] = (struct fleet_lag){ now, (double)(now - due) / 1e6 };
}

/* How many were before a storm; without one (0) all. */
static size_t fleet_lags_before(const struct fleet_lags *l, uint64_t storm_ns)
{
	size_t n = 0;

	while (n < l->n && (!storm_ns || l->lag[n].at_ns < storm_ns))
		n++;
	return n;
}

static uint64_t fleet_last_late(const struct fleet_lags *l, size_t from, uint64_t late_ns)
{
	for (size_t i = from; i < l->n; i++)
		if (l->lag[i].ms > FLEET_LATE_MS)
			late_ns = l->lag[i].at_ns;
	return late_ns;
}

static int fleet_by_ms(const void *a, const void *b)
{
	const struct fleet_lag *x = a, *y = b;

	return (x->ms > y->ms) - (x->ms < y->ms);
}

static void fleet_tell_lags(const char *when, struct fleet_lag *l, size_t n)
{
	if (!n)
		return;
	qsort(l, n, sizeof(*l), fleet_by_ms);
	printf("%s_lag_p50_ms %.0f\n%s_lag_p99_ms %.0f\n%s_lag_max_ms %.0f\n", when, l[n / 2].ms,
	       when, l[n * 99 / 100].ms, when, l[n - 1].ms);
}
