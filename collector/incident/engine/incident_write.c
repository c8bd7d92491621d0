// SPDX-License-Identifier: Apache-2.0
/* incident_write.c - stores changed incidents and signals, and each step. */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/json.h"
#include "collector/core/counters.h"
#include "collector/incident/engine/incident_engine.h"

static void begin_row(struct buf *j)
{
	json_raw(j, j->len > 1 ? ",{" : "{");
}

static void put_id(struct buf *j, const char *name, uint64_t v)
{
	json_raw(j, name);
	json_uint(j, v);
}

static void put_text(struct buf *j, const char *name, const char *s)
{
	json_raw(j, name);
	json_text(j, s);
}

void engine_add_step(struct engine *e, struct incident *i, int64_t at_us, const char *kind,
		     const char *who, const struct buf *detail)
{
	struct buf *j = &e->step_rows;

	if (!j->len)
		json_raw(j, "[");
	begin_row(j);
	put_id(j, "\"incident_id\":", i->id);
	put_id(j, ",\"step\":", (uint64_t)++i->steps);
	put_id(j, ",\"at_us\":", (uint64_t)at_us);
	put_text(j, ",\"kind\":", kind);
	put_text(j, ",\"who\":", who);
	json_raw(j, ",\"detail\":");
	if (detail)
		buf_put(j, detail->data, detail->len);
	else
		json_raw(j, "{}");
	json_raw(j, "}");
}

void engine_on_step(void *engine, struct incident *i, int64_t at_us, const char *kind,
		    const struct signal *g, const struct incident *other)
{
	struct engine *e = engine;
	const struct engine_node *node = g ? engine_node(e, g->node) : NULL;
	struct buf d = { 0 };

	json_raw(&d, "{");
	if (g) {
		put_text(&d, "\"node\":", node ? node->name : "");
		put_text(&d, ",\"app\":", g->app);
		put_text(&d, ",\"route\":", g->route);
		put_text(&d, ",\"class\":", g->class);
		put_id(&d, ",\"count\":", g->n);
	}
	if (other) {
		put_text(&d, i->into ? "\"into\":" : "\"from\":", "");
		d.len -= 2;
		json_raw(&d, "\"");
		buf_reserve(&d, 40);
		d.len += (size_t)snprintf((char *)d.data + d.len, 40, "%" PRIx64 "-%016" PRIx64,
					  (uint64_t)other->onset_us, other->id);
		json_raw(&d, "\"");
		e->merged = true;
	}
	json_raw(&d, "}");
	engine_add_step(e, i, at_us, kind, "", &d);
	buf_free(&d);
	if (strcmp(kind, "opened") == 0)
		counter_add(C_INCIDENTS_OPENED, 1);
}

static void put_signal(struct signal *g, struct buf *j)
{
	begin_row(j);
	put_id(j, "\"incident_id\":", g->of->id);
	put_id(j, ",\"signal_id\":", g->id);
	put_id(j, ",\"host_id\":", g->node);
	put_text(j, ",\"app\":", g->app);
	put_text(j, ",\"route\":", g->route);
	put_text(j, ",\"class\":", g->class);
	put_id(j, ",\"reason_id\":", g->reason);
	put_id(j, ",\"first_us\":", (uint64_t)g->first_us);
	put_id(j, ",\"last_us\":", (uint64_t)g->last_us);
	put_id(j, ",\"n\":", g->n);
	put_id(j, ",\"excess_us\":", (uint64_t)g->excess_us);
	json_raw(j, ",\"worst\":[");
	for (int i = 0; i < SIGNAL_WORST && g->worst[i].id; i++) {
		put_id(j, i ? ",[" : "[", (uint64_t)g->worst[i].begin_us);
		put_id(j, ",", g->worst[i].id);
		json_raw(j, ",");
		json_number(j, g->worst[i].value);
		json_raw(j, "]");
	}
	json_raw(j, "]}");
	g->dirty = false;
}

static void put_incident(struct incident *i, struct buf *j)
{
	begin_row(j);
	put_id(j, "\"incident_id\":", i->id);
	put_id(j, ",\"region_id\":", i->region);
	put_id(j, ",\"onset_us\":", (uint64_t)i->onset_us);
	put_id(j, ",\"last_us\":", (uint64_t)i->last_us);
	put_id(j, ",\"opened_us\":", (uint64_t)i->opened_us);
	if (i->closed_us)
		put_id(j, ",\"closed_us\":", (uint64_t)i->closed_us);
	if (i->into)
		put_id(j, ",\"merged_into\":", i->into);
	json_raw(j, ",\"whole_us\":");
	json_number(j, i->whole_us);
	json_raw(j, i->clear ? ",\"clear\":true" : ",\"clear\":false");
	if (i->headline)
		put_id(j, ",\"headline\":", i->headline);
	put_text(j, ",\"shared\":", i->shared);
	put_id(j, ",\"shared_hosts\":", (uint64_t)i->shared_hosts);
	if (i->first_host)
		put_id(j, ",\"first_host\":", i->first_host);
	json_raw(j, "}");
	i->dirty = false;
}

/* j: "[" and rows, or empty. */
static int insert_json(struct engine *e, const char *sql, struct buf *j)
{
	struct pg_args a = { 0 };

	if (j->len <= 1)
		return 0;
	json_raw(j, "]");
	buf_put(j, "", 1);
	pg_arg_text(&a, (const char *)j->data);
	return pg_execute(e->pg, sql, &a);
}

#define AT(column) "timestamptz 'epoch' + x." column " * interval '1 microsecond'"

static int write_incidents(struct engine *e)
{
	static const char sql[] =
		"insert into incident (incident_id, region_id, onset, last, opened, closed,"
		" merged_into, whole_us, clear, headline, first_host, shared, shared_hosts) select"
		" x.incident_id, x.region_id, " AT("onset_us") ", " AT("last_us") ", " AT(
			"opened_us") ", " AT("closed_us") ","
							  " x.merged_into, x.whole_us, x.clear, "
							  "x.headline, x.first_host, x.shared,"
							  " x.shared_hosts from "
							  "jsonb_to_recordset($1) x(incident_id "
							  "bigint, region_id bigint,"
							  " onset_us bigint, last_us bigint, "
							  "opened_us bigint, closed_us bigint,"
							  " merged_into bigint, whole_us float8, "
							  "clear boolean, headline bigint,"
							  " first_host bigint, shared text, "
							  "shared_hosts int)"
							  " on conflict (incident_id) do update "
							  "set onset = excluded.onset, last = "
							  "excluded.last,"
							  " closed = excluded.closed, merged_into "
							  "= excluded.merged_into,"
							  " whole_us = excluded.whole_us, clear = "
							  "excluded.clear,"
							  " headline = excluded.headline, "
							  "first_host = excluded.first_host,"
							  " shared = excluded.shared, shared_hosts "
							  "= excluded.shared_hosts, changed = "
							  "now()";
	struct buf j = { 0 };
	int r;

	json_raw(&j, "[");
	for (size_t k = 0; k < incident_set_count_of(e->set); k++)
		if (incident_set_at(e->set, k)->dirty)
			put_incident(incident_set_at(e->set, k), &j);
	r = insert_json(e, sql, &j);
	buf_free(&j);
	return r;
}

static int write_signals(struct engine *e)
{
	static const char sql[] =
		"insert into incident_signal select x.incident_id, x.signal_id, x.host_id, x.app,"
		" x.route, x.class, x.reason_id, " AT("first_us") ", " AT(
			"last_us") ", x.n, x.excess_us,"
				   " array(select timestamptz 'epoch' + (w -> 0)::bigint * "
				   "interval '1 microsecond' from"
				   "  jsonb_array_elements(x.worst) w), array(select (w -> "
				   "1)::bigint from"
				   "  jsonb_array_elements(x.worst) w), array(select (w -> "
				   "2)::float8 from"
				   "  jsonb_array_elements(x.worst) w) from jsonb_to_recordset($1) "
				   "x(incident_id bigint,"
				   " signal_id bigint, host_id bigint, app text, route text, class "
				   "text, reason_id smallint,"
				   " first_us bigint, last_us bigint, n bigint, excess_us bigint, "
				   "worst jsonb)"
				   " on conflict (incident_id, signal_id) do update set reason_id "
				   "= excluded.reason_id,"
				   " first = excluded.first, last = excluded.last, n = excluded.n,"
				   " excess_us = excluded.excess_us, worst = excluded.worst,"
				   " worst_ids = excluded.worst_ids, worst_us = excluded.worst_us";
	struct buf j = { 0 };
	int r;

	json_raw(&j, "[");
	for (size_t k = 0; k < incident_set_count_of(e->set); k++) {
		const struct incident *i = incident_set_at(e->set, k);

		for (size_t n = 0; n < i->nsignals; n++)
			if (i->signal[n]->dirty)
				put_signal(i->signal[n], &j);
	}
	r = insert_json(e, sql, &j);
	buf_free(&j);
	return r;
}

static int write_steps(struct engine *e)
{
	static const char sql[] =
		"insert into incident_step (incident_id, step, at, kind, who, detail)"
		" select x.incident_id, x.step, " AT(
			"at_us") ", x.kind, x.who, x.detail"
				 " from jsonb_to_recordset($1) x(incident_id bigint, step int, "
				 "at_us bigint, kind text,"
				 " who text, detail jsonb)";
	int r = insert_json(e, sql, &e->step_rows);

	buf_reset(&e->step_rows);
	return r;
}

static int write_mark(struct engine *e)
{
	char sql[240];

	snprintf(sql, sizeof(sql),
		 "insert into incident_mark values ('request', timestamptz 'epoch' + %" PRId64
		 " * interval '1 microsecond') on conflict (fact) do update set stored ="
		 " excluded.stored where incident_mark.stored <> excluded.stored",
		 e->mark_us);
	return pg_do(e->pg, sql);
}

static int fold_merged(struct engine *e)
{
	int r = pg_do(e->pg, "select incident_fold(incident_id, merged_into) from incident i where"
			     " merged_into is not null and (exists (select from incident_signal s"
			     " where s.incident_id = i.incident_id) or exists (select from"
			     " incident_part p where p.incident_id = i.incident_id))");

	return r;
}

int engine_write(struct engine *e)
{
	bool again = e->merged;
	int r = write_incidents(e);

	if (r == 0)
		r = write_signals(e);
	if (r == 0)
		r = write_steps(e);
	if (r == 0 && again)
		r = fold_merged(e);
	if (r == 0)
		r = write_mark(e);
	if (r == 0)
		r = pg_commit(e->pg);
	if (r == 0 && again)
		engine_forget(e);
	return r;
}
