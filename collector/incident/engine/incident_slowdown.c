// SPDX-License-Identifier: Apache-2.0
/*
 * incident_slowdown.c - routes and calls that are slower than usual on average: each request
 * only a little, so that none need be abnormal and no row shows it.
 *
 * For each ten seconds red has the time by which requests exceeded the usual of their key. A run
 * of slow counts (incident_run.h) becomes a signal of class SIGNAL_MEAN. The only state kept
 * between scans is the signal itself: it does not count the same time again.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "collector/core/counters.h"
#include "collector/incident/engine/incident_engine.h"
#include "collector/incident/rank/incident_rank.h"
#include "collector/incident/model/incident_run.h"

enum {
	COUNTS = 1024, /* of one key */
	RUNS_MAX = 1000,
	LABEL = 1200, /* of a route and a peer */
};

struct key {
	uint64_t node, key;
	char app[256], route[LABEL], label[LABEL];
	size_t n;
	struct run_count count[COUNTS];
};

struct slowdown_run {
	uint64_t node;
	char *app, *route, *label; /* label: for a call, with its peer */
	struct incident_slowdown whole, last; /* last: the last count alone */
};

struct slowdown_scan {
	struct engine *e;
	int64_t since_us;
	struct key key;
	struct slowdown_run run[RUNS_MAX];
	size_t nruns;
};

static char *copy_text(const char *s)
{
	char *p = strdup(s);

	if (!p)
		die("out of memory");
	return p;
}

static void find_runs(struct slowdown_scan *k)
{
	struct key *key = &k->key;

	for (size_t i = 0; i < key->n && k->nruns < RUNS_MAX; i++) {
		const struct run_count *c = &key->count[i];
		struct incident_slowdown whole;

		if (!incident_run(key->count, i, k->e->limits, &whole) || c->ts_us <= k->since_us)
			continue;
		k->run[k->nruns++] = (struct slowdown_run){
			.node = key->node,
			.app = copy_text(key->app),
			.route = copy_text(key->route),
			.label = copy_text(key->label),
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
	struct slowdown_scan *k = arg;
	uint64_t node = (uint64_t)engine_int8(row, 0), key = (uint64_t)engine_int8(row, 1);

	if (!k->key.n || node != k->key.node || key != k->key.key) {
		find_runs(k);
		begin_key(&k->key, node, key, row);
	}
	if (k->key.n == COUNTS) /* drops the oldest count */
		memmove(k->key.count, k->key.count + 1, --k->key.n * sizeof(k->key.count[0]));
	k->key.count[k->key.n++] =
		(struct run_count){ .ts_us = engine_time(row, 6),
				    .n = (double)engine_int8(row, 7),
				    .excess_us = (double)engine_int8(row, 8),
				    .incident = (enum run_incident)engine_int8(row, 9) };
	return 0;
}

/* Until when a signal of rows covers the same slowdown; INT64_MAX: still. */
static int64_t covered_until(const struct signal *g, const struct slowdown_run *r)
{
	if (g->kind != SIGNAL_SLOW || g->node != r->node || strcmp(g->class, SIGNAL_MEAN) == 0 ||
	    strcmp(g->app, r->app) != 0 || strcmp(g->route, r->route) != 0)
		return 0;
	return g->active ? INT64_MAX : g->ended_us;
}

/* Abnormal rows show the same and more, also of a fault that is over. */
static int64_t rows_cover_until(const struct incident_set *s, const struct slowdown_run *r)
{
	int64_t until = 0;

	for (size_t k = 0; k < incident_set_count_of(s); k++) {
		const struct incident *i = incident_set_at(s, k);

		for (size_t j = 0; j < i->nsignals; j++) {
			int64_t covered_us = covered_until(i->signal[j], r);

			until = covered_us > until ? covered_us : until;
		}
	}
	return until;
}

static int take_run(struct engine *e, const struct slowdown_run *r)
{
	struct signal *g = incident_set_signal(e->set, r->node, r->app, r->label, SIGNAL_MEAN);
	const struct engine_node *node = engine_node(e, r->node);
	const struct engine_region *region = node ? engine_region(e, node->region) : NULL;
	int64_t covered_us = rows_cover_until(e->set, r);

	if (!region)
		e->nodes_us = 0; /* a new node: known with the next count */
	/* the last count of a fault may begin with its last request */
	if (!g || !region || r->last.end_us <= g->last_us ||
	    r->last.begin_us - RUN_COUNT_S * INCIDENT_SEC < covered_us)
		return 0;
	if (g->active) {
		signal_count_mean(g, &r->last);
		return 0;
	}
	if (engine_waits_for_region(e, g, region))
		return 0;
	signal_count_mean(g, r->whole.begin_us < covered_us ? &r->last : &r->whole);
	return engine_open_signal(e, g, region);
}

static int take_item(struct engine *e, const struct slowdown_run *r)
{
	int err = engine_item_begin(e);

	return err < 0 ? err
		       : engine_item_end(e, take_run(e, r), "slowdown of node", r->node, r->label);
}

static int by_end(const void *a, const void *b)
{
	const struct slowdown_run *x = a, *y = b;

	return x->last.end_us < y->last.end_us ? -1 : x->last.end_us > y->last.end_us;
}

static int read_counts(struct slowdown_scan *k)
{
	char sql[400];
	int r;

	snprintf(sql, sizeof(sql),
		 "select node, key, role::int8, app, route, peer, ts, judged, excess,"
		 " wrong::int8 from incident_slow("
		 "%" PRId64 ", timestamptz 'epoch' + %" PRId64
		 " * interval '1 microsecond', timestamptz 'epoch' + %" PRId64
		 " * interval '1 microsecond')",
		 k->e->limits->least_excess_ms * 1000, k->since_us, k->e->newest_us);
	r = engine_item_begin(k->e);
	return r < 0 ? r
		     : engine_item_end(k->e, pg_each(k->e->pg, sql, on_count, k),
				       "search for slowdowns", 0, sql);
}

int engine_read_slowdowns(struct engine *e)
{
	struct slowdown_scan *k;
	int r;

	if (!e->slowdowns_us)
		e->slowdowns_us = e->newest_us;
	if (!e->newest_us)
		return 0;
	k = calloc(1, sizeof(*k));
	if (!k)
		die("out of memory");
	k->e = e;
	k->since_us = e->slowdowns_us - INCIDENT_LATE_S * INCIDENT_SEC;
	r = read_counts(k);
	find_runs(k);
	qsort(k->run, k->nruns, sizeof(k->run[0]), by_end);
	for (size_t i = 0; i < k->nruns; i++) {
		if (r == 0)
			r = take_item(e, &k->run[i]);
		free(k->run[i].app);
		free(k->run[i].route);
		free(k->run[i].label);
	}
	free(k);
	if (r == 0)
		e->slowdowns_us = e->newest_us;
	return r;
}
