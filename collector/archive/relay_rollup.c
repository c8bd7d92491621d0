// SPDX-License-Identifier: Apache-2.0
#include "collector/archive/relay_rollup.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/wire/wire.h"
#include "collector/db/columns.h"
#include "collector/core/counters.h"
#include "collector/store/outbox.h"
#include "collector/core/pairmap.h"

enum { MAX_CHUNK = 640 << 10 /* names are added, and a frame is 1 MiB */ };

struct piece {
	uint64_t node, layout;
	uint32_t part, n;
	bool whole;
	uint64_t *id;
	struct buf chunk;
};

struct node {
	const char *name, *region;
};

struct named_layout {
	struct wire_dict dict;
	struct wire_metric metric[ITEM_MAX_VALUES];
};

struct relay_rollup {
	const char *region;
	uint64_t hour_s;
	struct piece *piece;
	size_t n, cap;
	PGresult *nodes, *metrics, *entities;
	struct pairmap *node; /* struct node */
	struct pairmap *layout; /* struct named_layout */
	struct pairmap *name; /* const char *, by node and entity */
	struct arena *arena;
};

struct relay_rollup *relay_rollup_new(const char *region, uint64_t hour_s)
{
	struct relay_rollup *r = calloc(1, sizeof(*r));

	if (!r)
		die("out of memory");
	r->region = region;
	r->hour_s = hour_s;
	r->node = pairmap_new(sizeof(struct node));
	r->layout = pairmap_new(sizeof(struct named_layout));
	r->name = pairmap_new(sizeof(const char *));
	r->arena = arena_new(SIZE_MAX);
	return r;
}

void relay_rollup_free(struct relay_rollup *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++) {
		free(r->piece[i].id);
		buf_free(&r->piece[i].chunk);
	}
	free(r->piece);
	PQclear(r->nodes);
	PQclear(r->metrics);
	PQclear(r->entities);
	pairmap_free(r->node);
	pairmap_free(r->layout);
	pairmap_free(r->name);
	arena_free(r->arena);
	free(r);
}

static struct piece *new_piece(struct relay_rollup *r)
{
	if (r->n == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 64;
		r->piece = reallocarray(r->piece, r->cap, sizeof(*r->piece));
		if (!r->piece)
			die("out of memory");
	}
	r->piece[r->n] = (struct piece){ 0 };
	return &r->piece[r->n++];
}

struct adding {
	struct relay_rollup *to;
	const struct chunk_builder_chunk *of;
	const struct chunk *minutes;
	uint32_t part;
	bool whole; /* the next piece */
};

/* Halves the entities until each piece fits. */
static void add_pieces(struct adding *a, uint32_t from, uint32_t n)
{
	struct chunk c = *a->minutes;
	struct buf packed = { 0 };
	struct piece *p;

	c.entity += from;
	c.nentities = n;
	chunk_pack(&packed, &c);
	if (packed.len > MAX_CHUNK && n > 1) {
		buf_free(&packed);
		add_pieces(a, from, n / 2);
		add_pieces(a, from + n / 2, n - n / 2);
		return;
	}
	p = new_piece(a->to);
	*p = (struct piece){ .node = a->of->node,
			     .layout = a->of->layout,
			     .part = a->part++,
			     .n = n,
			     .whole = a->whole,
			     .chunk = packed };
	a->whole = false;
	p->id = calloc(n ? n : 1, sizeof(*p->id));
	if (!p->id)
		die("out of memory");
	memcpy(p->id, a->of->id + from, n * sizeof(*p->id));
}

void relay_rollup_add(struct relay_rollup *r, const struct chunk_builder_chunk *of,
		      const struct chunk *minutes, uint32_t part, bool whole)
{
	struct adding a = { r, of, minutes, part, whole };

	add_pieces(&a, 0, minutes->nentities);
}

static uint64_t number(const PGresult *res, int row, int column)
{
	return strtoull(PQgetvalue(res, row, column), NULL, 10);
}

/* Arguments: node and layout of each piece, or node and id of each of its entities. */
static int ask_names(struct relay_rollup *r, struct pg *p, const char *sql, bool entities,
		     PGresult **out)
{
	static const enum array_type types[] = { ARRAY_INT8, ARRAY_INT8 };
	AUTO(columns_free) struct columns c = { 0 };

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < r->n; i++)
		for (uint32_t k = 0; k < (entities ? r->piece[i].n : 1); k++) {
			copy_int8(&c.column[0], (int64_t)r->piece[i].node);
			copy_int8(&c.column[1],
				  (int64_t)(entities ? r->piece[i].id[k] : r->piece[i].layout));
			columns_row(&c);
		}
	return columns_ask(&c, p, sql, out);
}

static int read_nodes(struct relay_rollup *r, struct pg *p)
{
	int e = ask_names(
		r, p,
		"select n.node_id, n.name, coalesce(g.name, '') from node n left join region g "
		"using (region_id) where n.node_id = any($1::bigint[]) and "
		"cardinality($2::bigint[]) > 0",
		false, &r->nodes);

	for (int i = 0; e == 0 && i < PQntuples(r->nodes); i++)
		*(struct node *)pairmap_add(r->node, number(r->nodes, i, 0), 0) =
			(struct node){ PQgetvalue(r->nodes, i, 1), PQgetvalue(r->nodes, i, 2) };
	return e;
}

/* One row per metric, by layout. */
static int read_metrics(struct relay_rollup *r, struct pg *p)
{
	int e = ask_names(
		r, p,
		"select l.layout_id, l.entity_kind, m.name, m.unit, m.kind from layout l cross "
		"join lateral unnest(l.names, l.units, l.kinds) with ordinality m(name, unit, "
		"kind, i) where l.layout_id = any($2::bigint[]) and cardinality($1::bigint[]) > "
		"0 order by 1, m.i",
		false, &r->metrics);

	for (int i = 0; e == 0 && i < PQntuples(r->metrics); i++) {
		struct named_layout *l = pairmap_add(r->layout, number(r->metrics, i, 0), 0);

		l->dict.entity_kind = PQgetvalue(r->metrics, i, 1);
		l->dict.metrics = l->metric;
		if (l->dict.n < ITEM_MAX_VALUES)
			l->metric[l->dict.n++] =
				(struct wire_metric){ PQgetvalue(r->metrics, i, 2),
						      PQgetvalue(r->metrics, i, 3),
						      (uint8_t)number(r->metrics, i, 4) };
	}
	return e;
}

static int read_entities(struct relay_rollup *r, struct pg *p)
{
	int e = ask_names(
		r, p,
		"select e.node_id, e.entity_id, e.name from entity e join (select distinct * "
		"from unnest($1::bigint[], $2::bigint[])) u(node_id, entity_id) using "
		"(node_id, entity_id)",
		true, &r->entities);

	for (int i = 0; e == 0 && i < PQntuples(r->entities); i++)
		*(const char **)pairmap_add(r->name, number(r->entities, i, 0),
					    number(r->entities, i, 1)) =
			PQgetvalue(r->entities, i, 2);
	return e;
}

static void put_origin(const struct relay_rollup *r, const struct piece *q, const struct node *n,
		       struct buf *body)
{
	struct origin_item o = { .node = q->node, .stream = STREAM_METRIC, .name = n->name };

	if (strcmp(n->region, r->region) != 0)
		o.region[o.hops++] = n->region;
	o.region[o.hops++] = r->region;
	wire_put_origin(body, &o);
}

/* An entity without a stored name is sent without one. */
static bool put_piece(struct relay_rollup *r, const struct piece *q, struct buf *body)
{
	const struct node *n = pairmap_find(r->node, q->node, 0);
	const struct named_layout *l = pairmap_find(r->layout, q->layout, 0);
	struct rolled_entity *e = arena_alloc(r->arena, (q->n + 1) * sizeof(*e));

	if (!n || !l || wire_layout_id(&l->dict) != q->layout)
		return false;
	for (uint32_t i = 0; i < q->n; i++) {
		const char *const *name = pairmap_find(r->name, q->node, q->id[i]);

		e[i] = (struct rolled_entity){ q->id[i], name ? *name : "" };
	}
	put_origin(r, q, n, body);
	wire_put_rollup(body, &(struct rollup_item){ .hour_s = r->hour_s,
						     .part = q->part,
						     .whole = q->whole,
						     .kind = l->dict.entity_kind,
						     .nmetrics = l->dict.n,
						     .nentities = q->n,
						     .metrics = l->metric,
						     .entities = e,
						     .chunk = q->chunk.data,
						     .chunk_len = q->chunk.len });
	return body->len <= WIRE_MAX_FRAME;
}

static int put_pieces(struct relay_rollup *r, struct pg *p)
{
	struct outbox_body *b = calloc(r->n, sizeof(*b));
	uint64_t seq;
	size_t n = 0;
	int e;

	if (!b)
		die("out of memory");
	for (size_t i = 0; i < r->n; i++) {
		b[n] = (struct outbox_body){
			.metric = true, .wall_ns = clock_wall_ns(), .items = 1, .body = b[n].body
		};
		buf_reset(&b[n].body);
		if (put_piece(r, &r->piece[i], &b[n].body))
			n++;
		else
			counter_add(C_OUTBOX_LARGE, 1);
	}
	e = n ? outbox_put(p, b, n, &seq) : 0;
	for (size_t i = 0; i < r->n; i++)
		buf_free(&b[i].body);
	free(b);
	return e;
}

int relay_rollup_put(struct relay_rollup *r, struct pg *p)
{
	int e = r->n ? read_nodes(r, p) : 0;

	if (e == 0 && r->n)
		e = read_metrics(r, p);
	if (e == 0 && r->n)
		e = read_entities(r, p);
	return e < 0 || !r->n ? e : put_pieces(r, p);
}
