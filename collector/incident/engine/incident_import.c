// SPDX-License-Identifier: Apache-2.0
/* incident_import.c - what regions told of their incidents, read, taken, and written down as such.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "collector/incident/engine/incident_engine.h"
#include "collector/incident/model/incident_remote.h"

enum { TELLINGS = 100, SETTLE_S = 20 }; /* as many as incidents_told() reads at once */
enum { REFUSED_MOST = 3 };

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

void engine_forget_told(struct engine *e)
{
	for (size_t i = 0; i < e->ntold; i++) {
		struct incident_telling *t = &e->told[i];

		for (size_t k = 0; k < t->nsignals; k++) {
			free(t->signal[k].app);
			free(t->signal[k].route);
		}
		free(t->signal);
	}
	free(e->told);
	e->told = NULL;
	e->ntold = 0;
}

static void *grown(void *p, size_t n, size_t size)
{
	p = realloc(p, n * size);
	if (!p)
		die("out of memory");
	return p;
}

static char *copy(const char *s)
{
	char *p = strdup(s);

	if (!p)
		die("out of memory");
	return p;
}

static struct incident_telling *begin(struct engine *e, const PGresult *row)
{
	struct incident_telling *t;

	e->told = grown(e->told, e->ntold + 1, sizeof(*e->told));
	t = &e->told[e->ntold++];
	*t = (struct incident_telling){
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

static int on_told(void *arg, const PGresult *row)
{
	struct engine *e = arg;
	struct incident_telling *t = e->ntold ? &e->told[e->ntold - 1] : NULL;
	struct incident_remote_signal *q;

	if (!t || t->id != (uint64_t)engine_int8(row, ID))
		t = begin(e, row);
	if (PQgetisnull(row, 0, NODE))
		return 0;
	t->signal = grown(t->signal, t->nsignals + 1, sizeof(*t->signal));
	q = &t->signal[t->nsignals++];
	*q = (struct incident_remote_signal){
		.node = (uint64_t)engine_int8(row, NODE),
		.n = (uint64_t)engine_int8(row, COUNT),
		.app = copy(PQgetvalue(row, 0, APP)),
		.route = copy(PQgetvalue(row, 0, ROUTE)),
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
	for (size_t i = 0; i < e->ntold; i++)
		if (incident_set_lacks(e->set, &e->told[i]))
			return true;
	return false;
}

static int read_told(struct engine *e)
{
	int r;

	engine_forget_told(e);
	e->adopted = 0;
	r = pg_each(e->pg,
		    "select id, here, region, onset, last, opened, closed, into_id, version,"
		    " was_open::int::int8, has_row::int::int8, node, app, route, class, reason,"
		    " first_us, last_us, n, excess_us, incident_clock(node, timestamptz 'epoch'"
		    " + last_us * interval '1 microsecond') from incidents_told()",
		    on_told, e);
	e->told_full = e->ntold == TELLINGS;
	return r;
}

int engine_read_told(struct engine *e)
{
	int r = read_told(e);

	if (r < 0 || !is_forgotten(e))
		return r;
	engine_forget(e);
	r = engine_load(e);
	return r < 0 ? r : read_told(e);
}

static int find_near(struct engine *e, struct incident_telling *t,
		     uint64_t near[static ENGINE_NEAR])
{
	uint64_t node[ENGINE_NEAR];
	size_t n = 0;

	for (size_t k = 0; k < t->nsignals && n < ENGINE_NEAR; k++)
		node[n++] = t->signal[k].node;
	t->near = near;
	return engine_near(e, node, n, t->last_us + SETTLE_S * INCIDENT_SEC, near, &t->nnear);
}

static int write_part(struct engine *e, const struct incident_telling *t, const struct incident *i)
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

int engine_blame_told(struct engine *e, int r)
{
	static const char sql[] =
		"insert into incident_part select distinct id, here, version, was_open from"
		" incidents_told() on conflict (told_id) do update set version = excluded.version";

	if (r != -EINVAL || !e->adopted) {
		e->refused = r < 0 && r != -EINVAL ? e->refused : 0;
		return 0;
	}
	if (++e->refused < REFUSED_MOST)
		return 0;
	e->refused = 0;
	r = pg_do(e->pg, sql);
	return r < 0 ? r : 1;
}

int engine_adopt(struct engine *e)
{
	uint64_t near[ENGINE_NEAR];
	int r = 0;

	for (size_t k = 0; k < e->ntold && r == 0; k++) {
		struct incident_telling *t = &e->told[k];
		const struct engine_region *region = engine_region(e, t->region);
		struct incident *i;

		if (!region || (!t->nsignals && !t->has_row && !t->into))
			continue; /* none of its nodes is known yet */
		if (!incident_set_may_take(e->set, t)) {
			e->told_full = true;
			continue;
		}
		t->now_us = region->now_us;
		e->adopted++;
		r = find_near(e, t, near);
		if (r < 0)
			break;
		i = incident_set_take(e->set, t);
		r = write_part(e, t, i);
	}
	engine_forget_told(e);
	return r;
}
