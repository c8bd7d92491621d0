// SPDX-License-Identifier: Apache-2.0
/* incident_import.c - reads the incidents that regions reported, imports them, and stores the
 * assignment. */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "collector/incident/engine/incident_engine.h"
#include "collector/incident/model/incident_remote.h"

enum { REPORTS_MAX = 100, SETTLE_S = 20 }; /* REPORTS_MAX: the limit of incidents_told() */

enum {
	ID,
	HERE,
	REGION,
	ONSET,
	LAST,
	OPENED,
	CLOSED,
	INTO,
	VERSION,
	WAS_OPEN,
	HAS_ROW,
	NODE,
	APP,
	ROUTE,
	CLASS,
	REASON,
	FIRST_US,
	LAST_US,
	COUNT,
	EXCESS_US,
	CLOCK_US,
};

static void *grow_list(void *p, size_t n, size_t size)
{
	p = realloc(p, n * size);
	if (!p)
		die("out of memory");
	return p;
}

static char *copy_text(const char *s)
{
	char *p = strdup(s);

	if (!p)
		die("out of memory");
	return p;
}

static struct incident_report *add_report(struct engine *e, const PGresult *row)
{
	struct incident_report *t;

	e->reports = grow_list(e->reports, e->nreports + 1, sizeof(*e->reports));
	t = &e->reports[e->nreports++];
	*t = (struct incident_report){
		.id = (uint64_t)engine_int8(row, ID),
		.at = (uint64_t)engine_int8(row, HERE),
		.region = (uint64_t)engine_int8(row, REGION),
		.into = (uint64_t)engine_int8(row, INTO),
		.version = (uint64_t)engine_int8(row, VERSION),
		.onset_us = engine_time(row, ONSET),
		.last_us = engine_time(row, LAST),
		.opened_us = engine_time(row, OPENED),
		.closed_us = PQgetisnull(row, 0, CLOSED) ? 0 : engine_time(row, CLOSED),
		.was_open = engine_int8(row, WAS_OPEN),
		.has_row = engine_int8(row, HAS_ROW),
	};
	return t;
}

static int on_report(void *arg, const PGresult *row)
{
	struct engine *e = arg;
	struct incident_report *t = e->nreports ? &e->reports[e->nreports - 1] : NULL;
	struct incident_remote_signal *q;

	if (!t || t->id != (uint64_t)engine_int8(row, ID))
		t = add_report(e, row);
	if (PQgetisnull(row, 0, NODE))
		return 0;
	t->signal = grow_list(t->signal, t->nsignals + 1, sizeof(*t->signal));
	q = &t->signal[t->nsignals++];
	*q = (struct incident_remote_signal){
		.node = (uint64_t)engine_int8(row, NODE),
		.n = (uint64_t)engine_int8(row, COUNT),
		.app = copy_text(PQgetvalue(row, 0, APP)),
		.route = copy_text(PQgetvalue(row, 0, ROUTE)),
		.reason = (uint16_t)engine_int8(row, REASON),
		.first_us = engine_int8(row, FIRST_US),
		.last_us = engine_int8(row, LAST_US),
		.clock_us = engine_int8(row, CLOCK_US),
		.excess_us = (double)engine_int8(row, EXCESS_US),
	};
	engine_text(q->class, sizeof(q->class), row, CLASS);
	return 0;
}

static bool is_forgotten(const struct engine *e)
{
	for (size_t i = 0; i < e->nreports; i++)
		if (incident_set_must_reload(e->set, &e->reports[i]))
			return true;
	return false;
}

static int read_reports(struct engine *e)
{
	int r;

	engine_forget_reports(e);
	r = pg_each(e->pg,
		    "select id, here, region, onset, last, opened, closed, into_id, version,"
		    " was_open::int::int8, has_row::int::int8, node, app, route, class, reason,"
		    " first_us, last_us, n, excess_us, incident_clock(node, timestamptz 'epoch'"
		    " + last_us * interval '1 microsecond') from incidents_told()",
		    on_report, e);
	e->reports_full = e->nreports == REPORTS_MAX;
	return r;
}

int engine_read_reports(struct engine *e)
{
	int r = read_reports(e);

	if (r < 0 || !is_forgotten(e))
		return r;
	engine_forget(e);
	r = engine_load(e);
	return r < 0 ? r : read_reports(e);
}

static int find_neighbors(struct engine *e, struct incident_report *t,
			  uint64_t neighbors[static ENGINE_NEIGHBORS])
{
	uint64_t node[ENGINE_NEIGHBORS];
	size_t n = 0;

	for (size_t k = 0; k < t->nsignals && n < ENGINE_NEIGHBORS; k++)
		node[n++] = t->signal[k].node;
	t->neighbors = neighbors;
	return engine_find_neighbors(e, node, n, t->last_us + SETTLE_S * INCIDENT_SEC, neighbors,
				     &t->nneighbors);
}

static int write_part(struct engine *e, const struct incident_report *t, const struct incident *i)
{
	uint64_t of = i ? i->id : t->into ? t->into : t->at;
	char sql[300];

	snprintf(sql, sizeof(sql),
		 "insert into incident_part values (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %s)"
		 " on conflict (told_id) do update set incident_id = excluded.incident_id,"
		 " version = excluded.version, open = excluded.open",
		 t->id, of, t->version, t->closed_us || t->into ? "false" : "true");
	return pg_do(e->pg, sql);
}

static int import_report(struct engine *e, struct incident_report *t,
			 const struct engine_region *region)
{
	uint64_t neighbors[ENGINE_NEIGHBORS];
	int r;

	t->now_us = region->now_us;
	r = find_neighbors(e, t, neighbors);
	return r < 0 ? r : write_part(e, t, incident_set_import(e->set, t));
}

/* A refused report is skipped until its region sends an update. */
static int import_item(struct engine *e, struct incident_report *t,
		       const struct engine_region *region)
{
	unsigned skipped = e->skipped;
	int r = engine_item_begin(e);

	if (r == 0)
		r = engine_item_end(e, import_report(e, t, region), "report of incident", t->id,
				    region->name);
	return r == 0 && e->skipped > skipped ? write_part(e, t, NULL) : r;
}

int engine_import_reports(struct engine *e)
{
	int r = 0;

	for (size_t k = 0; k < e->nreports && r == 0; k++) {
		struct incident_report *t = &e->reports[k];
		const struct engine_region *region = engine_region(e, t->region);

		if (!region || (!t->nsignals && !t->has_row && !t->into))
			continue; /* none of its nodes is known yet */
		if (incident_set_is_ready(e->set, t))
			r = import_item(e, t, region);
		else
			e->reports_full = true;
	}
	engine_forget_reports(e);
	return r;
}
