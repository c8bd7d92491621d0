// SPDX-License-Identifier: Apache-2.0
#include "collector/store/watermark_store.h"

#include <stdio.h>

#include "lib/base/log.h"
#include "collector/db/columns.h"
#include "collector/core/pairmap.h"

enum { MAX_ENTRIES = 100000 };

struct watermark_store {
	struct pairmap *map;
};

struct watermark_store *watermark_store_new(void)
{
	struct watermark_store *l = calloc(1, sizeof(*l));

	if (!l)
		die("out of memory");
	l->map = pairmap_new(sizeof(struct entry));
	return l;
}

void watermark_store_free(struct watermark_store *l)
{
	if (!l)
		return;
	pairmap_free(l->map);
	free(l);
}

struct entry *watermark_store_entry(struct watermark_store *l, uint64_t node, uint64_t epoch)
{
	struct entry *e = pairmap_add(l->map, node, epoch);

	e->node = node;
	e->epoch = epoch;
	return e;
}

static bool invalidate_entry(void *arg UNUSED, uint64_t node UNUSED, uint64_t epoch UNUSED,
			     void *value)
{
	struct entry *e = value;

	e->known = false;
	return true;
}

void watermark_store_invalidate(struct watermark_store *l)
{
	pairmap_each(l->map, invalidate_entry, NULL);
}

void watermark_store_trim(struct watermark_store *l)
{
	if (pairmap_count(l->map) > MAX_ENTRIES)
		pairmap_forget(l->map);
}

void watermark_store_begin(struct entry *e)
{
	memcpy(e->next, e->seq, sizeof(e->next));
	memset(e->lost, 0, sizeof(e->lost));
}

static uint64_t column_uint(const PGresult *res, int row, int column)
{
	return strtoull(PQgetvalue(res, row, column), NULL, 10);
}

static void read_row(struct watermark_store *l, const PGresult *res, int row)
{
	struct entry *e =
		watermark_store_entry(l, (uint64_t)strtoll(PQgetvalue(res, row, 0), NULL, 10),
				      (uint64_t)strtoll(PQgetvalue(res, row, 1), NULL, 10));
	uint64_t stream = column_uint(res, row, 4);

	e->unknown_node = *PQgetvalue(res, row, 2) != 't';
	e->tagged = *PQgetvalue(res, row, 3) == 't';
	snprintf(e->name, sizeof(e->name), "%s", PQgetvalue(res, row, 6));
	if (PQgetisnull(res, row, 4) || stream < STREAM_EVENT || stream >= STREAM_END)
		return;
	e->exists[stream] = true;
	e->seq[stream] = column_uint(res, row, 5);
}

int watermark_store_load(struct watermark_store *l, struct pg *p, struct entry *const *e, size_t n)
{
	static const char sql[] =
		"select u.node, u.epoch, n.node_id is not null, coalesce(n.tags <> '{}', false),"
		" m.stream, m.seq, coalesce(left(n.name, 63), '')"
		" from unnest($1::bigint[], $2::bigint[]) u(node, epoch)"
		" left join node n on n.node_id = u.node"
		" left join ingest_mark m on m.node_id = u.node and m.epoch = u.epoch";
	static const enum array_type types[] = { ARRAY_INT8, ARRAY_INT8 };
	AUTO(columns_free) struct columns c = { 0 };
	AUTO(PQclear) PGresult *res = NULL;
	int r;

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < n; i++) {
		copy_int8(&c.column[0], (int64_t)e[i]->node);
		copy_int8(&c.column[1], (int64_t)e[i]->epoch);
		columns_row(&c);
	}
	r = columns_ask(&c, p, sql, &res);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		memset(e[i]->seq, 0, sizeof(e[i]->seq));
		memset(e[i]->exists, 0, sizeof(e[i]->exists));
	}
	for (int row = 0; row < PQntuples(res); row++)
		read_row(l, res, row);
	for (size_t i = 0; i < n; i++) {
		e[i]->known = true;
		watermark_store_begin(e[i]);
	}
	return 0;
}

enum outcome watermark_store_judge(struct entry *e, const struct wire_batch_head *h)
{
	uint64_t *next = &e->next[h->stream];

	if (e->unknown_node)
		return OUTCOME_UNKNOWN_NODE;
	if (h->seq <= *next)
		return OUTCOME_DUPLICATE;
	if (h->seq > *next + 1 && h->seq != h->base_seq)
		return OUTCOME_GAP;
	e->lost[h->stream] += h->seq - *next - 1;
	*next = h->seq;
	return OUTCOME_TAKEN;
}

static void put_move(struct columns *c, const struct entry *e, uint8_t s)
{
	copy_int8(&c->column[0], (int64_t)e->node);
	copy_int8(&c->column[1], (int64_t)e->epoch);
	copy_int2(&c->column[2], s);
	copy_int8(&c->column[3], (int64_t)e->next[s]);
	copy_int8(&c->column[4], (int64_t)e->seq[s]);
	copy_int8(&c->column[5], (int64_t)e->lost[s]);
	columns_row(c);
}

static int compare_and_set(struct columns *c, struct pg *p, const char *sql)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r = c->rows ? columns_ask(c, p, sql, &res) : 0;

	if (r < 0 || !c->rows)
		return r;
	return strtoul(PQcmdTuples(res), NULL, 10) == c->rows ? 0 : -ESTALE;
}

#define MOVES                                                                                      \
	" from unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::bigint[], $5::bigint[],"     \
	" $6::bigint[]) u(node, epoch, stream, seq, prev, lost)"

int watermark_store_move(struct pg *p, struct entry *const *e, size_t n)
{
	static const char make[] = "insert into ingest_mark (node_id, epoch, stream, seq, lost)"
				   " select node, epoch, stream, seq, lost" MOVES
				   " order by 1, 2, 3 on conflict do nothing";
	static const char move[] =
		"update ingest_mark m set seq = u.seq, lost = m.lost + u.lost,"
		" updated = now()" MOVES " where m.node_id = u.node and m.epoch = u.epoch"
		" and m.stream = u.stream and m.seq = u.prev";
	static const enum array_type types[] = { ARRAY_INT8, ARRAY_INT8, ARRAY_INT2,
						 ARRAY_INT8, ARRAY_INT8, ARRAY_INT8 };
	AUTO(columns_free) struct columns made = { 0 };
	AUTO(columns_free) struct columns moved = { 0 };
	int r;

	columns_begin(&made, ARRAY_SIZE(types), types);
	columns_begin(&moved, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < n; i++)
		for (uint8_t s = STREAM_EVENT; s < STREAM_END; s++)
			if (e[i]->next[s] != e[i]->seq[s])
				put_move(e[i]->exists[s] ? &moved : &made, e[i], s);
	r = compare_and_set(&made, p, make);
	return r < 0 ? r : compare_and_set(&moved, p, move);
}

void watermark_store_moved(struct entry *const *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (int s = STREAM_EVENT; s < STREAM_END; s++)
			e[i]->exists[s] |= e[i]->next[s] != e[i]->seq[s];
		memcpy(e[i]->seq, e[i]->next, sizeof(e[i]->seq));
		watermark_store_begin(e[i]);
	}
}
