// SPDX-License-Identifier: Apache-2.0
#include "collector/store/session.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "collector/core/counters.h"
#include "collector/store/row/dims.h"
#include "collector/db/migrate.h"

#define SEC 1000000000ull

/* Rows may be dated ahead by DAYS_AHEAD. The contents they share are dated when they are stored, by
 * the day. */
enum { DAYS_BACK = 2, DAYS_AHEAD = 3, SHARED_MARGIN = DAYS_AHEAD + 2 };

/* The hours with partitions of sample_raw. Samples of other hours are few and go to table
 * sample. */
enum { HOURS_BACK = 2, HOURS_AHEAD = 3 };

static const uint64_t HOUR_NS = 3600 * SEC, DAY_NS = 86400 * SEC, UPKEEP_NS = 3600 * SEC;

struct session {
	struct session_config cfg;
	struct pg *pg;
	bool ready;
	uint64_t number, region, due_ns, from_ns, until_ns, hour_ns, last_us;
	char why[512];
};

struct session *session_new(const struct session_config *cfg)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->cfg = *cfg;
	s->pg = pg_new(cfg->database);
	return s;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	pg_free(s->pg);
	free(s);
}

static void end_session(struct session *s)
{
	s->ready = false;
	pg_disconnect(s->pg);
	counter_set(C_DATABASE_UP, 0);
}

static int fail_session(struct session *s, int err, const char *what)
{
	if (*pg_state(s->pg))
		snprintf(s->why, sizeof(s->why), "%s: %s (SQLSTATE %s)", what, pg_why(s->pg),
			 pg_state(s->pg));
	else
		snprintf(s->why, sizeof(s->why), "%s: %s", what, pg_why(s->pg));
	end_session(s);
	return err;
}

void session_broken(struct session *s)
{
	(void)fail_session(s, 0, "a transaction failed");
}

/* Hours and days are by the server's clock, which also dates the partitions. */
static int make_days(struct session *s)
{
	static const char sql[] = "select ensure_partitions(%d, %d) + ensure_hours(%d, %d),"
				  " drop_old('%s'::jsonb), extract(epoch from now())::bigint";
	AUTO(PQclear) PGresult *res = NULL;
	char text[RETAIN_TEXT + 160], days[RETAIN_TEXT];
	uint64_t now_s;
	int r;

	retain_text(&s->cfg.keep, days);
	snprintf(text, sizeof(text), sql, DAYS_BACK, DAYS_AHEAD, HOURS_BACK, HOURS_AHEAD, days);
	r = pg_ask(s->pg, text, &(struct pg_args){ 0 }, &res);
	if (r < 0)
		return r;
	counter_add(C_PARTITIONS_MADE, strtoull(PQgetvalue(res, 0, 0), NULL, 10));
	counter_add(C_PARTITIONS_DROPPED, strtoull(PQgetvalue(res, 0, 1), NULL, 10));
	now_s = strtoull(PQgetvalue(res, 0, 2), NULL, 10);
	s->hour_ns = now_s * SEC / HOUR_NS * HOUR_NS;
	/* do not store into a day that retention drops at once */
	s->from_ns = now_s * SEC / DAY_NS * DAY_NS -
		     DAY_NS * (retain_least(&s->cfg.keep) < DAYS_BACK ? 1 : DAYS_BACK);
	s->until_ns = now_s * SEC / DAY_NS * DAY_NS + DAY_NS * (DAYS_AHEAD + 1);
	return 0;
}

/* Shared contents are deleted once no row can be left that uses them. */
static int delete_old(struct session *s)
{
	static const char sql[] =
		"delete from quarantine where stored < now() - interval '%d days';"
		"delete from place where until < now() - interval '%d days';"
		"delete from nat where until < now() - interval '%d days';"
		"delete from clock where told < now() - interval '%d days';"
		"delete from gap where ts < now() - interval '%d days';"
		"delete from outbox where made < now() - interval '%d days';"
		"delete from relayed where heard < now() - interval '%d days';"
		"delete from checks where last_used < now() - interval '%d days';"
		"delete from stack where last_used < now() - interval '%d days';"
		"select forget_incidents(%d)";
	int rows = (int)s->cfg.keep.requests, stacks = (int)retain_stacks(&s->cfg.keep);
	char text[sizeof(sql) + 100];

	snprintf(text, sizeof(text), sql, rows, rows, rows, rows, rows, rows, rows + SHARED_MARGIN,
		 rows + SHARED_MARGIN, stacks + SHARED_MARGIN, rows);
	return pg_do(s->pg, text);
}

static int run_locked(struct session *s, int (*work)(struct session *))
{
	int r = pg_do(s->pg, "begin; " MIGRATE_LOCK);

	if (r == 0)
		r = work(s);
	return r == 0 ? pg_commit(s->pg) : r;
}

/* Takes the lock of the migrations: two collectors must not make the same partition. Each step has
 * its own transaction, because a dropped partition keeps its table locked until the end. */
static int upkeep(struct session *s)
{
	int r = run_locked(s, make_days);

	if (r < 0)
		return fail_session(s, r, "its day partitions could not be made");
	r = run_locked(s, delete_old);
	if (r < 0)
		return fail_session(s, r, "expired rows could not be deleted");
	s->due_ns = clock_mono_ns() + UPKEEP_NS;
	return 0;
}

static int read_last(struct session *s)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r = pg_ask(s->pg,
		       "select (extract(epoch from max(stored)) * 1000000)::bigint from request"
		       " where stored < 'infinity'",
		       &(struct pg_args){ 0 }, &res);

	if (r < 0)
		return r;
	if (strtoull(PQgetvalue(res, 0, 0), NULL, 10) > s->last_us)
		s->last_us = strtoull(PQgetvalue(res, 0, 0), NULL, 10);
	return 0;
}

static int prepare_tables(struct session *s)
{
	static const struct schema schema = { migration_table, schema_file_table };
	char why[MIGRATE_WHY];
	int r = migrate(s->pg, &schema, why);

	if (r < 0) {
		snprintf(s->why, sizeof(s->why), "%s", why);
		end_session(s);
		return r;
	}
	r = migrate_texts(s->pg);
	if (r == 0)
		r = dims_region(s->pg, s->cfg.region, &s->region);
	if (r == 0)
		r = read_last(s);
	return r < 0 ? fail_session(s, r, "its tables could not be prepared") : 0;
}

int session_ready(struct session *s)
{
	uint64_t now = clock_mono_ns();
	int r;

	if (s->ready && now < s->due_ns)
		return 0;
	if (!s->ready) {
		r = pg_connect(s->pg);
		if (r < 0)
			return fail_session(s, r, "it cannot be reached");
		r = prepare_tables(s);
		if (r < 0)
			return r;
		s->number++;
		counter_add(C_RECONNECTS, 1);
	}
	r = upkeep(s);
	if (r < 0)
		return r;
	s->ready = true;
	counter_set(C_DATABASE_UP, 1);
	return 0;
}

uint64_t session_commit_ns(struct session *s, uint64_t wall_ns)
{
	uint64_t us = wall_ns / 1000;

	s->last_us = us > s->last_us ? us : s->last_us + 1;
	return s->last_us * 1000;
}

struct pg *session_pg(const struct session *s)
{
	return s->pg;
}

uint64_t session_number(const struct session *s)
{
	return s->number;
}

uint64_t session_region(const struct session *s)
{
	return s->region;
}

uint64_t session_from_ns(const struct session *s)
{
	return s->from_ns;
}

uint64_t session_until_ns(const struct session *s)
{
	return s->until_ns;
}

uint64_t session_raw_from_ns(const struct session *s)
{
	return s->hour_ns - HOURS_BACK * HOUR_NS;
}

uint64_t session_raw_until_ns(const struct session *s)
{
	return s->hour_ns + (HOURS_AHEAD + 1) * HOUR_NS;
}

const char *session_why(const struct session *s)
{
	return s->why;
}
