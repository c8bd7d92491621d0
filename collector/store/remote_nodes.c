// SPDX-License-Identifier: Apache-2.0
#include "collector/store/remote_nodes.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "collector/db/columns.h"
#include "collector/core/counters.h"
#include "collector/store/row/dims.h"
#include "collector/core/pairmap.h"

#define NAME_MAX_TEXT 512

struct remote_nodes {
	struct pairmap *nodes; /* (node, region) pairs that are stored */
};

struct remote_nodes *remote_nodes_new(void)
{
	struct remote_nodes *o = calloc(1, sizeof(*o));

	if (!o)
		die("out of memory");
	o->nodes = pairmap_new(0);
	return o;
}

void remote_nodes_free(struct remote_nodes *o)
{
	if (!o)
		return;
	pairmap_free(o->nodes);
	free(o);
}

void remote_nodes_forget(struct remote_nodes *o)
{
	pairmap_forget(o->nodes);
}

static uint64_t region_of(const struct batch *b)
{
	return dims_region_id(b->origin->region[0]);
}

static bool needs_insert(const struct remote_nodes *o, const struct batch *b)
{
	return b->origin && !b->malformed && !pairmap_find(o->nodes, b->of.node_id, region_of(b));
}

static void refuse_region(struct batch *b, const char *region)
{
	char *text = arena_alloc(b->arena, NAME_MAX_TEXT);

	snprintf(
		text, NAME_MAX_TEXT,
		"node %.128s belongs to region %.128s here, but region %.128s relays a node of the "
		"same name: rename one of them",
		b->origin->name, region, b->origin->region[0]);
	b->malformed = text;
	counter_add(C_REFUSED_REGION, 1);
}

int remote_nodes_check(struct remote_nodes *o, struct pg *p, struct batch *const *b, size_t n)
{
	static const char sql[] =
		"select u.place, coalesce(g.name, '') from unnest($1::bigint[], $2::bigint[],"
		" $3::bigint[]) u(place, node, region) join node n on n.node_id = u.node left join"
		" region g on g.region_id = n.region_id where n.region_id <> u.region";
	static const enum array_type types[] = { ARRAY_INT8, ARRAY_INT8, ARRAY_INT8 };
	AUTO(columns_free) struct columns c = { 0 };
	AUTO(PQclear) PGresult *res = NULL;
	int r;

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < n; i++) {
		if (!needs_insert(o, b[i]))
			continue;
		copy_int8(&c.column[0], (int64_t)i);
		copy_int8(&c.column[1], (int64_t)b[i]->of.node_id);
		copy_int8(&c.column[2], (int64_t)region_of(b[i]));
		columns_row(&c);
	}
	if (!c.rows)
		return 0;
	r = columns_ask(&c, p, sql, &res);
	for (int row = 0; r == 0 && row < PQntuples(res); row++)
		refuse_region(b[strtoul(PQgetvalue(res, row, 0), NULL, 10)],
			      PQgetvalue(res, row, 1));
	return r;
}

static int store_nodes(struct remote_nodes *o, struct pg *p, struct batch *const *b, size_t n)
{
	static const char sql[] =
		"insert into node (node_id, region_id, name, last_seen) select distinct on (node) "
		"node, region, name, timestamptz 'epoch' from unnest($1::bigint[], $2::bigint[], "
		"$3::text[]) u(node, region, name) order by node on conflict (node_id) do nothing";
	static const enum array_type types[] = { ARRAY_INT8, ARRAY_INT8, ARRAY_TEXT };
	AUTO(columns_free) struct columns c = { 0 };
	int r = 0;

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < n && r == 0; i++) {
		uint64_t region;

		if (!needs_insert(o, b[i]))
			continue;
		r = dims_region(p, b[i]->origin->region[0], &region);
		copy_int8(&c.column[0], (int64_t)b[i]->of.node_id);
		copy_int8(&c.column[1], (int64_t)region_of(b[i]));
		copy_text(&c.column[2], b[i]->origin->name);
		columns_row(&c);
		pairmap_add(o->nodes, b[i]->of.node_id, region_of(b[i]));
	}
	return r < 0 ? r : columns_execute(&c, p, sql);
}

static bool is_of_process(const struct batch *b)
{
	return b->origin && b->of.epoch && b->of.seq;
}

int remote_nodes_find_resent(struct pg *p, struct batch *const *b, size_t n)
{
	static const char sql[] =
		"select take_relayed($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])";
	static const enum array_type types[] = { ARRAY_INT8, ARRAY_INT8, ARRAY_INT8, ARRAY_INT8 };
	AUTO(columns_free) struct columns c = { 0 };
	AUTO(PQclear) PGresult *res = NULL;
	const char *flags;
	int r;

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < n; i++) {
		if (!is_of_process(b[i]))
			continue;
		copy_int8(&c.column[0], (int64_t)b[i]->of.node_id);
		copy_int8(&c.column[1], (int64_t)b[i]->of.epoch);
		copy_int8(&c.column[2], b[i]->of.stream);
		copy_int8(&c.column[3], (int64_t)b[i]->of.seq);
		columns_row(&c);
	}
	r = c.rows ? columns_ask(&c, p, sql, &res) : 0;
	if (r < 0 || !c.rows)
		return r;
	flags = PQgetvalue(res, 0, 0); /* {t,f,...} */
	for (size_t i = 0; i < n; i++)
		if (is_of_process(b[i]))
			b[i]->resent = *(flags += flags[0] == '{' ? 1 : 2) == 't';
	return 0;
}

static void put_tag(struct columns *c, const struct tag_item *t)
{
	copy_int8(&c->column[0], (int64_t)t->entity);
	copy_text(&c->column[1], t->key);
	copy_text(&c->column[2], t->value);
	copy_int8(&c->column[3], (int64_t)t->since_us);
	copy_int8(&c->column[4], (int64_t)t->until_us);
	copy_text(&c->column[5], t->said_by);
	columns_row(c);
}

static int store_node(struct pg *p, const struct batch *b, const struct node_item *q)
{
	static const char sql[] =
		"select take_node($1::bigint, $2, $3, $4, timestamptz 'epoch' + $5::float8 * "
		"interval '1 microsecond', $6::bigint[], $7::text[], $8::text[], $9::bigint[],"
		" $10::bigint[], $11::text[])";
	static const enum array_type types[] = { ARRAY_INT8, ARRAY_TEXT, ARRAY_TEXT,
						 ARRAY_INT8, ARRAY_INT8, ARRAY_TEXT };
	AUTO(columns_free) struct columns c = { 0 };
	struct pg_args a = { 0 };
	char node[24], first[24];

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (uint32_t i = 0; i < q->ntags; i++)
		put_tag(&c, &q->tags[i]);
	snprintf(node, sizeof(node), "%" PRId64, (int64_t)b->of.node_id);
	snprintf(first, sizeof(first), "%" PRIu64, q->first_ns / 1000);
	pg_arg_text(&a, node);
	pg_arg_text(&a, q->name);
	pg_arg_text(&a, q->machine);
	pg_arg_text(&a, q->version);
	pg_arg_text(&a, first);
	for (int i = 0; i < c.n; i++) {
		if (q->ntags)
			array_end(&c.column[i], q->ntags);
		if (q->ntags)
			pg_arg_binary(&a, &c.column[i]);
		else
			pg_arg_text(&a, "{}");
	}
	return pg_execute(p, sql, &a);
}

static int store_seen(struct pg *p, const struct region_item *q)
{
	static const char sql[] =
		"update node n set last_seen = u.ts from (select v.node, timestamptz 'epoch' + "
		"v.ms * "
		"interval '1 ms' as ts, v.region from unnest($1::bigint[], $2::bigint[], "
		"$3::bigint[]) v(node, ms, region)) u where n.node_id = u.node and n.region_id = "
		"u.region and n.last_seen < u.ts and u.ts < now() + interval '1 minute'";
	static const enum array_type types[] = { ARRAY_INT8, ARRAY_INT8, ARRAY_INT8 };
	AUTO(columns_free) struct columns c = { 0 };

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (uint32_t i = 0; i < q->nseen; i++) {
		copy_int8(&c.column[0], (int64_t)q->seen[i].node);
		copy_int8(&c.column[1], (int64_t)q->seen[i].ms);
		copy_int8(&c.column[2], (int64_t)dims_region_id(q->name));
		columns_row(&c);
	}
	return columns_execute(&c, p, sql);
}

static int store_region(struct pg *p, const struct batch *b, const struct region_item *q)
{
	static const char sql[] =
		"insert into region_relay values ($1::bigint, $2::bigint, $3, timestamptz 'epoch' "
		"+ "
		"$4::float8 * interval '1 microsecond', now()) on conflict (region_id) do update "
		"set relay_id = excluded.relay_id, console = excluded.console, told = "
		"excluded.told, heard = excluded.heard";
	struct pg_args a = { 0 };
	char region[24], relay[24], at[24];
	uint64_t id;
	int r = dims_region(p, q->name, &id);

	if (r < 0)
		return r;
	snprintf(region, sizeof(region), "%" PRId64, (int64_t)id);
	snprintf(relay, sizeof(relay), "%" PRId64, (int64_t)b->head.node_id);
	snprintf(at, sizeof(at), "%" PRIu64, b->head.wall_ns / 1000);
	pg_arg_text(&a, region);
	pg_arg_text(&a, relay);
	pg_arg_text(&a, q->console);
	pg_arg_text(&a, at);
	return pg_execute(p, sql, &a);
}

int remote_nodes_store(struct remote_nodes *o, struct pg *p, struct batch *const *b, size_t n)
{
	int r = store_nodes(o, p, b, n);

	for (size_t i = 0; i < n && r == 0; i++) {
		for (uint32_t k = 0; k < b[i]->items.nnodes && r == 0; k++)
			r = store_node(p, b[i], &b[i]->items.nodes[k]);
		for (uint32_t k = 0; k < b[i]->items.nregions && r == 0; k++)
			r = store_region(p, b[i], &b[i]->items.regions[k]);
		for (uint32_t k = 0; k < b[i]->items.nregions && r == 0; k++)
			r = store_seen(p, &b[i]->items.regions[k]);
		for (uint32_t k = 0; k < b[i]->items.nincidents && r == 0; k++)
			r = remote_nodes_store_incident(p, b[i], &b[i]->items.incidents[k]);
	}
	return r;
}
