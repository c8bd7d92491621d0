// SPDX-License-Identifier: Apache-2.0
#include "collector/archive/compact_job.h"

#include <endian.h>
#include <stdio.h>
#include <time.h>

#include "lib/base/log.h"
#include "collector/db/copy.h"
#include "collector/archive/relay_rollup.h"
#include "collector/codec/rollup.h"
#include "collector/archive/compact_read.h"

#define SEC_US 1000000ull
#define MINUTE_US (60 * SEC_US)

#define MERGE_BYTES "16777216"

/*
 * MADE_BY: who packs deletes what it packs, and must know each form that a row may have. With a new
 * form comes a new number, and a migration that lets no lower one pack.
 */
enum { TIME_TEXT = 32, MADE_BY = 2 };

/* What is made of an hour: the samples themselves, and by these spans. */
static const struct product {
	const char *table;
	uint64_t span_us; /* 0: as they are */
} products[] = {
	{ "sealed", 0 },
	{ "sample_1m", MINUTE_US },
	{ "sample_10m", 600 * SEC_US },
	{ "sample_1h", 3600 * SEC_US },
};

struct run {
	struct pg *pg;
	const struct compact_job *job;
	struct compact_read read;
	struct arena *arena;
	uint32_t part; /* the first one that is not taken */
	bool few; /* bytes are in those that are */
	struct buf rows[ARRAY_SIZE(products)]; /* for COPY */
	struct buf chunk;
	struct relay_rollup *relayed; /* NULL: nothing is */
};

void compact_time_text(uint64_t wall_s, char text[static TIME_TEXT])
{
	time_t t = (time_t)wall_s;
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(text, TIME_TEXT, "%Y-%m-%d %H:%M:%S+00", &tm);
}

/*
 * "WHAT where COLUMN is in the range, and the node one of these REST". Times as texts, so that the
 * partition is known when the query is planned.
 */
struct ask {
	const char *what, *column, *rest;
	uint64_t from_s, until_s;
};

static int each(struct run *r, const struct ask *a, pg_row *on_row)
{
	char from[TIME_TEXT], until[TIME_TEXT];
	char *sql;
	int e;

	compact_time_text(a->from_s, from);
	compact_time_text(a->until_s, until);
	if (asprintf(&sql, "%s where %s >= '%s' and %s < '%s' and node_id = any('%s')%s", a->what,
		     a->column, from, a->column, until, r->job->nodes, a->rest) < 0)
		die("out of memory");
	e = pg_each(r->pg, sql, on_row, &r->read);
	free(sql);
	return e;
}

static int nothing(void *arg UNUSED, const PGresult *row UNUSED)
{
	return 0;
}

#define KNOWN " and layout_id in (select layout_id from layout)"

static int take_rows(struct run *r)
{
	const struct compact_job *j = r->job;
	struct ask a = { "delete from sample_raw", "ts",
			 KNOWN " returning ts, node_id, layout_id, entities, a, b, v", j->from_s,
			 j->until_s };
	int e = each(r, &a, compact_read_raw);

	if (e < 0)
		return e;
	a.what = "delete from sample";
	a.rest = KNOWN " returning ts, node_id, layout_id, entity_id, v";
	return each(r, &a, compact_read_sample);
}

/* Of those alone that are expected: what comes late is told with the hour. */
static int look_at_rows(struct run *r)
{
	const struct compact_job *j = r->job;
	struct ask a = { "select ts, node_id, layout_id, entities, a, b, v from sample_raw", "ts",
			 KNOWN, j->from_s, j->until_s };

	return each(r, &a, compact_read_raw);
}

static int of_packed(void *arg, const PGresult *row)
{
	struct compact_read *read = arg;
	struct run *r = CONTAINER_OF(read, struct run, read);
	uint32_t part;

	memcpy(&part, PQgetvalue(row, 0, 0), sizeof(part));
	r->part = be32toh(part);
	r->few = *PQgetvalue(row, 0, 1);
	return 0;
}

/* What is packed of them comes back, to be packed with the rest; unless it is much, or damaged. */
static int take_packed(struct run *r)
{
	struct ask a = { "select coalesce(max(part) + 1, 0)::int4,"
			 " coalesce(sum(octet_length(chunk)) <= " MERGE_BYTES ", true) from sealed",
			 "hour", "", r->job->hour_s, r->job->hour_s + 1 };
	int e = each(r, &a, of_packed);

	if (e < 0 || !r->part || !r->job->merge || !r->few)
		return e;
	r->part = 0;
	a.what = "delete from sealed";
	a.rest = " returning node_id, layout_id, entities, chunk";
	e = each(r, &a, compact_read_chunk);
	for (size_t i = 1; i < ARRAY_SIZE(products) && e == 0; i++) {
		char what[64];

		snprintf(what, sizeof(what), "delete from %s", products[i].table);
		a.what = what;
		a.rest = "";
		e = each(r, &a, nothing);
	}
	return e;
}

/* It is read again before what it was made of goes. */
static void put_row(struct run *r, size_t product, const struct chunk_builder_chunk *s,
		    const struct chunk *c)
{
	struct buf *rows = &r->rows[product];
	struct chunk back;

	buf_reset(&r->chunk);
	chunk_pack(&r->chunk, c);
	if (chunk_unpack(r->read.arena, r->chunk.data, r->chunk.len, &back) < 0 ||
	    !chunk_equal(c, &back))
		die("a chunk is not what it was made of: nothing was changed, please report it");
	copy_row(rows, 7);
	copy_time(rows, r->job->hour_s * 1000000000u);
	copy_int8(rows, (int64_t)s->node);
	copy_int8(rows, (int64_t)s->layout);
	copy_int4(rows, (int32_t)(r->part + s->part));
	copy_int8s(rows, s->id, c->nentities);
	copy_bytes(rows, r->chunk.data, r->chunk.len);
	copy_int2(rows, MADE_BY);
}

static int put_products(void *arg, const struct chunk_builder_chunk *s)
{
	struct run *r = arg;

	for (size_t i = 0; i < ARRAY_SIZE(products); i++) {
		struct chunk c = s->chunk;

		arena_reset(r->arena);
		arena_reset(r->read.arena);
		if (products[i].span_us)
			rollup(r->arena, &s->chunk, products[i].span_us, &c);
		put_row(r, i, s, &c);
		if (r->relayed && products[i].span_us == MINUTE_US)
			relay_rollup_add(r->relayed, s, &c, (r->part + s->part) * ROLLUP_PIECES,
					 r->part + s->part == 0);
	}
	return 0;
}

static int put_early(void *arg, const struct chunk_builder_chunk *s)
{
	struct run *r = arg;
	const uint32_t slot = (uint32_t)((r->job->from_s - r->job->hour_s) / 60);
	struct chunk c;

	arena_reset(r->arena);
	rollup(r->arena, &s->chunk, MINUTE_US, &c);
	relay_rollup_add(r->relayed, s, &c, ROLLUP_EARLY + (slot << 16) + s->part * ROLLUP_PIECES,
			 false);
	return 0;
}

static int store(struct run *r)
{
	int e = 0;

	for (size_t i = 0; i < ARRAY_SIZE(products) && e == 0; i++) {
		struct buf copy = { 0 };
		char sql[160];

		snprintf(sql, sizeof(sql),
			 "copy %s (hour, node_id, layout_id, part, entities, chunk, made_by) from "
			 "stdin binary",
			 products[i].table);
		copy_begin(&copy);
		e = pg_do(r->pg, sql);
		if (e == 0)
			e = pg_copy_put(r->pg, &copy);
		if (e == 0)
			e = pg_copy_put(r->pg, &r->rows[i]);
		buf_reset(&copy);
		copy_end(&copy);
		if (e == 0)
			e = pg_copy_put(r->pg, &copy);
		if (e == 0)
			e = pg_copy_end(r->pg);
		buf_free(&copy);
	}
	return e;
}

static int transact(struct run *r)
{
	int e = pg_do(r->pg, "begin");

	if (e == 0)
		e = take_rows(r);
	if (e == 0 && chunk_builder_values(r->read.shelf))
		e = take_packed(r);
	if (e == 0)
		e = chunk_builder_each(r->read.shelf, put_products, r);
	if (e == 0 && r->rows[0].len)
		e = store(r);
	if (e == 0 && r->relayed)
		e = relay_rollup_put(r->relayed, r->pg);
	return e < 0 ? e : pg_commit(r->pg);
}

/* Read before the transaction: whoever writes into the outbox waits for its end. */
static int transact_early(struct run *r)
{
	int e = look_at_rows(r);

	if (e == 0)
		e = chunk_builder_each(r->read.shelf, put_early, r);
	if (e == 0)
		e = pg_do(r->pg, "begin");
	if (e == 0)
		e = relay_rollup_put(r->relayed, r->pg);
	if (e == 0)
		e = pg_do(r->pg, r->job->then);
	return e < 0 ? e : pg_commit(r->pg);
}

int compact_job_run(struct pg *p, const struct pairmap *layouts, const struct compact_job *job,
		 uint64_t *values)
{
	struct run r = {
		.pg = p,
		.job = job,
		.read = { .shelf = chunk_builder_new(),
			  .layouts = layouts,
			  .hour_us = job->hour_s * SEC_US,
			  .arena = arena_new(SIZE_MAX) },
		.arena = arena_new(SIZE_MAX),
	};
	int e;

	if (job->region)
		r.relayed = relay_rollup_new(job->region, job->hour_s);
	e = job->early ? transact_early(&r) : transact(&r);
	if (e < 0)
		pg_rollback(p);
	else
		*values = chunk_builder_values(r.read.shelf);
	relay_rollup_free(r.relayed);
	chunk_builder_free(r.read.shelf);
	arena_free(r.read.arena);
	arena_free(r.arena);
	for (size_t i = 0; i < ARRAY_SIZE(products); i++)
		buf_free(&r.rows[i]);
	buf_free(&r.chunk);
	return e;
}
