// SPDX-License-Identifier: Apache-2.0
#include "collector/score/score_publish.h"

#include <math.h>

#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/base/log.h"
#include "collector/db/columns.h"
#include "collector/core/counters.h"
#include "collector/core/engine_state.h"
#include "collector/core/pairmap.h"
#include "collector/score/score_node.h"

#define SEC 1000000000ull

static const uint64_t INTERVAL_NS = 10 * SEC, LATE_NS = 120 * SEC, GONE_NS = 600 * SEC;

static const struct {
	const char *kind, *name;
} wanted[SCORED_END] = {
#define SCORED(ID, kind, name) [SCORED_##ID] = { kind, name },
#include "collector/score/scored.def"
};

static const char *const class_name[SCORE_CLASSES] = {
	[SCORE_SATURATION] = "saturation",
	[SCORE_LOAD] = "load",
	[SCORE_LATENCY] = "latency",
	[SCORE_ERROR] = "error",
};

struct score_publish {
	struct pairmap *nodes; /* struct score_node by id */
	struct pairmap *layouts; /* struct score_wanted by id */
	uint64_t due_ns, now_ns;
	struct columns *columns; /* during score_publish_write */
	struct buf json;
};

struct score_publish *score_publish_new(void)
{
	struct score_publish *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->nodes = pairmap_new(sizeof(struct score_node));
	s->layouts = pairmap_new(sizeof(struct score_wanted));
	s->due_ns = clock_mono_ns() + INTERVAL_NS;
	return s;
}

void score_publish_free(struct score_publish *s)
{
	if (!s)
		return;
	pairmap_free(s->nodes);
	pairmap_free(s->layouts);
	buf_free(&s->json);
	free(s);
}

static const struct score_wanted *find_wanted(struct score_publish *s, const struct layout *l)
{
	struct score_wanted *w = pairmap_add(s->layouts, l->id, 0);

	if (w->known)
		return w;
	w->known = true;
	for (int k = 0; k < SCORED_END; k++) {
		w->place[k] = -1;
		for (uint32_t i = 0; i < l->n && strcmp(l->kind, wanted[k].kind) == 0; i++)
			if (strcmp(l->metrics[i].name, wanted[k].name) == 0)
				w->place[k] = (int16_t)i;
		w->any |= w->place[k] >= 0;
	}
	return w;
}

void score_publish_take(struct score_publish *s, const struct batch *b)
{
	uint64_t now = clock_mono_ns();
	struct score_node *n;

	if (b->head.wall_ns + LATE_NS < b->now_ns)
		return; /* a node that catches up sends old data */
	n = pairmap_add(s->nodes, b->head.node_id, 0);
	n->heard_ns = now;
	n->changed = true;
	for (uint32_t i = 0; i < b->items.nsamples; i++) {
		const struct score_wanted *w = find_wanted(s, b->layout[i]);

		if (w->any)
			score_node_sample(n, w, &b->items.samples[i], now);
	}
	for (uint32_t i = 0; i < b->items.nreds; i++)
		score_node_red(n, &b->items.reds[i], now);
	for (uint32_t i = 0; i < b->items.nevents; i++)
		score_node_event(n, &b->items.events[i], now);
}

static void put_cause(struct buf *j, const struct node_score *s)
{
	json_raw(j, "{\"code\":");
	json_text(j, s->worst.code);
	if (s->known) {
		json_raw(j, ",\"what\":");
		if (*s->worst.what)
			json_text(j, s->worst.what);
		else
			json_raw(j, "null");
		json_raw(j, ",\"value\":");
		json_number(j, s->worst.value);
	}
	json_raw(j, ",\"unknown\":[");
	for (uint32_t i = 0; i < s->nunknown; i++) {
		json_raw(j, i ? "," : "");
		json_text(j, s->unknown[i]);
	}
	json_raw(j, "]}");
}

static void put_node(struct score_publish *s, uint64_t id, const struct score_node *n)
{
	struct buf *column = s->columns->column;
	struct node_score score[SCORE_CLASSES];
	struct node_score_facts facts;

	score_node_facts(n, s->now_ns, &facts);
	node_score_judge(&facts, score);
	buf_reset(&s->json);
	copy_int8(&column[0], (int64_t)id);
	copy_time(&column[1], clock_wall_ns());
	for (int i = 0; i < SCORE_CLASSES; i++) {
		json_raw(&s->json, i ? "," : "{");
		json_text(&s->json, class_name[i]);
		json_raw(&s->json, ":");
		put_cause(&s->json, &score[i]);
		if (score[i].known)
			copy_int2(&column[2 + i], (int16_t)lround(score[i].worst.score));
		else
			copy_null(&column[2 + i]);
	}
	json_raw(&s->json, "}");
	buf_put(&s->json, "", 1);
	copy_text(&column[2 + SCORE_CLASSES], (const char *)s->json.data);
	columns_row(s->columns);
}

static bool write_node(void *arg, uint64_t id, uint64_t zero UNUSED, void *value)
{
	struct score_publish *s = arg;
	struct score_node *n = value;

	if (n->changed)
		put_node(s, id, n);
	n->changed = false;
	return n->heard_ns + GONE_NS > s->now_ns;
}

/* Sorted by node, because another collector may write the same nodes. */
static const char sql[] =
	"insert into node_score as s (node_id, at, saturation, load, latency, error, causes)"
	" select u.node, u.at, u.saturation, u.load, u.latency, u.error, u.causes::jsonb from "
	"unnest($1::bigint[], "
	"$2::timestamptz[], $3::smallint[], $4::smallint[], $5::smallint[], $6::smallint[], "
	"$7::text[])"
	" u(node, at, saturation, load, latency, error, causes) order by u.node"
	" on conflict (node_id) do update set at = excluded.at, saturation = excluded.saturation,"
	" load = excluded.load, latency = excluded.latency, error = excluded.error, causes = "
	"excluded.causes"
	" where s.at < excluded.at";

int score_publish_write(struct score_publish *s, struct pg *p)
{
	static const enum array_type types[] = { ARRAY_INT8, ARRAY_TIME, ARRAY_INT2, ARRAY_INT2,
						 ARRAY_INT2, ARRAY_INT2, ARRAY_TEXT };
	AUTO(columns_free) struct columns c = { 0 };
	int r;

	s->now_ns = clock_mono_ns();
	if (s->now_ns < s->due_ns)
		return 0;
	s->due_ns = s->now_ns + INTERVAL_NS;
	columns_begin(&c, ARRAY_SIZE(types), types);
	s->columns = &c;
	pairmap_each(s->nodes, write_node, s);
	s->columns = NULL;
	r = columns_execute(&c, p, sql);
	counter_add(r < 0 ? C_SCORE_FAILURES : C_SCORES, r < 0 ? 1 : c.rows);
	if (r < 0)
		engine_failed(ENGINE_SCORES, pg_why(p));
	else
		engine_well(ENGINE_SCORES);
	return r;
}
