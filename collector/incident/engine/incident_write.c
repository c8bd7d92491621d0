// SPDX-License-Identifier: Apache-2.0
/* incident_write.c - stores changed incidents and signals, and each step. */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "collector/core/counters.h"
#include "collector/incident/engine/incident_engine.h"

enum { REFUSED_S = 10 }; /* between two tries to write a refused incident */

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

void engine_add_step(struct incident *i, int64_t at_us, const char *kind, const char *who,
		     const struct buf *detail)
{
	struct buf *j = &i->step_rows;

	json_raw(j, j->len ? ",{" : "{");
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
	engine_add_step(i, at_us, kind, "", &d);
	buf_free(&d);
	if (strcmp(kind, "opened") == 0)
		counter_add(C_INCIDENTS_OPENED, 1);
}

static void put_signal(const struct signal *g, struct buf *j)
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
}

static void put_incident(const struct incident *i, struct buf *j)
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

static int write_incident_rows(struct engine *e, struct buf *rows)
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

	return insert_json(e, sql, rows);
}

static int write_signal_rows(struct engine *e, struct buf *rows)
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

	return insert_json(e, sql, rows);
}

/* Steps are numbered here: the incident may have steps that this process does not know of. */
static int write_step_rows(struct engine *e, struct buf *rows)
{
	static const char sql[] =
		"insert into incident_step (incident_id, step, at, kind, who, detail)"
		" select x.incident_id, coalesce((select max(s.step) from incident_step s where"
		" s.incident_id = x.incident_id), 0) + row_number() over (partition by"
		" x.incident_id order by x.step), " AT(
			"at_us") ", x.kind, x.who, x.detail"
				 " from jsonb_to_recordset($1) x(incident_id bigint, step int, "
				 "at_us bigint, kind text,"
				 " who text, detail jsonb)";

	return insert_json(e, sql, rows);
}

/* "[" and the rows of some incidents, which keep them until write_rows has stored all. */
struct incident_rows {
	struct buf incidents, signals, steps;
};

static void begin_rows(struct incident_rows *w)
{
	buf_reset(&w->incidents);
	buf_reset(&w->signals);
	buf_reset(&w->steps);
	json_raw(&w->incidents, "[");
	json_raw(&w->signals, "[");
	json_raw(&w->steps, "[");
}

static void free_rows(struct incident_rows *w)
{
	buf_free(&w->incidents);
	buf_free(&w->signals);
	buf_free(&w->steps);
}

static void add_changes(struct incident_rows *w, const struct incident *i)
{
	if (i->dirty)
		put_incident(i, &w->incidents);
	for (size_t n = 0; n < i->nsignals; n++)
		if (i->signal[n]->dirty)
			put_signal(i->signal[n], &w->signals);
	if (i->step_rows.len && w->steps.len > 1)
		json_raw(&w->steps, ",");
	buf_put(&w->steps, i->step_rows.data, i->step_rows.len);
}

static int write_rows(struct engine *e, struct incident_rows *w)
{
	int r = write_incident_rows(e, &w->incidents);

	if (r == 0)
		r = write_signal_rows(e, &w->signals);
	return r < 0 ? r : write_step_rows(e, &w->steps);
}

static void mark_written(struct incident *i)
{
	i->retry_ns = 0;
	i->dirty = false;
	for (size_t n = 0; n < i->nsignals; n++)
		i->signal[n]->dirty = false;
	buf_reset(&i->step_rows);
}

static int write_all(struct engine *e)
{
	struct incident_rows w = { 0 };
	int r;

	begin_rows(&w);
	for (size_t k = 0; k < incident_set_count_of(e->set); k++)
		add_changes(&w, incident_set_at(e->set, k));
	r = write_rows(e, &w);
	free_rows(&w);
	for (size_t k = 0; r == 0 && k < incident_set_count_of(e->set); k++)
		mark_written(incident_set_at(e->set, k));
	return r;
}

/* A refused incident stays changed, and is written again later. */
static int write_item(struct engine *e, struct incident *i, struct incident_rows *w)
{
	struct buf text = { 0 };
	unsigned skipped = e->skipped;
	int r = engine_item_begin(e);

	buf_put(&text, w->incidents.data, w->incidents.len);
	buf_put(&text, w->signals.data, w->signals.len);
	buf_put(&text, w->steps.data, w->steps.len);
	buf_put(&text, "", 1);
	if (r == 0)
		r = engine_item_end(e, write_rows(e, w), "incident", i->id,
				    (const char *)text.data);
	buf_free(&text);
	if (r == 0 && e->skipped == skipped)
		mark_written(i);
	else
		i->retry_ns = clock_mono_ns() + REFUSED_S * 1000000000ull;
	return r;
}

static int write_each(struct engine *e)
{
	struct incident_rows w = { 0 };
	int r = 0;

	for (size_t k = 0; k < incident_set_count_of(e->set) && r == 0; k++) {
		struct incident *i = incident_set_at(e->set, k);

		if (i->retry_ns > clock_mono_ns())
			continue;
		begin_rows(&w);
		add_changes(&w, i);
		if (w.incidents.len + w.signals.len + w.steps.len > 3)
			r = write_item(e, i, &w);
	}
	free_rows(&w);
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

#define MERGED                                                                                     \
	"merged_into is not null and (exists (select from incident_signal s where s.incident_id =" \
	" i.incident_id) or exists (select from incident_part p where p.incident_id ="             \
	" i.incident_id))"

static int fold_all(struct engine *e)
{
	return pg_do(
		e->pg,
		"select incident_fold(incident_id, merged_into) from incident i where " MERGED);
}

static int fold_each(struct engine *e)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r = pg_ask(e->pg, "select incident_id, merged_into from incident i where " MERGED,
		       &(struct pg_args){ 0 }, &res);

	for (int k = 0; r == 0 && k < PQntuples(res); k++) {
		const char *id = PQgetvalue(res, k, 0);
		struct pg_args a = { 0 };

		pg_arg_text(&a, id);
		pg_arg_text(&a, PQgetvalue(res, k, 1));
		r = engine_item_begin(e);
		if (r == 0)
			r = engine_item_end(e,
					    pg_execute(e->pg,
						       "select incident_fold($1::bigint,"
						       " $2::bigint)",
						       &a),
					    "merged incident", strtoull(id, NULL, 10),
					    PQgetvalue(res, k, 1));
	}
	return r;
}

int engine_write(struct engine *e)
{
	bool again = e->merged;
	int r = e->careful ? write_each(e) : write_all(e);

	if (r == 0 && again)
		r = e->careful ? fold_each(e) : fold_all(e);
	if (r == 0)
		r = write_mark(e);
	if (r == 0)
		r = pg_commit(e->pg);
	if (r == 0 && again)
		engine_forget(e);
	return r;
}
