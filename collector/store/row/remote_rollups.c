// SPDX-License-Identifier: Apache-2.0
#include "collector/store/row/remote_rollups.h"

#include <inttypes.h>
#include <stdio.h>

#include "collector/codec/chunk.h"
#include "collector/db/copy.h"
#include "collector/core/counters.h"
#include "collector/codec/rollup.h"

enum { UNPACKED = 64 << 20, HOUR_S = 3600, MINUTES = 60 };

#define HOUR_US (HOUR_S * 1000000.0)

static bool is_chunk(const struct rollup_item *q)
{
	AUTO(arena_free) struct arena *a = arena_new(UNPACKED);
	struct chunk c;

	if (chunk_unpack(a, q->chunk, q->chunk_len, &c) < 0 || c.nentities != q->nentities ||
	    c.ncolumns != q->nmetrics * ROLLUP_COLUMNS || c.nticks > MINUTES)
		return false;
	for (uint32_t i = 0; i < c.nticks; i++)
		if (!(c.tick_us[i] >= 0 && c.tick_us[i] < HOUR_US))
			return false;
	return true;
}

const char *remote_rollups_refused(const struct batch *b)
{
	const uint64_t now_s = b->now_ns / 1000000000u;

	for (uint32_t i = 0; i < b->items.nrollups; i++) {
		const struct rollup_item *q = &b->items.rollups[i];

		if (q->hour_s % HOUR_S || q->hour_s > now_s + HOUR_S)
			return "a rollup has an invalid hour";
		if (!is_chunk(q))
			return "a rollup is damaged";
	}
	return NULL;
}

static void put_entities(struct buf *out, const struct rollup_item *q)
{
	array_begin(out, ARRAY_INT8);
	for (uint32_t i = 0; i < q->nentities; i++)
		copy_int8(out, (int64_t)q->entities[i].id);
	array_end(out, q->nentities);
}

static int store_rollup(struct pg *p, const struct batch *b, const struct rollup_item *q)
{
	static const char sql[] =
		"select take_rollup(to_timestamp($1::bigint), $2::bigint, $3::bigint, $4::int,"
		" $5::boolean, $6::bigint[], $7::bytea)";
	struct buf entities = { 0 }, chunk = { 0 };
	struct pg_args a = { 0 };
	char hour[24], node[24], layout[24], part[16];
	int r;

	snprintf(hour, sizeof(hour), "%" PRIu64, q->hour_s);
	snprintf(node, sizeof(node), "%" PRId64, (int64_t)b->of.node_id);
	snprintf(layout, sizeof(layout), "%" PRId64, (int64_t)q->layout);
	snprintf(part, sizeof(part), "%" PRIu32, q->part);
	put_entities(&entities, q);
	buf_put(&chunk, q->chunk, q->chunk_len);
	pg_arg_text(&a, hour);
	pg_arg_text(&a, node);
	pg_arg_text(&a, layout);
	pg_arg_text(&a, part);
	pg_arg_text(&a, q->whole ? "true" : "false");
	pg_arg_binary(&a, &entities);
	pg_arg_binary(&a, &chunk);
	r = pg_execute(p, sql, &a);
	counter_add(C_ROLLUPS_IN, r == 0);
	buf_free(&entities);
	buf_free(&chunk);
	return r;
}

int remote_rollups_store(struct pg *p, struct batch *const *b, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		for (uint32_t k = 0; k < b[i]->items.nrollups && r == 0; k++)
			r = store_rollup(p, b[i], &b[i]->items.rollups[k]);
	return r;
}
