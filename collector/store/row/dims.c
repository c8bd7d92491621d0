// SPDX-License-Identifier: Apache-2.0
#include "collector/store/row/dims.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/cgroup_name.h"
#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/base/json.h"
#include "lib/base/log.h"
#include "collector/db/columns.h"
#include "collector/core/counters.h"
#include "collector/core/pairmap.h"
#include "collector/store/row/name_budget.h"

static const uint64_t QUIET_NS = 3600000000000u;

#define DAY_NS 86400000000000u

enum { REFUSED = 64 };

/* What was refused since the last transaction; beyond REFUSED kinds of nodes only counters know. */
struct refused_name {
	uint64_t node, n, at_ns;
	enum name_budget of;
};

struct dims {
	struct pairmap *layouts, *entities, *keys; /* ids */
	struct pairmap *nodes; /* struct name_counts */
	uint64_t day;
	struct refused_name unsaid[REFUSED];
	size_t nunsaid;
	uint64_t refused, logged_ns; /* since the last line of the log; monotonic, 0: never */
};

struct dims *dims_new(void)
{
	struct dims *d = calloc(1, sizeof(*d));

	if (!d)
		die("out of memory");
	d->layouts = pairmap_new(0);
	d->entities = pairmap_new(0);
	d->keys = pairmap_new(0);
	d->nodes = pairmap_new(sizeof(struct name_counts));
	return d;
}

void dims_free(struct dims *d)
{
	if (!d)
		return;
	pairmap_free(d->layouts);
	pairmap_free(d->entities);
	pairmap_free(d->keys);
	pairmap_free(d->nodes);
	free(d);
}

void dims_forget(struct dims *d)
{
	pairmap_forget(d->layouts);
	pairmap_forget(d->entities);
	pairmap_forget(d->keys);
	pairmap_forget(d->nodes);
	d->nunsaid = 0; /* what is stored again is refused again */
}

static void note_refused(struct dims *d, const struct batch *b, enum name_budget of)
{
	struct refused_name *at = d->unsaid, *end = at + d->nunsaid;

	while (at < end && (at->node != b->of.node_id || at->of != of))
		at++;
	if (at == d->unsaid + REFUSED)
		return;
	if (at == end) {
		*at = (struct refused_name){ .node = b->of.node_id, .of = of };
		d->nunsaid++;
	}
	at->n++;
	at->at_ns = b->now_ns;
}

static void refuse_name(struct dims *d, const struct batch *b, enum name_budget of)
{
	uint64_t now = clock_mono_ns();

	counter_add(C_NAMES_REFUSED, 1);
	note_refused(d, b, of);
	d->refused++;
	if (d->logged_ns && now - d->logged_ns < QUIET_NS)
		return;
	log_warn(0,
		 "node %s brought more than %" PRIu32 " new names of %s today: further ones are "
		 "stored without a name until midnight UTC (%" PRIu64 " names since the last such "
		 "line); let its probe watch fewer of them, for cgroups with option scope",
		 b->name ? b->name : "?", name_budget_most(of), name_budget_text(of), d->refused);
	d->logged_ns = now;
	d->refused = 0;
}

static bool is_new(struct dims *d, struct pairmap *ids, const struct batch *b, uint64_t id,
		   enum name_budget of)
{
	uint64_t node = b->of.node_id;

	if (!name_budget_take(pairmap_add(d->nodes, node, 0), of)) {
		refuse_name(d, b, of);
		return false;
	}
	pairmap_add(ids, node, id);
	return true;
}

/* Layouts are rare, so each has its own statement: columns of arrays would need arrays of
 * arrays. */
static int store_layout(struct dims *d, struct pg *p, const struct layout *l)
{
	static const char sql[] = "insert into layout (layout_id, entity_kind, names, units, kinds)"
				  " values ($1::bigint, $2, $3::text[], $4::text[], $5::smallint[])"
				  " on conflict do nothing";
	struct buf names = { 0 }, units = { 0 }, kinds = { 0 };
	struct pg_args a = { 0 };
	char id[24];
	int r;

	snprintf(id, sizeof(id), "%" PRId64, (int64_t)l->id);
	array_begin(&names, ARRAY_TEXT);
	array_begin(&units, ARRAY_TEXT);
	array_begin(&kinds, ARRAY_INT2);
	for (uint32_t i = 0; i < l->n; i++) {
		copy_text(&names, l->metrics[i].name);
		copy_text(&units, l->metrics[i].unit);
		copy_int2(&kinds, l->metrics[i].kind);
	}
	array_end(&names, l->n);
	array_end(&units, l->n);
	array_end(&kinds, l->n);
	pg_arg_text(&a, id);
	pg_arg_text(&a, l->kind);
	pg_arg_binary(&a, &names);
	pg_arg_binary(&a, &units);
	pg_arg_binary(&a, &kinds);
	r = pg_execute(p, sql, &a);
	buf_free(&names);
	buf_free(&units);
	buf_free(&kinds);
	if (r == 0)
		pairmap_add(d->layouts, l->id, 0);
	return r;
}

static int store_layouts(struct dims *d, struct pg *p, const struct batch *b)
{
	int r = 0;

	for (uint32_t i = 0; i < b->items.nsamples && r == 0; i++)
		if (!pairmap_find(d->layouts, b->layout[i]->id, 0))
			r = store_layout(d, p, b->layout[i]);
	for (uint32_t i = 0; i < b->items.nrollups && r == 0; i++) {
		const struct rollup_item *q = &b->items.rollups[i];
		const struct layout l = { q->layout, q->kind, q->nmetrics, q->metrics };

		if (!pairmap_find(d->layouts, l.id, 0))
			r = store_layout(d, p, &l);
	}
	return r;
}

/* The labels that an entity's name contains. */
static void put_labels(struct buf *out, const char *kind, const char *name)
{
	struct buf json = { 0 };
	struct cgroup_name labels;

	json_raw(&json, "{");
	if (strcmp(kind, "cgroup") == 0 && name[0] == '/') {
		cgroup_name_read(name, &labels);
		json_raw(&json, "\"path\":");
		json_text(&json, name);
		for (int i = 0; i < LABEL_END; i++) {
			if (!labels.value[i][0])
				continue;
			json_raw(&json, ",\"");
			json_raw(&json, cgroup_keys[i]);
			json_raw(&json, "\":");
			json_text(&json, labels.value[i]);
		}
	}
	json_raw(&json, "}");
	buf_put(&json, "", 1);
	copy_text(out, (const char *)json.data);
	buf_free(&json);
}

uint64_t dims_entity_id(const char *kind, const char *name)
{
	return hash_end(hash_add_str(hash_add_str(HASH_START, kind), name));
}

static void put_entity(struct dims *d, struct columns *c, const struct batch *b, uint64_t id,
		       const char *kind, const char *name)
{
	if (pairmap_find(d->entities, b->of.node_id, id) ||
	    !is_new(d, d->entities, b, id, name_budget_of(kind, name)))
		return;
	copy_int8(&c->column[0], (int64_t)b->of.node_id);
	copy_int8(&c->column[1], (int64_t)id);
	copy_text(&c->column[2], kind);
	copy_text(&c->column[3], name);
	put_labels(&c->column[4], kind, name);
	columns_row(c);
}

/* Entities of a rollup are stored only if their id is the hash of their name. */
static void put_entities(struct dims *d, struct columns *c, const struct batch *b)
{
	for (uint32_t i = 0; i < b->items.nsamples; i++)
		put_entity(d, c, b, b->entity_id[i], b->layout[i]->kind,
			   b->items.samples[i].entity);
	for (uint32_t i = 0; i < b->items.nrollups; i++) {
		const struct rollup_item *q = &b->items.rollups[i];

		for (uint32_t k = 0; k < q->nentities; k++)
			if (dims_entity_id(q->kind, q->entities[k].name) == q->entities[k].id)
				put_entity(d, c, b, q->entities[k].id, q->kind,
					   q->entities[k].name);
	}
}

static void put_keys(struct dims *d, struct columns *c, const struct batch *b)
{
	uint64_t node = b->of.node_id;

	for (uint32_t i = 0; i < b->items.nreds; i++) {
		const struct red_item *q = &b->items.reds[i];

		if (pairmap_find(d->keys, node, b->key_id[i]) ||
		    !is_new(d, d->keys, b, b->key_id[i], NAMES_KEY))
			continue;
		copy_int8(&c->column[0], (int64_t)node);
		copy_int8(&c->column[1], (int64_t)b->key_id[i]);
		copy_text(&c->column[2], q->app);
		copy_text(&c->column[3], q->route);
		copy_text(&c->column[4], q->peer);
		copy_int2(&c->column[5], q->role);
		columns_row(c);
	}
}

static void put_sources(struct dims *d UNUSED, struct columns *c, const struct batch *b)
{
	for (uint32_t i = 0; i < b->items.nsources; i++) {
		const struct source_item *s = &b->items.sources[i];

		copy_int8(&c->column[0], (int64_t)b->of.node_id);
		copy_text(&c->column[1], s->name);
		copy_int2(&c->column[2], s->state);
		copy_text(&c->column[3], s->why);
		copy_time(&c->column[4], b->tick_ns);
		columns_row(c);
	}
}

static void put_seen(struct dims *d UNUSED, struct columns *c, const struct batch *b)
{
	if (b->items.nnodes) /* reported by its region, which may report a silent node */
		return;
	copy_int8(&c->column[0], (int64_t)b->of.node_id);
	copy_time(&c->column[1], b->tick_ns < b->now_ns ? b->tick_ns : b->now_ns);
	copy_time(&c->column[2], b->now_ns);
	columns_row(c);
}

/* The last state wins, also within one statement. `since` is when the current state began. */
static const struct dim {
	void (*put)(struct dims *d, struct columns *c, const struct batch *b);
	int n;
	enum array_type types[6];
	const char *sql;
} table[] = {
	{ put_entities,
	  5,
	  { ARRAY_INT8, ARRAY_INT8, ARRAY_TEXT, ARRAY_TEXT, ARRAY_TEXT },
	  "insert into entity as e (node_id, entity_id, kind, name, labels)"
	  " select node, id, kind, name, labels::jsonb from unnest($1::bigint[], $2::bigint[],"
	  " $3::text[], $4::text[], $5::text[]) u(node, id, kind, name, labels)"
	  " on conflict (node_id, entity_id) do update set labels = excluded.labels"
	  " where e.labels <> excluded.labels" },
	{ put_keys,
	  6,
	  { ARRAY_INT8, ARRAY_INT8, ARRAY_TEXT, ARRAY_TEXT, ARRAY_TEXT, ARRAY_INT2 },
	  "insert into red_key (node_id, key_id, app, route, peer, role)"
	  " select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[],"
	  " $6::smallint[]) on conflict do nothing" },
	{ put_sources,
	  5,
	  { ARRAY_INT8, ARRAY_TEXT, ARRAY_INT2, ARRAY_TEXT, ARRAY_TIME },
	  "insert into source as s (node_id, name, state, why, since)"
	  " select distinct on (node, name) node, name, state, why, since from unnest($1::bigint[],"
	  " $2::text[], $3::smallint[], $4::text[], $5::timestamptz[])"
	  " with ordinality u(node, name, state, why, since, i) order by node, name, i desc"
	  " on conflict (node_id, name) do update set state = excluded.state, why = excluded.why,"
	  " since = case when s.state = excluded.state then s.since else excluded.since end" },
	{ put_seen,
	  3,
	  { ARRAY_INT8, ARRAY_TIME, ARRAY_TIME },
	  /* a time far in the future is from when a clock was ahead */
	  "update node n set last_seen = case when n.last_seen > u.now + interval '1 hour' then"
	  " u.ts else greatest(n.last_seen, u.ts) end from (select node, max(ts) ts, max(now) now"
	  " from unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[]) v(node, ts, now)"
	  " group by node) u where n.node_id = u.node" },
};

static int store_dim(struct dims *d, struct pg *p, struct batch *const *b, size_t n,
		     const struct dim *dim)
{
	AUTO(columns_free) struct columns c = { 0 };

	columns_begin(&c, dim->n, dim->types);
	for (size_t i = 0; i < n; i++)
		dim->put(d, &c, b[i]);
	return columns_execute(&c, p, dim->sql);
}

static int store_refused(struct dims *d, struct pg *p)
{
	static const enum array_type types[] = { ARRAY_INT8, ARRAY_TEXT, ARRAY_INT8, ARRAY_TIME };
	AUTO(columns_free) struct columns c = { 0 };

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < d->nunsaid; i++) {
		const struct refused_name *r = &d->unsaid[i];

		copy_int8(&c.column[0], (int64_t)r->node);
		copy_text(&c.column[1], name_budget_text(r->of));
		copy_int8(&c.column[2], (int64_t)r->n);
		copy_time(&c.column[3], r->at_ns);
		columns_row(&c);
	}
	d->nunsaid = 0;
	return columns_execute(&c, p,
			       "select add_refused_names($1::bigint[], $2::text[], $3::bigint[],"
			       " $4::timestamptz[])");
}

/* The limits are per day: cgroups come and go. */
static void begin_day(struct dims *d, uint64_t now_ns)
{
	if (d->day != now_ns / DAY_NS)
		dims_forget(d);
	d->day = now_ns / DAY_NS;
}

int dims_store(struct dims *d, struct pg *p, struct batch *const *b, size_t n)
{
	int r = 0;

	if (n)
		begin_day(d, b[0]->now_ns);
	for (size_t i = 0; i < n && r == 0; i++)
		r = store_layouts(d, p, b[i]);
	for (size_t i = 0; i < ARRAY_SIZE(table) && r == 0; i++)
		r = store_dim(d, p, b, n, &table[i]);
	return r == 0 ? store_refused(d, p) : r;
}

uint64_t dims_region_id(const char *name)
{
	return hash_end(hash_add_str(hash_add_str(HASH_START, "region"), name));
}

int dims_region(struct pg *p, const char *name, uint64_t *id)
{
	uint64_t h = dims_region_id(name);
	struct pg_args a = { 0 };
	char text[24];
	int r;

	snprintf(text, sizeof(text), "%" PRId64, (int64_t)h);
	pg_arg_text(&a, text);
	pg_arg_text(&a, name);
	r = pg_execute(p, "insert into region values ($1::bigint, $2) on conflict do nothing", &a);
	if (r == 0)
		*id = h;
	return r;
}
