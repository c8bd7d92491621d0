// SPDX-License-Identifier: Apache-2.0
/* rank_scene.h - hosts and the sums red counted for them, for tests of the ranking. */
#pragma once

#include "tests/lib/test.h"

#include "collector/incident/rank/incident_rank.h"

/* Hosts of the scenes: a front, two apps behind it, a database behind the first app, an external
 * host. */
enum { FRONT, APP, OTHER, DB, OUTSIDE, HOSTS };

enum { MOST = 32 };

struct scene {
	struct rank_sum sum[MOST];
	struct rank_host host[HOSTS];
	size_t n;
	struct rank rank;
};

static struct rank_sum *add(struct scene *s, enum rank_role role, int host, int other)
{
	struct rank_sum *sum = &s->sum[s->n++];

	*sum = (struct rank_sum){ .role = role, .host = host, .other = other };
	return sum;
}

/* 100 requests now, each ms too long; 1,000 before, each before_ms. */
static void time_of(struct scene *s, enum rank_role role, int host, int other, double ms,
		    double before_ms)
{
	struct rank_sum *sum = add(s, role, host, other);

	sum->n = sum->judged = 100;
	sum->us = sum->excess = 100 * ms * 1000;
	sum->n_before = sum->judged_before = 1000;
	sum->us_before = sum->excess_before = 1000 * before_ms * 1000;
}

static UNUSED void errors_of(struct scene *s, enum rank_role role, int host, int other, double n)
{
	struct rank_sum *sum = add(s, role, host, other);

	sum->n = sum->n_before = 100;
	sum->errors = n;
}

static const struct rank *ranked(struct scene *s, bool errors)
{
	const struct rank_input in = { s->sum, s->n, s->host, HOSTS };

	s->host[OUTSIDE].external = true;
	(errors ? rank_errors : rank_time)(&in, &s->rank);
	return &s->rank;
}

/* FRONT calls APP, which calls DB. The arguments give where each ms arose; all hosts above saw
 * it. */
static UNUSED void chain(struct scene *s, double front, double app, double db, double way)
{
	double at_db = db, at_app = app + way + at_db, at_front = front + at_app;

	time_of(s, RANK_OWN, FRONT, -1, front, 0);
	time_of(s, RANK_OWN, APP, -1, app, 0);
	time_of(s, RANK_OWN, DB, -1, db, 0);
	time_of(s, RANK_SERVER, FRONT, -1, at_front, 0);
	time_of(s, RANK_SERVER, APP, -1, at_app, 0);
	time_of(s, RANK_SERVER, DB, -1, at_db, 0);
	time_of(s, RANK_CALL, FRONT, APP, at_app, 0);
	time_of(s, RANK_CALL, APP, DB, at_db + way, 0);
	time_of(s, RANK_SERVED, APP, FRONT, at_app, 0);
	time_of(s, RANK_SERVED, DB, APP, at_db, 0);
}
