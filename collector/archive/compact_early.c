// SPDX-License-Identifier: Apache-2.0
#include "collector/archive/compact_early.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "collector/archive/compact_job.h"

enum { BACK_S = 7200, HOUR_S = 3600 };

struct early {
	struct pg *pg;
	const struct pairmap *layouts;
	const char *region;
	uint64_t slot_s, node; /* the next slot to send; the nodes up to this one are done */
};

/* Without a mark, in a region that was not relayed before, it begins with the last slot. */
static int read_mark(struct early *e, uint64_t until_s)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r = pg_ask(e->pg, "select slot_s, upto from relay_rolled", &(struct pg_args){ 0 },
		       &res);

	if (r < 0)
		return r;
	e->slot_s = until_s - SEAL_EARLY_S;
	if (PQntuples(res)) {
		e->slot_s = strtoull(PQgetvalue(res, 0, 0), NULL, 10);
		e->node = strtoull(PQgetvalue(res, 0, 1), NULL, 10);
	}
	if (e->slot_s < until_s - BACK_S) {
		e->slot_s = until_s - BACK_S;
		e->node = 0;
	}
	return 0;
}

static void mark_text(char text[static 160], uint64_t slot_s, uint64_t node)
{
	snprintf(text, 160, "select set_relay_rolled(%" PRIu64 ", %" PRIu64 ")", slot_s, node);
}

/* Nodes with the number of their values, in the order of their ids. */
static int read_nodes(const struct early *e, PGresult **out)
{
	char sql[640], from[32], until[32];

	compact_time_text(e->slot_s, from);
	compact_time_text(e->slot_s + SEAL_EARLY_S, until);
	snprintf(sql, sizeof(sql),
		 "select node_id, sum(cardinality(entities) * cardinality(l.names))::bigint from "
		 "sample_raw join layout l using (layout_id) where ts >= '%s' and ts < '%s' and "
		 "node_id > %" PRIu64 " group by 1 order by 1",
		 from, until, e->node);
	return pg_ask(e->pg, sql, &(struct pg_args){ 0 }, out);
}

static int relay_group(struct early *e, const char *nodes, uint64_t last)
{
	struct compact_job job = { .hour_s = e->slot_s / HOUR_S * HOUR_S,
				   .from_s = e->slot_s,
				   .until_s = e->slot_s + SEAL_EARLY_S,
				   .nodes = nodes,
				   .region = e->region,
				   .early = true };
	char then[160];
	uint64_t values;
	int r;

	mark_text(then, e->slot_s, last);
	job.then = then;
	r = compact_job_run(e->pg, e->layouts, &job, &values);
	if (r == 0)
		e->node = last;
	return r;
}

static int relay_slot(struct early *e, const PGresult *list, const atomic_bool *stop)
{
	int r = 0;

	for (int i = 0; i < PQntuples(list) && r == 0 && !atomic_load(stop);) {
		struct buf nodes = { 0 };
		uint64_t values = 0;
		int from = i;

		do {
			const char *node = PQgetvalue(list, i, 0);

			buf_put(&nodes, i > from ? "," : "{", 1);
			buf_put(&nodes, node, strlen(node));
			values += strtoull(PQgetvalue(list, i++, 1), NULL, 10);
		} while (i < PQntuples(list) &&
			 values + strtoull(PQgetvalue(list, i, 1), NULL, 10) <= SEAL_JOB_VALUES);
		buf_put(&nodes, "}", 2);
		r = relay_group(e, (const char *)nodes.data,
				strtoull(PQgetvalue(list, i - 1, 0), NULL, 10));
		buf_free(&nodes);
	}
	return r;
}

static int next_slot(struct early *e)
{
	char sql[160];
	int r;

	mark_text(sql, e->slot_s + SEAL_EARLY_S, 0);
	r = pg_do(e->pg, sql);
	if (r == 0) {
		e->slot_s += SEAL_EARLY_S;
		e->node = 0;
	}
	return r;
}

int compact_early(struct pg *p, const struct pairmap *layouts, const char *region,
		  const atomic_bool *stop)
{
	struct early e = { .pg = p, .layouts = layouts, .region = region };
	uint64_t until_s =
		(clock_wall_ns() / 1000000000u - SEAL_EARLY_SETTLE_S) / SEAL_EARLY_S * SEAL_EARLY_S;
	int r = read_mark(&e, until_s);

	while (r == 0 && e.slot_s < until_s && !atomic_load(stop)) {
		AUTO(PQclear) PGresult *list = NULL;

		r = read_nodes(&e, &list);
		if (r == 0)
			r = relay_slot(&e, list, stop);
		if (r == 0 && !atomic_load(stop))
			r = next_slot(&e);
	}
	return r;
}
