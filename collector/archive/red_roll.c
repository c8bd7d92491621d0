// SPDX-License-Identifier: Apache-2.0
#include "collector/archive/red_roll.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "collector/core/counters.h"
#include "collector/core/engine_state.h"
#include "collector/archive/red_merge.h"
#include "collector/db/refused.h"

enum {
	MINUTE_S = 60,
	SETTLE_S = 31, /* longer than close_red waits */
	FETCH_ROWS = 20000,
	RETRY_MS = 500,
	RETRY_MAX_MS = 60000,
	OTHER_MS = 2000, /* between tries while another collector rolls up */
	STOP_S = 2,
};

#define MS 1000000ull

struct span {
	const char *fact, *late, *part; /* two tables, and the period of a partition */
	const char *name; /* of a partition, a to_char format */
	unsigned seconds;
};

/* The shorter one first, since users need it sooner. */
static const struct span spans[] = {
	{ "red_1m", "red_late_1m", "hour", "YYYYMMDDHH24", 60 },
	{ "red_10m", "red_late", "day", "YYYYMMDD", 600 },
};

struct red_roll {
	pthread_t thread;
	struct pg *pg;
	struct red_merge merge;
	struct buf sql, of; /* of: an SQL condition that selects nodes; "": all */
	bool error_logged;
	char why[256]; /* of the last slot that the database refused */
	int retry_ms, stop_fd;
	atomic_bool stopping;
	uint64_t due_ns; /* monotonic; 0: now */
};

static const char *text(struct buf *b, const char *format, ...) PRINTF(2, 3);

/* The result is valid until the next call with the same buffer. */
static const char *text(struct buf *b, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	buf_reset(b);
	buf_reserve(b, (size_t)len + 1);
	va_start(args, format);
	vsnprintf((char *)buf_add(b, (size_t)len + 1), (size_t)len + 1, format, args);
	va_end(args);
	return (const char *)b->data;
}

/* -EAGAIN: another collector rolls up now. */
static int take_turn(struct red_roll *s)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r = pg_ask(s->pg, "select red_turn()", &(struct pg_args){ 0 }, &res);

	return r < 0 || *PQgetvalue(res, 0, 0) == 't' ? r : -EAGAIN;
}

/*
 * Deletes the marks of late rows of this slot. The rows are read after that, so a row that comes in
 * between is read and stays marked as well. *any: there were marks.
 */
static int take_late(struct red_roll *s, const struct span *span, const char *slot, bool *any)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r = pg_ask(s->pg,
		       text(&s->sql,
			    "with l as (delete from %s where slot = to_timestamp(%s) returning "
			    "node_id) select count(*) > 0, coalesce(bool_or(node_id is null), "
			    "false), array_agg(distinct node_id) from l",
			    span->late, slot),
		       &(struct pg_args){ 0 }, &res);

	if (r < 0)
		return r;
	*any = *PQgetvalue(res, 0, 0) == 't';
	if (*PQgetvalue(res, 0, 1) == 't')
		text(&s->of, "%s", "");
	else
		text(&s->of, " and r.node_id = any('%s'::bigint[])", PQgetvalue(res, 0, 2));
	return 0;
}

static int put_rows(struct red_roll *s, const struct span *span)
{
	int r;

	if (!s->merge.nrows)
		return 0;
	copy_end(&s->merge.rows);
	r = pg_do(s->pg, text(&s->sql,
			      "copy %s (ts, node_id, key_id, status_class, n, sum_us, slots, "
			      "counts) from stdin binary",
			      span->fact));
	if (r == 0)
		r = pg_copy_put(s->pg, &s->merge.rows);
	return r < 0 ? r : pg_copy_end(s->pg);
}

static int merge_rows(struct red_roll *s, const struct span *span)
{
	bool more = true;
	int r = 0;

	while (r == 0 && more) {
		red_merge_taken(&s->merge);
		r = atomic_load(&s->stopping)
			    ? -ECANCELED
			    : pg_each(s->pg, text(&s->sql, "fetch %d from counted", FETCH_ROWS),
				      red_merge_row, &s->merge);
		more = s->merge.nread == FETCH_ROWS;
		if (!more)
			red_merge_end(&s->merge);
		if (r == 0)
			r = put_rows(s, span);
	}
	return r;
}

/* Deletes the rollup of the slot and makes it again from all rows. */
static int make_slot(struct red_roll *s, const struct span *span, const char *slot)
{
	const char *of = (const char *)s->of.data;
	int r = pg_do(s->pg, text(&s->sql, "select ensure_partition('%s', '%s', to_timestamp(%s))",
				  span->fact, span->part, slot));

	if (r == 0)
		r = pg_do(s->pg, text(&s->sql, "delete from %s r where r.ts = to_timestamp(%s)%s",
				      span->fact, slot, of));
	if (r == 0)
		r = pg_do(s->pg,
			  text(&s->sql,
			       "declare counted no scroll cursor for select r.node_id, r.key_id, "
			       "r.status_class, r.n, r.sum_us, r.lo, r.b from red r join red_key k "
			       "using (node_id, key_id) where k.role in (0, 1) and r.ts >= "
			       "to_timestamp(%s) and r.ts < to_timestamp(%s) + interval '%u s'%s "
			       "order by 1, 2, 3",
			       slot, slot, span->seconds, of));
	red_merge_begin(&s->merge, strtoull(slot, NULL, 10) * 1000 * MS);
	return r < 0 ? r : merge_rows(s, span);
}

/* Durations that cannot be read stay in table red, from which the slot may be made again. */
static int put_bad(struct red_roll *s, const char *slot)
{
	const struct red_merge *m = &s->merge;
	char name[100], said[100];
	const struct refused_item item = { engine_name(ENGINE_TOPOLOGY), name, said };

	if (!m->nbad)
		return 0;
	snprintf(name, sizeof(name), "counts from %s", slot);
	snprintf(said, sizeof(said),
		 "%" PRIu64 " rows of red; one has node_id %" PRIu64 ", key_id %" PRIu64, m->nbad,
		 m->bad_node, m->bad_key);
	engine_skipped(ENGINE_TOPOLOGY, m->nbad);
	return refused_put(s->pg, &item, "the array of durations is malformed");
}

static int roll_slot(struct red_roll *s, const struct span *span, const char *slot)
{
	bool any = false;
	int r = pg_do(s->pg, "begin; set local work_mem = '64MB'; set local cursor_tuple_fraction "
			     "= 1");

	if (r == 0)
		r = take_turn(s);
	if (r == 0)
		r = take_late(s, span, slot, &any);
	if (r == 0 && any)
		r = make_slot(s, span, slot);
	if (r == 0 && any)
		r = put_bad(s, slot);
	if (r == 0)
		r = pg_commit(s->pg);
	else
		pg_rollback(s->pg);
	counter_add(C_RED_ROLLS, r == 0 && any);
	return r;
}

/* The query that ranks edges reads the index only, which needs an up-to-date visibility map. */
static int vacuum_slot(struct red_roll *s, const struct span *span, const char *slot)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r = pg_ask(s->pg,
		       text(&s->sql,
			    "select 'vacuum %s_' || to_char(to_timestamp(%s) at time zone 'utc', "
			    "'%s')",
			    span->fact, slot, span->name),
		       &(struct pg_args){ 0 }, &res);

	return r < 0 ? r : pg_do(s->pg, PQgetvalue(res, 0, 0));
}

/* A slot that the database refuses: the others are rolled up, and it is tried again. */
static int put_slot(struct red_roll *s, const char *slot)
{
	char name[100];
	const struct refused_item item = { engine_name(ENGINE_TOPOLOGY), name, "" };

	snprintf(name, sizeof(name), "slot from %s", slot);
	snprintf(s->why, sizeof(s->why), "%s", pg_why(s->pg));
	engine_skipped(ENGINE_TOPOLOGY, 1);
	return refused_put(s->pg, &item, s->why);
}

/* The newest slot first, since users look at it. */
static int roll_span(struct red_roll *s, const struct span *span)
{
	AUTO(PQclear) PGresult *slots = NULL;
	int bad = 0;
	int r = pg_ask(s->pg,
		       text(&s->sql,
			    "select extract(epoch from slot)::bigint from %s group by slot order "
			    "by slot desc",
			    span->late),
		       &(struct pg_args){ 0 }, &slots);

	for (int i = 0; r == 0 && i < PQntuples(slots); i++) {
		r = roll_slot(s, span, PQgetvalue(slots, i, 0));
		if (r == -EINVAL) {
			r = put_slot(s, PQgetvalue(slots, i, 0));
			bad = -EINVAL;
		}
	}
	if (r == 0 && PQntuples(slots))
		r = vacuum_slot(s, span, PQgetvalue(slots, 0, 0));
	return r < 0 ? r : bad;
}

static int roll_due(struct red_roll *s)
{
	int r = pg_do(s->pg, "select close_red()"), bad = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(spans); i++) {
		r = roll_span(s, &spans[i]);
		if (r == -EINVAL) {
			bad = r;
			r = 0;
		}
	}
	if (r == 0)
		r = pg_do(s->pg, "select drop_red_minutes()");
	return r < 0 ? r : bad;
}

/* Minutes follow the wall clock; a clock that was set counts from the next call on. */
static uint64_t next_ns(void)
{
	uint64_t now_s = clock_wall_ns() / 1000000000u,
		 ago_s = (now_s + MINUTE_S - SETTLE_S) % MINUTE_S;

	return clock_mono_ns() + (MINUTE_S - ago_s) * 1000 * MS;
}

static int run_due(struct red_roll *s)
{
	int r = 0;

	if (pg_socket(s->pg) < 0) {
		r = pg_connect(s->pg);
		if (r == 0)
			r = pg_do(s->pg, "listen seismo_seal");
	}
	if (r < 0 || clock_mono_ns() < s->due_ns)
		return r;
	s->due_ns = next_ns(); /* before the work: rows that come late meanwhile are due then */
	r = roll_due(s);
	if (r < 0)
		s->due_ns = 0;
	return r;
}

static const char *why_of(const struct red_roll *s, int r)
{
	return r == -EBADMSG ? "a row is malformed" : r == -EINVAL ? s->why : pg_why(s->pg);
}

/* The writer logs a database that is away or has no tables yet. */
static void log_result(struct red_roll *s, int r)
{
	if (r == -ENOTCONN || r == -EAGAIN || r == -ECANCELED || counter_get(C_DATABASE_UP) == 0)
		return;
	if (r < 0 && !s->error_logged)
		log_warn(0,
			 "cannot roll up the topology: %s%s%s; queries read the single rows, which "
			 "takes longer, and the rollup is retried",
			 why_of(s, r), *pg_state(s->pg) ? ", SQLSTATE " : "", pg_state(s->pg));
	if (r == 0 && s->error_logged)
		log_info("the topology is rolled up again");
	if (r < 0)
		engine_failed(ENGINE_TOPOLOGY, why_of(s, r));
	else
		engine_well(ENGINE_TOPOLOGY);
	s->error_logged = r < 0;
}

static int wait_ms(struct red_roll *s, int r)
{
	uint64_t now = clock_mono_ns();

	if (r == -EAGAIN)
		return OTHER_MS;
	if (r < 0) {
		s->retry_ms = s->retry_ms < RETRY_MAX_MS / 2 ? 2 * s->retry_ms : RETRY_MAX_MS;
		return counter_get(C_DATABASE_UP) && s->error_logged ? s->retry_ms : RETRY_MS;
	}
	s->retry_ms = RETRY_MS;
	return s->due_ns > now ? (int)((s->due_ns - now) / MS) + 1 : 0;
}

static void *run(void *arg)
{
	struct red_roll *s = arg;

	while (!atomic_load(&s->stopping)) {
		int r = run_due(s);
		struct pollfd p[2] = { { .fd = s->stop_fd, .events = POLLIN },
				       { .fd = pg_socket(s->pg), .events = POLLIN } };

		log_result(s, r);
		poll(p, 2, wait_ms(s, r));
		if (p[1].revents && pg_notified(s->pg))
			s->due_ns = 0;
	}
	return NULL;
}

int red_roll_start(struct red_roll **out, const char *database)
{
	struct red_roll *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		die("out of memory");
	s->pg = pg_new(database);
	s->retry_ms = RETRY_MS;
	s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->stop_fd < 0)
		die("eventfd: %s", strerror(errno));
	r = -pthread_create(&s->thread, NULL, run, s);
	if (r == 0)
		*out = s;
	return r; /* nothing is freed on an error: the process exits */
}

/* A thread in a transaction is not waited for: the process exits next, which aborts it. */
void red_roll_stop(struct red_roll *s)
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
	red_merge_free(&s->merge);
	buf_free(&s->sql);
	buf_free(&s->of);
	close(s->stop_fd);
	free(s);
}
