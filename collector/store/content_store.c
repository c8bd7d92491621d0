// SPDX-License-Identifier: Apache-2.0
#include "collector/store/content_store.h"

#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/wire/reason.h"
#include "collector/db/columns.h"
#include "collector/core/counters.h"
#include "collector/core/pairmap.h"

/* Limits for new contents per node and day: a faulty probe must not fill the database. */
enum { MAX_STACKS = 16384, MAX_CHECKS = 4096 };

static const uint64_t DAY_NS = 86400000000000u;

struct content_counts {
	uint32_t stacks, checks;
};

struct content_store {
	struct pairmap *stacks, *checks; /* ids written today */
	struct pairmap *nodes; /* struct content_counts */
	uint64_t day;
	struct buf text;
};

struct content_store *content_store_new(void)
{
	struct content_store *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->stacks = pairmap_new(0);
	s->checks = pairmap_new(0);
	s->nodes = pairmap_new(sizeof(struct content_counts));
	return s;
}

void content_store_free(struct content_store *s)
{
	if (!s)
		return;
	pairmap_free(s->stacks);
	pairmap_free(s->checks);
	pairmap_free(s->nodes);
	buf_free(&s->text);
	free(s);
}

void content_store_forget(struct content_store *s)
{
	pairmap_forget(s->stacks);
	pairmap_forget(s->checks);
	pairmap_forget(s->nodes);
}

static bool is_due(struct pairmap *ids, uint64_t id, uint32_t *count, uint32_t max)
{
	if (pairmap_find(ids, id, 0))
		return false;
	if (*count >= max) {
		counter_add(C_NAMES_REFUSED, 1);
		return false;
	}
	pairmap_add(ids, id, 0);
	++*count;
	return true;
}

/* Texts have no control characters (decode.c), so an array travels as newline-separated text. */
static void put_stacks(struct content_store *s, struct columns *c, const struct batch *b)
{
	struct content_counts *counts = pairmap_add(s->nodes, b->of.node_id, 0);

	for (uint32_t i = 0; i < b->items.nstacks; i++) {
		const struct stack_item *q = &b->items.stacks[i];

		if (!q->id || !is_due(s->stacks, q->id, &counts->stacks, MAX_STACKS))
			continue;
		buf_reset(&s->text);
		for (uint32_t f = 0; f < q->n; f++) {
			buf_put(&s->text, "\n", f > 0);
			buf_put(&s->text, q->frame[f], strlen(q->frame[f]));
		}
		buf_put(&s->text, "", 1);
		copy_int8(&c->column[0], (int64_t)q->id);
		copy_text(&c->column[1], (const char *)s->text.data);
		copy_int2(&c->column[2], q->flags);
		columns_row(c);
	}
}

/* The code of a reason; "unknown" for a reason of a later version. */
static const char *code_of(uint16_t id)
{
	const struct reason *r = reason_find(id);

	return r ? r->code : "unknown";
}

static void put_check(struct buf *t, const struct check_item *c)
{
	if (t->len > 1)
		json_raw(t, ",");
	json_raw(t, c->why ? "{\"code\":" : "");
	json_text(t, code_of(c->reason));
	if (!c->why)
		return;
	json_raw(t, ",\"why\":");
	json_text(t, c->why);
	json_raw(t, "}");
}

/* The checks that were made (checked), or those that could not be made. */
static void put_list(struct buf *column, struct buf *t, const struct request_item *q, bool checked)
{
	buf_reset(t);
	json_raw(t, "[");
	for (uint32_t i = 0; i < q->nchecks; i++)
		if (checked == !q->checks[i].why)
			put_check(t, &q->checks[i]);
	buf_put(t, "]", 2); /* with the terminating NUL */
	copy_text(column, (const char *)t->data);
}

static void put_checks(struct content_store *s, struct columns *c, const struct batch *b)
{
	struct content_counts *counts = pairmap_add(s->nodes, b->of.node_id, 0);

	for (uint32_t i = 0; i < b->items.nrequests; i++) {
		const struct request_item *q = &b->items.requests[i];

		if (!q->nchecks || !is_due(s->checks, b->checks_id[i], &counts->checks, MAX_CHECKS))
			continue;
		copy_int8(&c->column[0], (int64_t)b->checks_id[i]);
		put_list(&c->column[1], &s->text, q, true);
		put_list(&c->column[2], &s->text, q, false);
		columns_row(c);
	}
}

/* Sorted by id, so that two collectors lock rows in the same order. */
static const struct kind {
	void (*put)(struct content_store *s, struct columns *c, const struct batch *b);
	enum array_type types[3];
	const char *sql;
} kinds[] = {
	{ put_stacks,
	  { ARRAY_INT8, ARRAY_TEXT, ARRAY_INT2 },
	  "insert into stack (stack_id, frames, flags, last_used)"
	  " select id, string_to_array(frames, E'\\n'), flags, now()"
	  " from unnest($1::bigint[], $2::text[], $3::smallint[]) u(id, frames, flags) order by id"
	  " on conflict (stack_id) do update set last_used = excluded.last_used" },
	{ put_checks,
	  { ARRAY_INT8, ARRAY_TEXT, ARRAY_TEXT },
	  "insert into checks (checks_id, checked, unchecked, last_used)"
	  " select id, checked::json, unchecked::json, now()"
	  " from unnest($1::bigint[], $2::text[], $3::text[]) u(id, checked, unchecked) order by id"
	  " on conflict (checks_id) do update set checked = excluded.checked,"
	  " unchecked = excluded.unchecked, last_used = excluded.last_used" },
};

static int store_kind(struct content_store *s, struct pg *p, struct batch *const *b, size_t n,
		      const struct kind *k)
{
	AUTO(columns_free) struct columns c = { 0 };

	columns_begin(&c, ARRAY_SIZE(k->types), k->types);
	for (size_t i = 0; i < n; i++)
		k->put(s, &c, b[i]);
	return columns_execute(&c, p, k->sql);
}

int content_store_store(struct content_store *s, struct pg *p, struct batch *const *b, size_t n)
{
	uint64_t day = n ? b[0]->now_ns / DAY_NS : s->day;
	int r = 0;

	if (day != s->day)
		content_store_forget(s);
	s->day = day;
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && r == 0; i++)
		r = store_kind(s, p, b, n, &kinds[i]);
	return r;
}
