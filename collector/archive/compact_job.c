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
 * MADE_BY: compaction deletes the rows that it read, so it must know every form of a row. A new
 * form needs a new number, and a migration that keeps lower numbers from compacting.
 */
enum { TIME_TEXT = 32, MADE_BY = 2 };

/* The products of an hour: its samples, and rollups by these spans. */
static const struct product {
	const char *table;
	uint64_t span_us; /* 0: the samples */
} products[] = {
	{ "sealed", 0 },
	{ "sample_1m", MINUTE_US },
	{ "sample_10m", 600 * SEC_US },
	{ "sample_1h", 3600 * SEC_US },
};

struct job_run {
	struct pg *pg;
	const struct compact_job *job;
	struct compact_read read;
	struct arena *arena;
	uint32_t part; /* the first free one */
	bool few; /* the existing parts are small enough to merge */
	struct buf rows[ARRAY_SIZE(products)]; /* for COPY */
	struct buf chunk;
	struct relay_rollup *relayed; /* NULL: the region is not relayed */
};

void compact_time_text(uint64_t wall_s, char text[static TIME_TEXT])
{
	time_t t = (time_t)wall_s;
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(text, TIME_TEXT, "%Y-%m-%d %H:%M:%S+00", &tm);
}

/*
 * The statement "WHAT where COLUMN is in the range and the node is one of the job's REST". Times
 * are literals, so that the planner can choose the partition.
 */
struct job_query {
	const char *what, *column, *rest;
	uint64_t from_s, until_s;
};

static int each_row(struct job_run *r, const struct job_query *a, pg_row *on_row)
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

static int ignore_row(void *arg UNUSED, const PGresult *row UNUSED)
{
	return 0;
}

#define KNOWN " and layout_id in (select layout_id from layout)"

static int take_rows(struct job_run *r)
{
	const struct compact_job *j = r->job;
	struct job_query a = { "delete from sample_raw", "ts",
			       KNOWN " returning ts, node_id, layout_id, entities, a, b, v",
			       j->from_s, j->until_s };
	int e = each_row(r, &a, compact_read_raw);

	if (e < 0)
		return e;
	a.what = "delete from sample";
	a.rest = KNOWN " returning ts, node_id, layout_id, entity_id, v";
	return each_row(r, &a, compact_read_sample);
}

/* Only sample_raw: late samples, in table sample, are sent with the whole hour. */
static int read_rows(struct job_run *r)
{
	const struct compact_job *j = r->job;
	struct job_query a = { "select ts, node_id, layout_id, entities, a, b, v from sample_raw",
			       "ts", KNOWN, j->from_s, j->until_s };

	return each_row(r, &a, compact_read_raw);
}

static int on_parts(void *arg, const PGresult *row)
{
	struct compact_read *read = arg;
	struct job_run *r = CONTAINER_OF(read, struct job_run, read);
	uint32_t part;

	memcpy(&part, PQgetvalue(row, 0, 0), sizeof(part));
	r->part = be32toh(part);
	r->few = *PQgetvalue(row, 0, 1);
	return 0;
}

/* Takes the existing chunks of these nodes back, to merge them with the new rows, unless they are
 * large or damaged. */
static int take_chunks(struct job_run *r)
{
	struct job_query a = { "select coalesce(max(part) + 1, 0)::int4,"
			       " coalesce(sum(octet_length(chunk)) <= " MERGE_BYTES
			       ", true) from sealed",
			       "hour", "", r->job->hour_s, r->job->hour_s + 1 };
	int e = each_row(r, &a, on_parts);

	if (e < 0 || !r->part || !r->job->merge || !r->few)
		return e;
	r->part = 0;
	a.what = "delete from sealed";
	a.rest = " returning node_id, layout_id, entities, chunk";
	e = each_row(r, &a, compact_read_chunk);
	for (size_t i = 1; i < ARRAY_SIZE(products) && e == 0; i++) {
		char what[64];

		snprintf(what, sizeof(what), "delete from %s", products[i].table);
		a.what = what;
		a.rest = "";
		e = each_row(r, &a, ignore_row);
	}
	return e;
}

/* Decodes and compares the chunk before its rows are deleted. */
static void put_row(struct job_run *r, size_t product, const struct chunk_builder_chunk *s,
		    const struct chunk *c)
{
	struct buf *rows = &r->rows[product];
	struct chunk back;

	buf_reset(&r->chunk);
	chunk_pack(&r->chunk, c);
	if (chunk_unpack(r->read.arena, r->chunk.data, r->chunk.len, &back) < 0 ||
	    !chunk_equal(c, &back))
		die("a packed chunk differs from its samples; nothing was changed, please report "
		    "it");
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
	struct job_run *r = arg;

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
	struct job_run *r = arg;
	const uint32_t slot = (uint32_t)((r->job->from_s - r->job->hour_s) / 60);
	struct chunk c;

	arena_reset(r->arena);
	rollup(r->arena, &s->chunk, MINUTE_US, &c);
	relay_rollup_add(r->relayed, s, &c, ROLLUP_EARLY + (slot << 16) + s->part * ROLLUP_PIECES,
			 false);
	return 0;
}

static int store_products(struct job_run *r)
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

static int transact(struct job_run *r)
{
	int e = pg_do(r->pg, "begin");

	if (e == 0)
		e = take_rows(r);
	if (e == 0 && chunk_builder_values(r->read.builder))
		e = take_chunks(r);
	if (e == 0)
		e = chunk_builder_each(r->read.builder, put_products, r);
	if (e == 0 && r->rows[0].len)
		e = store_products(r);
	if (e == 0 && r->relayed)
		e = relay_rollup_put(r->relayed, r->pg);
	return e < 0 ? e : pg_commit(r->pg);
}

/* Reads before the transaction begins: other writers of the outbox wait until it ends. */
static int transact_early(struct job_run *r)
{
	int e = read_rows(r);

	if (e == 0)
		e = chunk_builder_each(r->read.builder, put_early, r);
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
	struct job_run r = {
		.pg = p,
		.job = job,
		.read = { .builder = chunk_builder_new(),
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
		*values = chunk_builder_values(r.read.builder);
	relay_rollup_free(r.relayed);
	chunk_builder_free(r.read.builder);
	arena_free(r.read.arena);
	arena_free(r.arena);
	for (size_t i = 0; i < ARRAY_SIZE(products); i++)
		buf_free(&r.rows[i]);
	buf_free(&r.chunk);
	return e;
}
