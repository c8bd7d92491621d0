// SPDX-License-Identifier: Apache-2.0
/* incident_join.c - decides which signals are sufficient to open, and finds the neighbors of a
 * node. */
#include <inttypes.h>
#include <stdio.h>

#include "collector/db/columns.h"
#include "collector/core/counters.h"
#include "collector/incident/engine/incident_engine.h"
#include "collector/incident/model/incident_window.h"

enum { DUE_MAX = 200, REACH = 2, GRAPH_S = 900, WAIT_S = 20, WAIT_ANEW_S = 15 };

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool add_neighbor(uint64_t neighbors[static ENGINE_NEIGHBORS], size_t *n, uint64_t id)
{
	for (size_t i = 0; i < *n; i++)
		if (neighbors[i] == id)
			return false;
	if (*n == ENGINE_NEIGHBORS)
		return false;
	neighbors[(*n)++] = id;
	return true;
}

/* One step further: the callees and callers of the nodes from `first` on. */
static int add_callers_and_callees(struct engine *e, size_t first, int64_t now_us,
				   uint64_t neighbors[static ENGINE_NEIGHBORS], size_t *n)
{
	static const char sql[] =
		"select other from incident_near($1::bigint[], timestamptz 'epoch' + ($2::bigint - "
		"%d"
		" * 1000000::bigint) * interval '1 microsecond',"
		" timestamptz 'epoch' + $2::bigint * interval '1 microsecond') order by 1";
	AUTO(PQclear) PGresult *res = NULL;
	struct buf ids = { 0 };
	struct pg_args a = { 0 };
	char text[sizeof(sql) + 16], now[24];
	int r;

	snprintf(text, sizeof(text), sql, GRAPH_S);
	snprintf(now, sizeof(now), "%" PRId64, now_us);
	engine_ids(&ids, neighbors + first, *n - first);
	pg_arg_text(&a, (const char *)ids.data);
	pg_arg_text(&a, now);
	r = pg_ask(e->pg, text, &a, &res);
	for (int i = 0; r == 0 && i < PQntuples(res); i++)
		add_neighbor(neighbors, n, strtoull(PQgetvalue(res, i, 0), NULL, 10));
	buf_free(&ids);
	return r;
}

int engine_find_neighbors(struct engine *e, const uint64_t *node, size_t nnodes, int64_t now_us,
			  uint64_t neighbors[static ENGINE_NEIGHBORS], size_t *nneighbors)
{
	size_t first = 0, n = 0;
	int r = 0;

	for (size_t i = 0; i < nnodes; i++)
		add_neighbor(neighbors, &n, node[i]);
	for (int step = 0; step < REACH && first < n && r == 0; step++) {
		size_t last = n;

		r = add_callers_and_callees(e, first, now_us, neighbors, &n);
		first = last;
	}
	qsort(neighbors, n, sizeof(neighbors[0]), by_id);
	*nneighbors = n;
	return r;
}

struct due_signal {
	struct signal *signal;
	struct signal_requests asked;
};

static void put_request_key(struct columns *c, const struct signal *g, int64_t since_us)
{
	copy_int8(&c->column[0], (int64_t)g->node);
	copy_text(&c->column[1], g->app);
	copy_text(&c->column[2], g->route);
	copy_time(&c->column[3], (uint64_t)since_us * 1000);
	columns_row(c);
}

static int read_requests(struct engine *e, struct due_signal *due, size_t n)
{
	static const char sql[] =
		"select i, n, (extract(epoch from counted) * 1000000)::bigint,"
		" incident_clock(($1::bigint[])[i], counted) from"
		" incident_asked($1::bigint[], $2::text[], $3::text[], $4::timestamptz[])";
	static const enum array_type types[] = { ARRAY_INT8, ARRAY_TEXT, ARRAY_TEXT, ARRAY_TIME };
	AUTO(columns_free) struct columns c = { 0 };
	AUTO(PQclear) PGresult *res = NULL;
	int r;

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < n; i++)
		put_request_key(&c, due[i].signal, signal_window_start(due[i].signal, e->limits));
	for (size_t i = 0; i < n; i++)
		put_request_key(&c, due[i].signal, signal_rise_start(due[i].signal, e->limits));
	r = columns_ask(&c, e->pg, sql, &res);
	for (int i = 0; r == 0 && i < PQntuples(res); i++) {
		size_t at = strtoull(PQgetvalue(res, i, 0), NULL, 10) - 1;
		struct due_signal *to = &due[at % n];

		if (at >= n) {
			to->asked.risen = strtod(PQgetvalue(res, i, 1), NULL);
			continue;
		}
		to->asked.n = strtod(PQgetvalue(res, i, 1), NULL);
		to->asked.until_us = strtoll(PQgetvalue(res, i, 2), NULL, 10);
		to->signal->clock_us = strtoll(PQgetvalue(res, i, 3), NULL, 10);
	}
	return r;
}

/*
 * Uses the time of the region's data, which stands still while a region that was cut off catches
 * up. A signal that was sufficient, and then was not for WAIT_ANEW_S, is another fault and is
 * awaited again: signals are judged every five seconds, and counts come every ten.
 */
bool engine_waits_for_region(const struct engine *e, struct signal *g,
			     const struct engine_region *region)
{
	if (!region->relayed)
		return false;
	if (region->now_us - g->waited_us > WAIT_ANEW_S * INCIDENT_SEC)
		g->wait_us = region->now_us;
	g->waited_us = region->now_us;
	return e->reports_full || region->now_us - g->wait_us < WAIT_S * INCIDENT_SEC;
}

/* Reads the clock offset of a signal that has no counted requests, or that consists of
 * counts. */
static int read_clock(struct engine *e, struct signal *g)
{
	AUTO(PQclear) PGresult *res = NULL;
	struct pg_args a = { 0 };
	char node[24], at[24];
	int r;

	snprintf(node, sizeof(node), "%" PRIu64, g->node);
	snprintf(at, sizeof(at), "%" PRId64, signal_fault_start(g, e->limits));
	pg_arg_text(&a, node);
	pg_arg_text(&a, at);
	r = pg_ask(e->pg,
		   "select incident_clock($1::bigint, timestamptz 'epoch' + $2::bigint"
		   " * interval '1 microsecond')",
		   &a, &res);
	if (r == 0)
		g->clock_us = strtoll(PQgetvalue(res, 0, 0), NULL, 10);
	return r;
}

struct stored_ids {
	struct engine *e;
	int r; /* error of the last question */
};

static bool is_taken(void *arg, uint64_t id)
{
	AUTO(PQclear) PGresult *res = NULL;
	struct stored_ids *ids = arg;
	struct pg_args a = { 0 };
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, id);
	pg_arg_text(&a, text);
	ids->r = pg_ask(ids->e->pg,
			"select exists (select from incident where incident_id = $1::bigint)", &a,
			&res);
	return ids->r == 0 && *PQgetvalue(res, 0, 0) == 't';
}

int engine_open_signal(struct engine *e, struct signal *g, const struct engine_region *region)
{
	struct stored_ids ids = { e, 0 };
	uint64_t neighbors[ENGINE_NEIGHBORS];
	struct incident_place p = { .region = region->id,
				    .region_name = region->name,
				    .neighbors = neighbors,
				    .now_us = region->now_us,
				    .is_taken = is_taken,
				    .arg = &ids };
	int r = read_clock(e, g);

	if (r == 0)
		r = engine_find_neighbors(e, &g->node, 1, region->now_us, neighbors, &p.nneighbors);
	if (r < 0)
		return r;
	incident_set_open(e->set, g, &p);
	counter_add(C_INCIDENT_SIGNALS, 1);
	return ids.r;
}

/* The number of requests in the half hour before the window. */
static int read_before(struct engine *e, const struct signal *g, double *n)
{
	AUTO(PQclear) PGresult *res = NULL;
	struct pg_args a = { 0 };
	char node[24], since[24];
	int r;

	snprintf(node, sizeof(node), "%" PRIu64, g->node);
	snprintf(since, sizeof(since), "%" PRId64, signal_window_start(g, e->limits));
	pg_arg_text(&a, node);
	pg_arg_text(&a, g->app);
	pg_arg_text(&a, g->route);
	pg_arg_text(&a, since);
	r = pg_ask(e->pg,
		   "select coalesce(sum(r.n), 0) from red_key k join red r on r.node_id = k.node_id"
		   " and r.key_id = k.key_id cross join (select timestamptz 'epoch' + $4::bigint *"
		   " interval '1 microsecond' as at) t where k.node_id = $1::bigint and k.app = $2"
		   " and k.route = $3 and k.role = 0 and r.node_id = $1::bigint and"
		   " r.ts > t.at - interval '30 minutes' and r.ts <= t.at",
		   &a, &res);
	if (r == 0)
		*n = strtod(PQgetvalue(res, 0, 0), NULL);
	return r;
}

static int judge_signal(struct engine *e, struct signal *g, struct signal_requests asked,
			const struct engine_region *region)
{
	bool behind = g->active && e->full; /* further rows are not read yet */
	bool enough = behind || signal_judge(g, e->limits, asked, region->now_us);
	double before = 0;
	int r;

	if (g->active && !enough)
		signal_end(g);
	if (g->active || !enough || engine_waits_for_region(e, g, region))
		return 0;
	r = read_before(e, g, &before);
	if (r < 0 || signal_is_chance(g, e->limits, asked.n, before))
		return r;
	return engine_open_signal(e, g, region);
}

static int judge_item(struct engine *e, const struct due_signal *due,
		      const struct engine_region *region)
{
	int r = engine_item_begin(e);

	return r < 0 ? r
		     : engine_item_end(e, judge_signal(e, due->signal, due->asked, region),
				       "signal", due->signal->id, due->signal->route);
}

/* With care each signal has its own question: a row of one route may make it fail. */
static int read_each(struct engine *e, struct due_signal *due, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		r = engine_item_begin(e);
		if (r == 0)
			r = engine_item_end(e, read_requests(e, &due[i], 1), "counts of signal",
					    due[i].signal->id, due[i].signal->route);
	}
	return r;
}

static int by_end(const void *a, const void *b)
{
	const struct signal *g = ((const struct due_signal *)a)->signal;
	const struct signal *h = ((const struct due_signal *)b)->signal;
	int64_t x = signal_collector_us(g, g->last_us), y = signal_collector_us(h, h->last_us);

	return x < y ? -1 : x > y;
}

/* Sorted, so that the result does not depend on the order of the rows. */
int engine_join(struct engine *e)
{
	struct signal *list[DUE_MAX];
	struct due_signal due[DUE_MAX] = { 0 };
	size_t n = incident_set_due(e->set, e->newest_us, list, DUE_MAX);
	int r = 0;

	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++)
		due[i].signal = list[i];
	r = e->careful ? read_each(e, due, n) : read_requests(e, due, n);
	qsort(due, n, sizeof(due[0]), by_end);
	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct engine_node *node = engine_node(e, due[i].signal->node);
		const struct engine_region *region = node ? engine_region(e, node->region) : NULL;

		if (!region)
			e->nodes_us = 0; /* a new node: known with the next pass */
		else
			r = judge_item(e, &due[i], region);
	}
	return r;
}
