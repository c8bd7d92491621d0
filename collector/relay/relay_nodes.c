// SPDX-License-Identifier: Apache-2.0
/*
 * relay_nodes.c - puts the descriptions of nodes that changed since they were last sent into the
 * outbox: names, tags with their times, and the states of sources.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "collector/relay/relay.h"

enum { NODES_AT_ONCE = 200 };

/* The nodes to send, each with a hash of its description. A relay is not a node. */
static const char due_sql[] =
	"with t as (select node_id, string_agg(t::text, ',' order by entity_id, key, since) as "
	"said from tag t group by node_id), s as (select node_id, string_agg(s::text, ',' order "
	"by name) as said from source s group by node_id), n as (select n.*, coalesce(g.name, '')"
	" as region, hashtextextended(concat_ws('|', n.name, n.machine, n.version, n.first_seen,"
	" t.said, s.said), 0) as now from node n left join region g using (region_id) left join t"
	" using (node_id) left join s using (node_id) where not exists (select from node_key k"
	" where k.node_id = n.node_id and k.relay <> '')) select n.node_id, n.name, n.machine,"
	" n.version, (extract(epoch from case when isfinite(n.first_seen) then n.first_seen else "
	"now() end) * 1000000)::bigint, n.region, n.now from n"
	" left join relay_told r using (node_id) where r.said is distinct from n.now"
	" order by n.node_id limit %d";

static const char tags_sql[] =
	"select node_id, entity_id, key, value, said_by, (extract(epoch from case when"
	" isfinite(since) then since else 'epoch' end) * 1000000)::bigint, case when until = "
	"'infinity' then 0 else (extract(epoch from until) *"
	" 1000000)::bigint end from tag where node_id = any($1::bigint[]) order by node_id, until"
	" desc, since desc";

static const char sources_sql[] =
	"select node_id, name, state, why from source where node_id = any($1::bigint[])"
	" order by node_id, name";

static const char sent_sql[] =
	"insert into relay_told select u.* from unnest($1::bigint[], $2::bigint[]) u(node_id, said)"
	" order by 1 on conflict (node_id) do update set said = excluded.said";

struct node_report {
	PGresult *nodes, *tags, *sources;
	int tag, source; /* the next rows */
	struct tag_item tag_items[ITEM_MAX_TAGS];
};

static uint64_t number(const PGresult *res, int row, int column)
{
	return strtoull(PQgetvalue(res, row, column), NULL, 10);
}

static bool is_of(const PGresult *res, int row, const char *node)
{
	return row < PQntuples(res) && strcmp(PQgetvalue(res, row, 0), node) == 0;
}

static uint32_t take_tags(struct node_report *t, const char *node)
{
	uint32_t n = 0;

	for (; is_of(t->tags, t->tag, node); t->tag++) {
		if (n == ITEM_MAX_TAGS)
			continue;
		t->tag_items[n++] = (struct tag_item){
			.entity = number(t->tags, t->tag, 1),
			.key = PQgetvalue(t->tags, t->tag, 2),
			.value = PQgetvalue(t->tags, t->tag, 3),
			.said_by = PQgetvalue(t->tags, t->tag, 4),
			.since_us = number(t->tags, t->tag, 5),
			.until_us = number(t->tags, t->tag, 6),
		};
	}
	return n;
}

static void put_node(struct node_report *t, int i, const char *region, struct outbox_body *b)
{
	const char *node = PQgetvalue(t->nodes, i, 0), *of = PQgetvalue(t->nodes, i, 5);
	struct origin_item origin = { .node = number(t->nodes, i, 0),
				      .stream = STREAM_EVENT,
				      .name = PQgetvalue(t->nodes, i, 1) };
	struct node_item item = { .name = PQgetvalue(t->nodes, i, 1),
				  .machine = PQgetvalue(t->nodes, i, 2),
				  .version = PQgetvalue(t->nodes, i, 3),
				  .first_ns = number(t->nodes, i, 4) * 1000,
				  .tags = t->tag_items };

	if (strcmp(of, region) != 0)
		origin.region[origin.hops++] = of;
	origin.region[origin.hops++] = region;
	item.ntags = take_tags(t, node);
	b->wall_ns = clock_wall_ns();
	b->items = 1;
	wire_put_origin(&b->body, &origin);
	wire_put_node(&b->body, &item);
	for (; is_of(t->sources, t->source, node); t->source++)
		wire_put_source(
			&b->body,
			&(struct source_item){ .name = PQgetvalue(t->sources, t->source, 1),
					       .state = (uint8_t)number(t->sources, t->source, 2),
					       .why = PQgetvalue(t->sources, t->source, 3) });
}

/* A column of the nodes as an array. */
static void put_array(const PGresult *nodes, int column, struct buf *out)
{
	for (int i = 0; i < PQntuples(nodes); i++) {
		buf_put(out, i ? "," : "{", 1);
		buf_put(out, PQgetvalue(nodes, i, column), strlen(PQgetvalue(nodes, i, column)));
	}
	buf_put(out, "}", 2);
}

static int ask_arrays(struct pg *p, const char *sql, const struct buf *a, const struct buf *b,
		      PGresult **out)
{
	struct pg_args args = { 0 };

	pg_arg_text(&args, (const char *)a->data);
	if (b)
		pg_arg_text(&args, (const char *)b->data);
	return pg_ask(p, sql, &args, out);
}

static int put_nodes(struct pg *p, struct node_report *t, const char *region, uint64_t *seq)
{
	size_t n = (size_t)PQntuples(t->nodes);
	struct outbox_body *b = calloc(n, sizeof(*b));
	int e;

	if (!b)
		die("out of memory");
	for (size_t i = 0; i < n; i++)
		put_node(t, (int)i, region, &b[i]);
	e = outbox_put(p, b, n, seq);
	for (size_t i = 0; i < n; i++)
		buf_free(&b[i].body);
	free(b);
	return e;
}

static int queue_nodes(struct pg *p, struct node_report *t, const char *region, uint64_t *seq)
{
	AUTO(PQclear) PGresult *done = NULL;
	struct buf ids = { 0 }, hashes = { 0 };
	int e;

	put_array(t->nodes, 0, &ids);
	put_array(t->nodes, 6, &hashes);
	e = ask_arrays(p, tags_sql, &ids, NULL, &t->tags);
	if (e == 0)
		e = ask_arrays(p, sources_sql, &ids, NULL, &t->sources);
	if (e == 0)
		e = put_nodes(p, t, region, seq);
	if (e == 0)
		e = ask_arrays(p, sent_sql, &ids, &hashes, &done);
	buf_free(&ids);
	buf_free(&hashes);
	return e;
}

int relay_nodes(struct pg *p, const char *region, uint64_t *seq)
{
	struct node_report *t = calloc(1, sizeof(*t));
	char sql[1400];
	int e;

	if (!t)
		die("out of memory");
	snprintf(sql, sizeof(sql), due_sql, NODES_AT_ONCE);
	e = pg_do(p, "begin");
	if (e == 0)
		e = pg_ask(p, sql, &(struct pg_args){ 0 }, &t->nodes);
	if (e == 0 && PQntuples(t->nodes))
		e = queue_nodes(p, t, region, seq);
	if (e == 0)
		e = pg_commit(p);
	else
		pg_rollback(p);
	PQclear(t->nodes);
	PQclear(t->tags);
	PQclear(t->sources);
	free(t);
	return e;
}

int relay_seen(struct pg *p, const char *region, uint64_t *from, struct seen_node *out, uint32_t *n)
{
	static const char sql[] =
		"select n.node_id, (extract(epoch from n.last_seen) * 1000)::bigint from node n "
		"join "
		"region g using (region_id) where g.name = $1 and n.node_id >= $2::bigint and "
		"n.last_seen > now() - interval '1 minute' and isfinite(n.last_seen) order by "
		"n.node_id limit $3::int";
	AUTO(PQclear) PGresult *res = NULL;
	struct pg_args a = { 0 };
	char at[24], most[16];
	int e;

	snprintf(at, sizeof(at), "%" PRIu64, *from);
	snprintf(most, sizeof(most), "%d", ITEM_MAX_SEEN_NODES);
	pg_arg_text(&a, region);
	pg_arg_text(&a, at);
	pg_arg_text(&a, most);
	e = pg_ask(p, sql, &a, &res);
	if (e < 0)
		return e;
	*n = (uint32_t)PQntuples(res);
	for (uint32_t i = 0; i < *n; i++)
		out[i] = (struct seen_node){ number(res, (int)i, 0), number(res, (int)i, 1) };
	*from = *n == ITEM_MAX_SEEN_NODES ? out[*n - 1].node + 1 : 0;
	return 0;
}
