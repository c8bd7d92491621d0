// SPDX-License-Identifier: Apache-2.0
/* incident_read.c - reads what came since the last pass: abnormal requests, and the newest data
 * of each region. */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "lib/base/text.h"
#include "collector/core/counters.h"
#include "collector/incident/engine/incident_engine.h"

/* With several collectors one may set its commit time before another but commit after it. */
enum { OVERLAP_S = 3, ROWS_MAX = 50000, NODES_S = 30 };

static const int64_t EPOCH_2000_US = INT64_C(946684800) * INCIDENT_SEC;
static const int64_t FAR_US = INT64_C(1) << 61;

int64_t engine_int8(const PGresult *row, int column)
{
	uint64_t v;

	memcpy(&v, PQgetvalue(row, 0, column), sizeof(v));
	return (int64_t)__builtin_bswap64(v);
}

/* An infinite time is the farthest that can be subtracted from any other. */
int64_t engine_time(const PGresult *row, int column)
{
	int64_t us = engine_int8(row, column);

	if (us > FAR_US || us < -FAR_US)
		return us > 0 ? FAR_US : -FAR_US;
	return us + EPOCH_2000_US;
}

double engine_float8(const PGresult *row, int column)
{
	int64_t bits = engine_int8(row, column);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Never cuts inside a character: PostgreSQL would refuse the whole statement. */
void engine_text(char *out, size_t size, const PGresult *row, int column)
{
	text_clean_into(out, size, PQgetvalue(row, 0, column), (size_t)PQgetlength(row, 0, column));
}

void engine_ids(struct buf *b, const uint64_t *id, size_t n)
{
	char text[24];

	buf_put(b, "{", 1);
	for (size_t i = 0; i < n; i++)
		buf_put(b, text,
			(size_t)snprintf(text, sizeof(text), "%s%" PRIu64, i ? "," : "", id[i]));
	buf_put(b, "}", 2);
}

static int on_node(void *arg, const PGresult *row)
{
	struct engine_node *n = pairmap_add(arg, (uint64_t)engine_int8(row, 0), 0);

	n->region = (uint64_t)engine_int8(row, 1);
	engine_text(n->name, sizeof(n->name), row, 2);
	return 0;
}

static int on_region(void *arg, const PGresult *row)
{
	struct engine *e = arg;
	struct engine_region *r;

	e->region = realloc(e->region, (e->nregions + 1) * sizeof(*e->region));
	if (!e->region)
		die("out of memory");
	r = &e->region[e->nregions++];
	r->id = (uint64_t)engine_int8(row, 0);
	engine_text(r->name, sizeof(r->name), row, 1);
	r->now_us = engine_time(row, 2);
	r->nodes = (double)engine_int8(row, 3);
	r->relayed = engine_int8(row, 4);
	if (r->now_us > e->newest_us)
		e->newest_us = r->now_us;
	return 0;
}

/* Capped at now, so that a node with a fast clock does not move the time ahead. */
int engine_read_regions(struct engine *e)
{
	static const char sql[] = "select n.region_id, g.name, least(max(n.last_seen), now()),"
				  " count(*), count(d.node_id)"
				  " from node n join region g using (region_id) left join (select"
				  " distinct node_id from relayed) d using (node_id) group by 1, 2";
	int r;

	e->nregions = 0;
	r = pg_each(e->pg, sql, on_region, e);
	if (r == 0 && e->newest_us - e->nodes_us > NODES_S * INCIDENT_SEC) {
		r = pg_each(e->pg, "select node_id, region_id, name from node", on_node, e->nodes);
		e->nodes_us = e->newest_us;
	}
	return r;
}

const struct engine_node *engine_node(const struct engine *e, uint64_t id)
{
	return pairmap_find(e->nodes, id, 0);
}

const struct engine_region *engine_region(const struct engine *e, uint64_t id)
{
	for (size_t i = 0; i < e->nregions; i++)
		if (e->region[i].id == id)
			return &e->region[i];
	return NULL;
}

struct reading {
	struct engine *e;
	int64_t counted_us; /* rows stored up to here were counted by an earlier process */
	int64_t first_us, newest_us; /* stored */
	uint32_t rows;
};

static bool mark_seen(struct engine *e, const struct incident_row *r)
{
	int64_t *stored = pairmap_add(e->seen, r->id, (uint64_t)r->begin_us);

	if (*stored)
		return false;
	*stored = r->stored_us;
	return true;
}

static int on_row(void *arg, const PGresult *row)
{
	struct reading *d = arg;
	struct incident_row r = {
		.stored_us = engine_time(row, 0),
		.begin_us = engine_time(row, 1),
		.node = (uint64_t)engine_int8(row, 2),
		.id = (uint64_t)engine_int8(row, 3),
		.app = PQgetvalue(row, 0, 4),
		.route = PQgetvalue(row, 0, 5),
		.status = (uint16_t)engine_int8(row, 6),
		.reason = (uint16_t)engine_int8(row, 7),
		.total_us = engine_int8(row, 8),
		.normal_us = engine_int8(row, 9),
	};
	bool full = false;

	if (!d->rows++)
		d->first_us = r.stored_us;
	d->newest_us = r.stored_us;
	if (!mark_seen(d->e, &r))
		return 0;
	r.old = r.stored_us <= d->counted_us;
	if (!r.old)
		counter_add(C_INCIDENT_ROWS, 1);
	incident_set_count(d->e->set, &r, &full);
	if (full)
		counter_add(C_INCIDENT_ROWS_LEFT, 1);
	return 0;
}

static bool is_near_mark(void *arg, uint64_t a UNUSED, uint64_t b UNUSED, void *value)
{
	const struct engine *e = arg;

	return *(int64_t *)value > e->mark_us - 2 * OVERLAP_S * INCIDENT_SEC;
}

/* All rows of a commit have the same stored time. A commit that the row limit cut is read again,
 * unless it fills a whole reading. */
static int read_from(struct engine *e, int64_t from_us, struct reading *d)
{
	char sql[480];
	int r;

	snprintf(
		sql, sizeof(sql),
		"select stored, ts, node_id, request_id, app, route, status::int8, reason_id::int8,"
		" least(queue_us, 86400000000) + least(request_us, 86400000000), normal_us"
		" from request where stored > timestamptz 'epoch' + %" PRId64
		" * interval '1 microsecond' and stored < 'infinity' order by stored limit %d",
		from_us, ROWS_MAX);
	d->rows = 0;
	r = pg_each(e->pg, sql, on_row, d);
	if (d->rows == ROWS_MAX && d->newest_us > d->first_us)
		d->newest_us--;
	return r;
}

/* The first reading: rebuilds the window from rows that were counted before, then continues with
 * newer rows. */
static int read_window(struct engine *e)
{
	struct reading d = { .e = e, .counted_us = e->mark_us, .newest_us = e->mark_us };
	int64_t from = e->mark_us - e->limits->window_s * INCIDENT_SEC;
	int r = 0;

	do {
		r = read_from(e, from, &d);
		from = d.newest_us;
	} while (r == 0 && d.rows == ROWS_MAX);
	if (d.newest_us > e->mark_us)
		e->mark_us = d.newest_us;
	return r;
}

int engine_read_rows(struct engine *e)
{
	int64_t from = e->mark_us - (e->full ? 0 : OVERLAP_S * INCIDENT_SEC);
	struct reading d = { .e = e, .newest_us = e->mark_us };
	int r;

	if (!pairmap_count(e->seen) && !e->full) {
		r = read_window(e);
		if (r < 0)
			return r;
	}
	r = read_from(e, from, &d);
	if (d.newest_us > e->mark_us)
		e->mark_us = d.newest_us;
	e->full = d.rows == ROWS_MAX;
	pairmap_each(e->seen, is_near_mark, e);
	return r;
}
