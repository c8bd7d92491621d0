// SPDX-License-Identifier: Apache-2.0
/* incident_load.c - loads the stored incidents that are open or may reopen. */
#include <stdio.h>

#include "lib/base/log.h"
#include "collector/incident/engine/incident_engine.h"

void engine_open(struct engine *e, struct pg *pg, const struct incident_limits *limits)
{
	*e = (struct engine){ .pg = pg, .limits = limits, .steps = { engine_on_step, e } };
	e->seen = pairmap_new(sizeof(int64_t));
	e->nodes = pairmap_new(sizeof(struct engine_node));
}

static int on_lock(void *arg, const PGresult *row)
{
	struct engine *e = arg;
	int64_t at = PQgetisnull(row, 0, 0) ? 0 : engine_time(row, 0);

	if (at != e->command_us)
		engine_forget(e);
	e->command_us = at;
	return 0;
}

int engine_begin(struct engine *e)
{
	int r = pg_do(e->pg, "begin");

	return r < 0 ? r : pg_each(e->pg, "select incident_lock()", on_lock, e);
}

static int on_mark(void *arg, const PGresult *row)
{
	struct engine *e = arg;

	e->mark_us = engine_time(row, 0);
	return 0;
}

static int on_incident(void *arg, const PGresult *row)
{
	struct engine *e = arg;
	struct incident i = {
		.id = (uint64_t)engine_int8(row, 0),
		.region = (uint64_t)engine_int8(row, 1),
		.onset_us = engine_time(row, 2),
		.last_us = engine_time(row, 3),
		.opened_us = engine_time(row, 4),
		.closed_us = PQgetisnull(row, 0, 5) ? 0 : engine_time(row, 5),
		.whole_us = engine_float8(row, 6),
		.clear = engine_int8(row, 7),
		.headline = (uint64_t)engine_int8(row, 8),
		.first_host = (uint64_t)engine_int8(row, 9),
		.steps = (int)engine_int8(row, 10),
	};

	snprintf(i.shared, sizeof(i.shared), "%s", PQgetvalue(row, 0, 11));
	i.shared_hosts = (int)engine_int8(row, 12);
	i.apart = engine_int8(row, 13);
	incident_set_add(e->set, &i);
	return 0;
}

static int on_signal(void *arg, const PGresult *row)
{
	struct engine *e = arg;
	struct incident *i = incident_set_find(e->set, (uint64_t)engine_int8(row, 0));
	struct signal *g =
		incident_set_signal(e->set, (uint64_t)engine_int8(row, 1), PQgetvalue(row, 0, 2),
				    PQgetvalue(row, 0, 3), PQgetvalue(row, 0, 4));

	if (!i || !g || (g->of && !g->of->closed_us))
		return 0;
	g->reason = (uint16_t)engine_int8(row, 5);
	g->first_us = engine_time(row, 6);
	g->last_us = engine_time(row, 7);
	g->n = (uint64_t)engine_int8(row, 8);
	g->excess_us = (double)engine_int8(row, 9);
	for (int k = 0; k < SIGNAL_WORST; k++) {
		struct signal_sample *w = &g->worst[k];

		w->id = (uint64_t)engine_int8(row, 10 + 3 * k);
		w->begin_us = w->id ? engine_time(row, 11 + 3 * k) : 0;
		w->value = engine_float8(row, 12 + 3 * k);
	}
	g->clock_us = engine_int8(row, 10 + 3 * SIGNAL_WORST);
	incident_set_attach(i, g);
	return 0;
}

#define LIVE                                                                                       \
	"merged_into is null and (closed is null or closed > coalesce((select max(last_seen) from" \
	" node), now()) - interval '%d seconds' or incident_id in (select coalesce(p.incident_id," \
	" t.incident_id) from incident_told t left join incident_part p on p.told_id ="            \
	" t.incident_id where t.closed is null and t.heard > now() - interval '1 day' and"         \
	" p.version is distinct from t.version))"
#define WORST(k)                                                                                   \
	", coalesce(s.worst_ids[" k "], 0), coalesce(s.worst[" k "], 'epoch'),"                    \
	" coalesce(s.worst_us[" k "], 0)"

static int on_part(void *arg, const PGresult *row)
{
	struct incident *i = incident_set_find(arg, (uint64_t)engine_int8(row, 0));

	if (!i)
		return 0;
	i->held += engine_int8(row, 2) != 0;
	if (i->nreported_by < INCIDENT_REPORTERS)
		i->reported_by[i->nreported_by++] = (uint64_t)engine_int8(row, 1);
	return 0;
}

/* which: a condition on incident_id, or "". */
static int load_where(struct engine *e, const char *which)
{
	char sql[1900];
	int r;

	snprintf(sql, sizeof(sql),
		 "select incident_id, region_id, onset, last, opened, closed, whole_us,"
		 " clear::int::int8, coalesce(headline, 0), coalesce(first_host, 0),"
		 " (select count(*) from incident_step t where t.incident_id = i.incident_id),"
		 " shared, shared_hosts::int8, (select count(*) from incident_step t where"
		 " t.incident_id = i.incident_id and t.kind = 'split')"
		 " from incident i where %s" LIVE,
		 which, (int)e->limits->reopen_s);
	r = pg_each(e->pg, sql, on_incident, e);
	if (r < 0)
		return r;
	snprintf(sql, sizeof(sql),
		 "select s.incident_id, s.host_id, s.app, s.route, s.class, s.reason_id::int8,"
		 " s.first, s.last, s.n, s.excess_us" WORST("1") WORST("2") WORST(
			 "3") ", incident_clock(s.host_id, s.last) from incident_signal s join"
			      " incident i using (incident_id) where %s" LIVE
			      " order by i.closed nulls first",
		 which, (int)e->limits->reopen_s);
	return pg_each(e->pg, sql, on_signal, e);
}

/* Open ones first, as their signals are theirs. */
static int load_each(struct engine *e)
{
	AUTO(PQclear) PGresult *ids = NULL;
	char sql[900];
	int r;

	snprintf(sql, sizeof(sql),
		 "select incident_id from incident where " LIVE " order by closed nulls first",
		 (int)e->limits->reopen_s);
	r = pg_ask(e->pg, sql, &(struct pg_args){ 0 }, &ids);
	for (int k = 0; r == 0 && k < PQntuples(ids); k++) {
		const char *id = PQgetvalue(ids, k, 0);
		char which[64];

		snprintf(which, sizeof(which), "incident_id = %s and ", id);
		r = engine_item_begin(e);
		if (r == 0)
			r = engine_item_end(e, load_where(e, which), "stored incident",
					    strtoull(id, NULL, 10), "");
	}
	return r;
}

static int load_incidents(struct engine *e)
{
	int r = e->careful ? load_each(e) : load_where(e, "");

	if (r < 0)
		return r;
	return pg_each(e->pg,
		       "select p.incident_id, t.region_id, p.open::int::int8 from incident_part p"
		       " join incident_told t on t.incident_id = p.told_id"
		       " where t.heard > now() - interval '7 days'",
		       on_part, e->set);
}

/* Without a mark, starts with the rows of the last ten minutes. */
int engine_load(struct engine *e)
{
	int r = pg_each(e->pg,
			"select coalesce((select stored from incident_mark where fact = 'request'"
			" and stored < 'infinity'),"
			" now() - interval '10 minutes')",
			on_mark, e);

	if (r < 0)
		return r;
	e->set = incident_set_new(e->limits, &e->steps);
	return load_incidents(e);
}
