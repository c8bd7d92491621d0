// SPDX-License-Identifier: Apache-2.0
#include "collector/archive/compact.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "collector/core/counters.h"
#include "collector/core/engine_state.h"
#include "collector/db/migrate.h"
#include "collector/db/refused.h"
#include "collector/archive/compact_early.h"
#include "collector/archive/compact_job.h"

/* Any number that never changes and that no other lock uses (tests/lint/locks.sh). */
#define SEAL_LOCK "select pg_try_advisory_lock(126879331840368)"

enum {
	RETRY_MS = 500,
	RETRY_MAX_MS = 60000,
	OTHER_MS = 5000, /* between tries while another collector compacts */
	VACUUM_MS = 60000,
	SETTLE_S = 5, /* after the full hour */
	STOP_S = 2,
	LIST_START = 64,
};

#define MS 1000000ull
#define HOUR_S 3600ull

struct compact {
	pthread_t thread;
	struct pg *pg;
	struct pairmap *layouts;
	bool leads, error_logged;
	int retry_ms, stop_fd;
	atomic_bool stopping;
	uint64_t ensured_day, due_ns, vacuum_ns; /* monotonic; 0: now, and never */
	uint64_t early_ns; /* when minutes are next relayed early; 0: now */
	const char *region; /* NULL: it is not relayed */
	char why[360]; /* of the last rows that could not be compacted */
};

static int on_layout(void *arg, const PGresult *row)
{
	uint64_t id;
	uint32_t n;

	memcpy(&id, PQgetvalue(row, 0, 0), sizeof(id));
	memcpy(&n, PQgetvalue(row, 0, 1), sizeof(n));
	*(uint32_t *)pairmap_add(arg, __builtin_bswap64(id), 0) = __builtin_bswap32(n);
	return 0;
}

static int read_layouts(struct compact *s)
{
	return pg_each(s->pg, "select layout_id, cardinality(names)::int4 from layout", on_layout,
		       s->layouts);
}

static int ensure_tables(struct compact *s, uint64_t hour_s)
{
	char at[32], sql[128];
	int e;

	if (hour_s / 86400 == s->ensured_day)
		return 0;
	compact_time_text(hour_s, at);
	snprintf(sql, sizeof(sql), "begin; " MIGRATE_LOCK "; select ensure_sealed('%s')", at);
	e = pg_do(s->pg, sql);
	if (e == 0)
		e = pg_commit(s->pg);
	else
		pg_rollback(s->pg);
	if (e == 0)
		s->ensured_day = hour_s / 86400;
	return e;
}

static int run_job(struct compact *s, struct compact_job *job)
{
	uint64_t t0 = clock_mono_ns(), values = 0;
	int e = ensure_tables(s, job->hour_s);

	if (e == 0)
		e = compact_job_run(s->pg, s->layouts, job, &values);
	if (e == -EBADMSG && job->merge) {
		job->merge = false;
		e = compact_job_run(s->pg, s->layouts, job, &values);
	}
	counter_add(C_SEAL_NS, clock_mono_ns() - t0);
	counter_add(e < 0 ? C_SEAL_FAILURES : C_SEAL_JOBS, 1);
	counter_add(C_SEALED_SAMPLES, values);
	return e;
}

/* Splits the hour of a node with more values than one transaction takes. */
static int run_parts(struct compact *s, struct compact_job *job, uint64_t values)
{
	uint64_t parts = values / SEAL_JOB_VALUES + 1;
	int e = 0;

	job->merge = parts == 1;
	for (uint64_t i = 0; i < parts && e == 0 && !atomic_load(&s->stopping); i++) {
		job->from_s = job->hour_s + HOUR_S * i / parts;
		job->until_s = job->hour_s + HOUR_S * (i + 1) / parts;
		e = run_job(s, job);
	}
	return e;
}

static int run_nodes(struct compact *s, const PGresult *list, int from, int until)
{
	struct compact_job job = { .hour_s = strtoull(PQgetvalue(list, from, 0), NULL, 10),
				   .region = s->region };
	struct buf nodes = { 0 };
	uint64_t values = 0;
	int e;

	for (int i = from; i < until; i++) {
		buf_put(&nodes, i > from ? "," : "{", 1);
		buf_put(&nodes, PQgetvalue(list, i, 1), strlen(PQgetvalue(list, i, 1)));
		values += strtoull(PQgetvalue(list, i, 2), NULL, 10);
	}
	buf_put(&nodes, "}", 2);
	job.nodes = (const char *)nodes.data;
	e = run_parts(s, &job, values);
	buf_free(&nodes);
	return e;
}

/* The end of the rows that are of the same hour and fit into one transaction. */
static int group_end(const PGresult *list, int from)
{
	uint64_t values = 0;
	int i = from;

	for (; i < PQntuples(list); i++) {
		values += strtoull(PQgetvalue(list, i, 2), NULL, 10);
		if (strcmp(PQgetvalue(list, i, 0), PQgetvalue(list, from, 0)) != 0 ||
		    (i > from && values > SEAL_JOB_VALUES))
			break;
	}
	return i;
}

/* The rows of this node or of this hour are at fault, not the database. */
static bool is_of_rows(int e)
{
	return e == -EBADMSG || e == -EINVAL;
}

static const char *why_of(const struct compact *s, int e)
{
	return e == -EBADMSG ? "a row is malformed" : pg_why(s->pg);
}

/* Rows that cannot be compacted stay as they are: a newer collector may have written them. */
static int set_aside(struct compact *s, const PGresult *list, int i, int bad)
{
	char name[100], why[256];
	const struct refused_item item = { engine_name(ENGINE_ARCHIVE), name, "" };
	int e;

	snprintf(name, sizeof(name), "node %s, hour from %s", PQgetvalue(list, i, 1),
		 PQgetvalue(list, i, 0));
	snprintf(why, sizeof(why), "%s", why_of(s, bad));
	engine_skipped(ENGINE_ARCHIVE, 1);
	e = refused_put(s->pg, &item, why);
	if (e == 0)
		snprintf(s->why, sizeof(s->why), "%s: %s", name, why);
	return e < 0 ? e : bad;
}

static int run_each(struct compact *s, const PGresult *list, int from, int until)
{
	int bad = 0;

	for (int i = from; i < until && !atomic_load(&s->stopping); i++) {
		int e = run_nodes(s, list, i, i + 1);

		if (is_of_rows(e))
			e = bad = set_aside(s, list, i, e);
		if (e < 0 && !is_of_rows(e))
			return e;
	}
	return bad;
}

/* Rows of "hour, node, values", by hour. An unreadable row only delays its own node. */
static int run_list(struct compact *s, const PGresult *list)
{
	int e = 0, bad = 0, until;

	for (int i = 0; i < PQntuples(list) && e == 0 && !atomic_load(&s->stopping); i = until) {
		until = group_end(list, i);
		e = run_nodes(s, list, i, until);
		if (is_of_rows(e))
			e = run_each(s, list, i, until);
		if (is_of_rows(e)) {
			bad = e;
			e = 0;
		}
	}
	return e < 0 ? e : bad;
}

#define DUE "date_bin('1 hour', now() - interval '1 hour', timestamptz 'epoch')"
#define OF_NODES(table, values)                                                                    \
	"select date_bin('1 hour', ts, timestamptz 'epoch') as hour, node_id, sum(" values ") n "  \
	"from " table " join layout l using (layout_id) where ts < " DUE " group by 1, 2"

static int compact_due(struct compact *s)
{
	static const char
		sql[] = "select extract(epoch from hour)::bigint, node_id, sum(n)::bigint from "
			"(" OF_NODES("sample_raw", "cardinality(entities) * cardinality(l.names)") " union all " OF_NODES(
				"sample", "cardinality(l.names)") ") u group by hour, node_id "
								  "order by hour, node_id";
	AUTO(PQclear) PGresult *list = NULL;
	int e = read_layouts(s);

	if (e == 0)
		e = pg_ask(s->pg, sql, &(struct pg_args){ 0 }, &list);
	if (e == 0)
		e = run_list(s, list);
	if ((e == 0 || is_of_rows(e)) && list && PQntuples(list) && !s->vacuum_ns)
		s->vacuum_ns = clock_mono_ns() + VACUUM_MS * MS;
	return e;
}

/*
 * Compacted rows are deleted; vacuum frees their space once no transaction can see them. Truncating
 * an hour instead would take its rows from readers that began before it was compacted.
 */
static int vacuum(struct compact *s)
{
	static const char sql[] = "select format('vacuum %I', c.relname) from pg_inherits i join "
				  "pg_class c on c.oid = i.inhrelid"
				  " where i.inhparent in ('sample_raw'::regclass, "
				  "'sample'::regclass) and (c.relkind = 'p' or "
				  "pg_relation_size(c.oid) > 0)"
				  " and c.relname < 'sample_raw_' || to_char(" DUE
				  " at time zone 'utc', 'YYYYMMDDHH24')";
	AUTO(PQclear) PGresult *list = NULL;
	int e = pg_ask(s->pg, sql, &(struct pg_args){ 0 }, &list);

	for (int i = 0; e == 0 && i < PQntuples(list) && !atomic_load(&s->stopping); i++)
		e = pg_do(s->pg, PQgetvalue(list, i, 0));
	if (e == 0)
		e = pg_do(s->pg, "begin; " MIGRATE_LOCK "; select drop_empty_hours()");
	if (e == 0)
		e = pg_commit(s->pg);
	else
		pg_rollback(s->pg);
	return e;
}

/* Hours follow the wall clock; a clock that was set counts from the next call on. */
static uint64_t next_ns(uint64_t span_s, uint64_t settle_s)
{
	uint64_t now_s = clock_wall_ns() / 1000000000u;

	return clock_mono_ns() + (span_s - now_s % span_s + settle_s) * 1000 * MS;
}

static int relay_early(struct compact *s)
{
	int e = read_layouts(s);

	if (e == 0)
		e = compact_early(s->pg, s->layouts, s->region, &s->stopping);
	if (e == 0)
		s->early_ns = next_ns(SEAL_EARLY_S, SEAL_EARLY_SETTLE_S);
	return e;
}

static int take_lock(struct compact *s)
{
	AUTO(PQclear) PGresult *res = NULL;
	int e = 0;

	if (pg_socket(s->pg) < 0) {
		s->leads = false;
		e = pg_connect(s->pg);
		if (e == 0)
			e = pg_do(s->pg, "listen seismo_seal");
	}
	if (e < 0 || s->leads)
		return e;
	e = pg_ask(s->pg, SEAL_LOCK, &(struct pg_args){ 0 }, &res);
	s->leads = e == 0 && *PQgetvalue(res, 0, 0) == 't';
	return e;
}

static int run_due(struct compact *s)
{
	int e = take_lock(s);

	snprintf(s->why, sizeof(s->why), "a row is malformed");
	if (e == 0 && s->leads && s->region && clock_mono_ns() >= s->early_ns)
		e = relay_early(s);
	if (e < 0 || !s->leads)
		return e;
	if (clock_mono_ns() >= s->due_ns) {
		e = compact_due(s);
		if (e == 0)
			s->due_ns = next_ns(HOUR_S, SETTLE_S);
	}
	if ((e == 0 || is_of_rows(e)) && s->vacuum_ns && clock_mono_ns() >= s->vacuum_ns) {
		int r = vacuum(s);

		if (r < 0)
			return r;
		s->vacuum_ns = 0;
	}
	return e;
}

/* The writer logs a database that is away or has no tables yet. */
static void log_result(struct compact *s, int e)
{
	if (e == -ENOTCONN || counter_get(C_DATABASE_UP) == 0)
		return;
	if (e < 0 && !s->error_logged)
		log_warn(0,
			 "cannot compact finished hours: %s%s%s; their rows stay as they are, and "
			 "compaction is retried",
			 is_of_rows(e) ? s->why : pg_why(s->pg),
			 *pg_state(s->pg) && !is_of_rows(e) ? ", SQLSTATE " : "",
			 is_of_rows(e) ? "" : pg_state(s->pg));
	if (e == 0 && s->error_logged)
		log_info("finished hours are compacted again");
	if (e < 0)
		engine_failed(ENGINE_ARCHIVE, is_of_rows(e) ? s->why : pg_why(s->pg));
	else
		engine_well(ENGINE_ARCHIVE);
	s->error_logged = e < 0;
}

static int wait_ms(struct compact *s, int e)
{
	uint64_t now = clock_mono_ns(), due = s->due_ns;

	if (e < 0) {
		s->retry_ms = s->retry_ms < RETRY_MAX_MS / 2 ? 2 * s->retry_ms : RETRY_MAX_MS;
		return counter_get(C_DATABASE_UP) && s->error_logged ? s->retry_ms : RETRY_MS;
	}
	s->retry_ms = RETRY_MS;
	if (!s->leads)
		return OTHER_MS;
	if (s->vacuum_ns && s->vacuum_ns < due)
		due = s->vacuum_ns;
	if (s->region && s->early_ns < due)
		due = s->early_ns;
	return due > now ? (int)((due - now) / MS) + 1 : 0;
}

static void *run(void *arg)
{
	struct compact *s = arg;

	while (!atomic_load(&s->stopping)) {
		int e = run_due(s);
		struct pollfd p[2] = { { .fd = s->stop_fd, .events = POLLIN },
				       { .fd = pg_socket(s->pg), .events = POLLIN } };

		log_result(s, e);
		poll(p, 2, wait_ms(s, e));
		if (p[1].revents && pg_notified(s->pg))
			s->due_ns = s->early_ns = 0;
	}
	return NULL;
}

int compact_start(struct compact **out, const char *database, const char *region)
{
	struct compact *s = calloc(1, sizeof(*s));
	int e;

	if (!s)
		die("out of memory");
	s->region = region;
	s->pg = pg_new(database);
	s->layouts = pairmap_new(sizeof(uint32_t));
	s->retry_ms = RETRY_MS;
	s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->stop_fd < 0)
		die("eventfd: %s", strerror(errno));
	e = -pthread_create(&s->thread, NULL, run, s);
	if (e == 0)
		*out = s;
	return e; /* nothing is freed on an error: the process exits */
}

/* A thread in a transaction is not waited for: the process exits next, which aborts it. */
void compact_stop(struct compact *s)
{
	struct timespec until;

	if (!s)
		return;
	atomic_store(&s->stopping, true);
	(void)!eventfd_write(s->stop_fd, 1);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STOP_S;
	if (pthread_clockjoin_np(s->thread, NULL, CLOCK_MONOTONIC, &until) != 0)
		return;
	pg_free(s->pg);
	pairmap_free(s->layouts);
	close(s->stop_fd);
	free(s);
}
