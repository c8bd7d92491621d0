// SPDX-License-Identifier: Apache-2.0
#include "collector/store/places.h"

#include <inttypes.h>
#include <stdio.h>

#include "collector/db/columns.h"

enum { FIELDS = 6 };

static const enum array_type types[FIELDS] = { ARRAY_INT2, ARRAY_INET, ARRAY_INT8,
					       ARRAY_TEXT, ARRAY_INT8, ARRAY_INT2 };

static void put_place(struct columns *c, const struct place *p)
{
	copy_int2(&c->column[0], p->kind);
	copy_inet(&c->column[1], &p->addr);
	copy_int8(&c->column[2], p->addr.port);
	copy_text(&c->column[3], p->app);
	copy_int8(&c->column[4], copy_bigint(p->netns));
	copy_int2(&c->column[5], p->gone);
	columns_row(c);
}

/* Caps the time at now: an address dated in the future by a fast clock would not be found. */
static void format_when(const struct batch *b, char node[static 24], char at[static 24])
{
	snprintf(node, 24, "%" PRId64, (int64_t)b->of.node_id);
	snprintf(at, 24, "%" PRIu64, (b->tick_ns < b->now_ns ? b->tick_ns : b->now_ns) / 1000);
}

static void put_columns(struct columns *c, struct pg_args *a, uint32_t n)
{
	for (int i = 0; i < FIELDS; i++) {
		if (n)
			array_end(&c->column[i], n);
		if (n)
			pg_arg_binary(a, &c->column[i]);
		else
			pg_arg_text(a, "{}");
	}
}

static int store_places(struct pg *p, const struct batch *b, const struct place_item *item)
{
	static const char sql[] =
		"select take_places($1::bigint, timestamptz 'epoch' + $2::float8 * interval '1 "
		"microsecond',"
		" $3, $4::int, $5::smallint[], $6::inet[], $7::bigint[], $8::text[],"
		" $9::bigint[], $10::smallint[])";
	AUTO(columns_free) struct columns c = { 0 };
	struct pg_args a = { 0 };
	char node[24], at[24], more[24];

	columns_begin(&c, FIELDS, types);
	for (uint32_t i = 0; i < item->n; i++)
		put_place(&c, &item->places[i]);
	format_when(b, node, at);
	snprintf(more, sizeof(more), "%" PRIu32, item->left_out);
	pg_arg_text(&a, node);
	pg_arg_text(&a, at);
	pg_arg_text(&a, item->whole ? "true" : "false");
	pg_arg_text(&a, more);
	put_columns(&c, &a, item->n);
	return pg_execute(p, sql, &a);
}

static const enum array_type nat_types[FIELDS] = { ARRAY_INT2, ARRAY_INET, ARRAY_INT8,
						   ARRAY_INET, ARRAY_INT8, ARRAY_INT8 };

static void put_nat(struct columns *c, const struct nat_way *w)
{
	copy_int2(&c->column[0], w->kind);
	copy_inet(&c->column[1], &w->seen);
	copy_int8(&c->column[2], w->seen.port);
	copy_inet(&c->column[3], &w->real);
	copy_int8(&c->column[4], w->real.port);
	copy_int8(&c->column[5], copy_bigint(w->netns));
	columns_row(c);
}

static int store_nat(struct pg *p, const struct batch *b, const struct nat_item *item)
{
	static const char sql[] =
		"select take_nat($1::bigint, timestamptz 'epoch' + $2::float8 * interval '1 "
		"microsecond', $3::smallint[], $4::inet[], $5::bigint[], $6::inet[],"
		" $7::bigint[], $8::bigint[])";
	AUTO(columns_free) struct columns c = { 0 };
	struct pg_args a = { 0 };
	char node[24], at[24];

	columns_begin(&c, FIELDS, nat_types);
	for (uint32_t i = 0; i < item->n; i++)
		put_nat(&c, &item->ways[i]);
	format_when(b, node, at);
	pg_arg_text(&a, node);
	pg_arg_text(&a, at);
	put_columns(&c, &a, item->n);
	return pg_execute(p, sql, &a);
}

/* A NAT item holds all mappings of its node, so the last one of a batch counts. */
int places_store(struct pg *p, struct batch *const *b, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		for (uint32_t k = 0; k < b[i]->items.nplaces && r == 0; k++)
			r = store_places(p, b[i], &b[i]->items.places[k]);
	for (size_t i = 0; i < n && r == 0; i++)
		if (b[i]->items.nnats)
			r = store_nat(p, b[i], &b[i]->items.nats[b[i]->items.nnats - 1]);
	return r;
}
