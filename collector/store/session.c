// SPDX-License-Identifier: Apache-2.0
#include "collector/store/session.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "collector/core/counters.h"
#include "collector/store/clock_watch.h"
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

struct days {
	uint64_t from_ns, until_ns; /* both 0: none */
};

struct session {
	struct session_config cfg;
	struct pg *pg;
	struct clock_watch *watch;
	bool ready;
	uint64_t number, region, due_ns, hour_ns, last_us;
	struct days days, other; /* by PostgreSQL's clock, and by that of the nodes */
	uint64_t other_ns; /* the middle of other, now; 0: other is not used */
	uint64_t ahead_ns; /* PostgreSQL's clock minus the monotonic one, at the last upkeep */
	char why[512];
};

struct session *session_new(const struct session_config *cfg)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->cfg = *cfg;
	s->pg = pg_new(cfg->database);
	s->watch = clock_watch_new();
	return s;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	pg_free(s->pg);
	clock_watch_free(s->watch);
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

/* Rows are not stored into a day that retention drops at once. */
static struct days days_around(const struct session *s, uint64_t ns)
{
	uint64_t day_ns = ns / DAY_NS * DAY_NS;
	uint64_t back = retain_least(&s->cfg.keep) < DAYS_BACK ? 1 : DAYS_BACK;

	return (struct days){ day_ns - DAY_NS * back, day_ns + DAY_NS * (DAYS_AHEAD + 1) };
}

static int make_other_days(struct session *s)
{
	AUTO(PQclear) PGresult *res = NULL;
	char text[128];
	int r;

	s->other = (struct days){ 0 };
	s->other_ns = clock_watch_other_ns(s->watch);
	if (!s->other_ns)
		return 0;
	snprintf(text, sizeof(text), "select ensure_partitions_at(to_timestamp(%llu), %d, %d)",
		 s->other_ns / SEC, DAYS_BACK, DAYS_AHEAD);
	r = pg_ask(s->pg, text, &(struct pg_args){ 0 }, &res);
	if (r < 0)
		return r;
	counter_add(C_PARTITIONS_MADE, strtoull(PQgetvalue(res, 0, 0), NULL, 10));
	s->other = days_around(s, s->other_ns);
	return 0;
}

/* Hours and days are by the server's clock, which also dates the partitions. */
static int make_days(struct session *s)
{
	static const char sql[] = "select ensure_partitions(%d, %d) + ensure_hours(%d, %d), "
				  "extract(epoch from now())::bigint";
	AUTO(PQclear) PGresult *res = NULL;
	char text[160];
	uint64_t now_s;
	int r;

	snprintf(text, sizeof(text), sql, DAYS_BACK, DAYS_AHEAD, HOURS_BACK, HOURS_AHEAD);
	r = pg_ask(s->pg, text, &(struct pg_args){ 0 }, &res);
	if (r < 0)
		return r;
	counter_add(C_PARTITIONS_MADE, strtoull(PQgetvalue(res, 0, 0), NULL, 10));
	now_s = strtoull(PQgetvalue(res, 0, 1), NULL, 10);
	s->hour_ns = now_s * SEC / HOUR_NS * HOUR_NS;
	s->ahead_ns = now_s * SEC - clock_mono_ns();
	s->days = days_around(s, now_s * SEC);
	return make_other_days(s);
}

static int drop_days(struct session *s)
{
	AUTO(PQclear) PGresult *res = NULL;
	char text[RETAIN_TEXT + 128], days[RETAIN_TEXT];
	int r;

	retain_text(&s->cfg.keep, days);
	snprintf(text, sizeof(text),
		 "select fact, day, parts from drop_expired('%s'::jsonb, to_timestamp(%" PRId64
		 "))",
		 days, clock_watch_earliest_s(s->watch));
	r = pg_ask(s->pg, text, &(struct pg_args){ 0 }, &res);
	for (int i = 0; r == 0 && i < PQntuples(res); i++) {
		log_info("retention dropped %s partition(s) of table %s, from %s on",
			 PQgetvalue(res, i, 2), PQgetvalue(res, i, 0), PQgetvalue(res, i, 1));
		counter_add(C_PARTITIONS_DROPPED, strtoull(PQgetvalue(res, i, 2), NULL, 10));
	}
	return r;
}

/* How many days later than now the days of retention begin to count. */
static int extra_days(const struct session *s)
{
	uint64_t now_s = clock_watch_database_ns(s->watch) / SEC;
	uint64_t earliest_s = (uint64_t)clock_watch_earliest_s(s->watch);

	return earliest_s < now_s ? (int)((now_s - earliest_s) * SEC / DAY_NS) : 0;
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
	int extra = extra_days(s), rows = (int)s->cfg.keep.requests + extra,
	    stacks = (int)retain_stacks(&s->cfg.keep) + extra;
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
	if (clock_watch_drops(s->watch)) {
		r = run_locked(s, drop_days);
		if (r == 0)
			r = run_locked(s, delete_old);
	}
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

void session_hear(struct session *s, uint64_t node, uint64_t wall_ns, bool hello)
{
	clock_watch_hear(s->watch, node, wall_ns, hello);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Whether the partitions of the last upkeep are around the wrong time by now. */
static bool has_moved(struct session *s)
{
	uint64_t other_ns = clock_watch_other_ns(s->watch);
	bool inside =
		other_ns >= s->other.from_ns + DAY_NS && other_ns + DAY_NS < s->other.until_ns;

	if (other_ns && !inside)
		return true;
	s->other_ns = other_ns;
	return apart(clock_watch_database_ns(s->watch) - clock_mono_ns(), s->ahead_ns) > HOUR_NS;
}

static bool is_due(struct session *s)
{
	return clock_mono_ns() >= s->due_ns || has_moved(s);
}

static int read_clocks(struct session *s, bool now)
{
	int r = clock_watch_read(s->watch, s->pg, now);

	return r < 0 ? fail_session(s, r, "its clock could not be read") : 0;
}

int session_ready(struct session *s)
{
	int r = s->ready ? read_clocks(s, false) : 0;

	if (r < 0 || (s->ready && !is_due(s)))
		return r;
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
	r = read_clocks(s, true);
	if (r == 0)
		r = upkeep(s);
	if (r < 0)
		return r;
	s->ready = true;
	counter_set(C_DATABASE_UP, 1);
	return 0;
}

static bool has_ns(const struct days *d, uint64_t ns)
{
	return ns >= d->from_ns && ns < d->until_ns;
}

uint64_t session_now_ns(const struct session *s)
{
	uint64_t wall_ns = clock_wall_ns(), other_ns = clock_watch_other_ns(s->watch);

	if (s->other_ns && has_ns(&s->other, other_ns))
		return other_ns;
	if (has_ns(&s->days, wall_ns))
		return wall_ns;
	return clock_watch_database_ns(s->watch);
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
	return s->days.from_ns;
}

uint64_t session_until_ns(const struct session *s)
{
	return s->days.until_ns;
}

uint64_t session_other_from_ns(const struct session *s)
{
	return s->other_ns ? s->other.from_ns : 0;
}

uint64_t session_other_until_ns(const struct session *s)
{
	return s->other_ns ? s->other.until_ns : 0;
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
