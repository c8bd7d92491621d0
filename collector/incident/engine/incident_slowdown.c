// SPDX-License-Identifier: Apache-2.0
/*
 * incident_slowdown.c - routes and calls that are slower than usual on the whole: each of their
 * requests a little, so that none need be abnormal, and no row tells of it.
 *
 * red says of each ten seconds by how much requests were over their key's usual: a run of counts
 * that are slow by that (incident_run.h) is a signal of the class SIGNAL_MEAN. Nothing is kept from
 * one look to the next but the signal itself: what it has counted it does not count again.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "collector/core/counters.h"
#include "collector/incident/engine/incident_engine.h"
#include "collector/incident/model/incident_rank.h"
#include "collector/incident/model/incident_run.h"

enum {
	COUNTS = 1024, /* of one key */
	RUNS_MAX = 1000,
	LABEL = 1200, /* of a route and of a peer */
};

struct key {
	uint64_t node, key;
	char app[256], route[LABEL], label[LABEL];
	size_t n;
	struct run_count count[COUNTS];
};

struct run {
	uint64_t node;
	char *app, *route, *label; /* label: of a call, where to as well */
	struct incident_slowdown whole, last; /* the last count alone */
};

struct look {
	struct engine *e;
	int64_t since_us;
	struct key key;
	struct run run[RUNS_MAX];
	size_t nruns;
};

static char *copy(const char *s)
{
	char *p = strdup(s);

	if (!p)
		die("out of memory");
	return p;
}

static void judge(struct look *k)
{
	struct key *key = &k->key;

	for (size_t i = 0; i < key->n && k->nruns < RUNS_MAX; i++) {
		const struct run_count *c = &key->count[i];
		struct incident_slowdown whole;

		if (!incident_run(key->count, i, k->e->limits, &whole) || c->ts_us <= k->since_us)
			continue;
		k->run[k->nruns++] = (struct run){
			.node = key->node,
			.app = copy(key->app),
			.route = copy(key->route),
			.label = copy(key->label),
			.whole = whole,
			.last = { c->ts_us - RUN_COUNT_S * INCIDENT_SEC, c->ts_us, (uint32_t)c->n,
				  c->excess_us },
		};
	}
}

static void begin_key(struct key *k, uint64_t node, uint64_t key, const PGresult *row)
{
	k->node = node;
	k->key = key;
	k->n = 0;
	engine_text(k->app, sizeof(k->app), row, 3);
	snprintf(k->route, sizeof(k->route), "%s", PQgetvalue(row, 0, 4));
	if (engine_int8(row, 2) == RANK_CALL)
		snprintf(k->label, sizeof(k->label), "%s to %s", PQgetvalue(row, 0, 4),
			 PQgetvalue(row, 0, 5));
	else
		snprintf(k->label, sizeof(k->label), "%s", PQgetvalue(row, 0, 4));
}

static int on_count(void *arg, const PGresult *row)
{
	struct look *k = arg;
	uint64_t node = (uint64_t)engine_int8(row, 0), key = (uint64_t)engine_int8(row, 1);

	if (!k->key.n || node != k->key.node || key != k->key.key) {
		judge(k);
		begin_key(&k->key, node, key, row);
	}
	if (k->key.n == COUNTS) /* the oldest says least */
		memmove(k->key.count, k->key.count + 1, --k->key.n * sizeof(k->key.count[0]));
	k->key.count[k->key.n++] =
		(struct run_count){ .ts_us = engine_time(row, 6),
				    .n = (double)engine_int8(row, 7),
				    .excess_us = (double)engine_int8(row, 8),
				    .wrong = (enum run_wrong)engine_int8(row, 9) };
	return 0;
}

/* Up to when rows of the same tell of it. */
static int64_t told_until(const struct signal *g, const struct run *r)
{
	if (g->kind != SIGNAL_SLOW || g->node != r->node || strcmp(g->class, SIGNAL_MEAN) == 0 ||
	    strcmp(g->app, r->app) != 0 || strcmp(g->route, r->route) != 0)
		return 0;
	return g->active ? INT64_MAX : g->ended_us;
}

/* Rows that are abnormal say more, and the same; also of a fault that is over. */
static int64_t rows_tell_until(const struct incident_set *s, const struct run *r)
{
	int64_t until = 0;

	for (size_t k = 0; k < incident_set_count_of(s); k++) {
		const struct incident *i = incident_set_at(s, k);

		for (size_t j = 0; j < i->nsignals; j++) {
			int64_t told = told_until(i->signal[j], r);

			until = told > until ? told : until;
		}
	}
	return until;
}

static int take(struct engine *e, const struct run *r)
{
	struct signal *g = incident_set_signal(e->set, r->node, r->app, r->label, SIGNAL_MEAN);
	const struct engine_node *node = engine_node(e, r->node);
	const struct engine_region *region = node ? engine_region(e, node->region) : NULL;
	int64_t told = rows_tell_until(e->set, r);

	if (!region)
		e->nodes_us = 0; /* a new node: it is known with the next count */
	/* the last count of a fault may begin with the last of its requests */
	if (!g || !region || r->last.end_us <= g->last_us ||
	    r->last.begin_us - RUN_COUNT_S * INCIDENT_SEC < told)
		return 0;
	if (g->active) {
		signal_count_mean(g, &r->last);
		return 0;
	}
	if (engine_waits(e, g, region))
		return 0;
	signal_count_mean(g, r->whole.begin_us < told ? &r->last : &r->whole);
	return engine_open_signal(e, g, region);
}

static int by_end(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->last.end_us < y->last.end_us ? -1 : x->last.end_us > y->last.end_us;
}

static int read_counts(struct look *k)
{
	char sql[400];

	snprintf(sql, sizeof(sql),
		 "select node, key, role::int8, app, route, peer, ts, judged, excess,"
		 " wrong::int8 from incident_slow("
		 "%" PRId64 ", timestamptz 'epoch' + %" PRId64
		 " * interval '1 microsecond', timestamptz 'epoch' + %" PRId64
		 " * interval '1 microsecond')",
		 k->e->limits->least_excess_ms * 1000, k->since_us, k->e->newest_us);
	return pg_each(k->e->pg, sql, on_count, k);
}

int engine_read_means(struct engine *e)
{
	struct look *k;
	int r;

	if (!e->means_us)
		e->means_us = e->newest_us;
	if (!e->newest_us)
		return 0;
	k = calloc(1, sizeof(*k));
	if (!k)
		die("out of memory");
	k->e = e;
	k->since_us = e->means_us - INCIDENT_LATE_S * INCIDENT_SEC;
	r = read_counts(k);
	judge(k);
	qsort(k->run, k->nruns, sizeof(k->run[0]), by_end);
	for (size_t i = 0; i < k->nruns; i++) {
		if (r == 0)
			r = take(e, &k->run[i]);
		free(k->run[i].app);
		free(k->run[i].route);
		free(k->run[i].label);
	}
	free(k);
	if (r == 0)
		e->means_us = e->newest_us;
	return r;
}
