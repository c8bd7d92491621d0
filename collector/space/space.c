// SPDX-License-Identifier: Apache-2.0
#include "collector/space/space.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "collector/core/counters.h"
#include "collector/space/disk_place.h"
#include "collector/space/space_gauges.h"

#define SEC 1000000000ull

enum {
	TURN_MS = 500,
	MEASURE_S = 10,
	TABLES_S = 60,
	AGAIN_S = 5, /* between tries to drop when nothing could be dropped */
	CHECKPOINT_S = 30,
	DROPS = 100, /* in one turn, at most */
	STOP_S = 2,
};

struct space {
	struct space_config cfg;
	pthread_t thread;
	struct pg *pg;
	int stop_fd;
	atomic_bool stopping;
	/* For other threads: the directory, once it is found, and the last judgement. */
	atomic_int place_fd;
	_Atomic uint64_t reserve;
	atomic_bool refusing;
	/* Of the thread. */
	struct disk_sizes sizes;
	struct disk_bounds bounds;
	struct disk_state state;
	int64_t full_s;
	const char *hint;
	bool hint_logged, error_logged, no_checkpoint;
	uint64_t measure_ns, tables_ns, drop_ns, checkpoint_ns; /* when it is due, monotonic */
};

static bool has_limit(const struct space *s)
{
	return s->cfg.limit.percent || s->cfg.limit.bytes;
}

static bool read_file_system(int fd, uint64_t *total, uint64_t *avail)
{
	struct statvfs v;

	if (fd < 0 || fstatvfs(fd, &v) < 0)
		return false;
	*total = (uint64_t)v.f_blocks * v.f_frsize;
	*avail = (uint64_t)v.f_bavail * v.f_frsize;
	return true;
}

const char *space_refusal(void *space)
{
	struct space *s = space;
	uint64_t total, avail, reserve = atomic_load(&s->reserve);
	bool full = atomic_load(&s->refusing);

	if (!full && reserve)
		full = read_file_system(atomic_load(&s->place_fd), &total, &avail) &&
		       avail < reserve;
	return full ? "its disk is at the limit (max_disk); free space, or raise the limit" : NULL;
}

static void find_place(struct space *s)
{
	int fd = disk_place_open(s->pg, s->cfg.place);

	s->hint = "";
	if (fd >= 0) {
		atomic_store(&s->place_fd, fd);
		return;
	}
	if (*s->cfg.place)
		s->hint = "database_dir cannot be opened; check that the directory exists and that "
			  "the collector's user can reach it";
	else if (!s->cfg.limit.bytes)
		s->hint = "max_disk is off: the file system of the database is not visible from "
			  "here; set max_disk to a size, or database_dir to a directory on it";
	else
		s->hint = "the free space of the database's file system is not visible from here; "
			  "set database_dir to a directory on it";
	if (!s->hint_logged)
		log_warn(0, "%s", s->hint);
	s->hint_logged = true;
}

static int measure(struct space *s)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r = pg_ask(s->pg,
		       "select pg_database_size(current_database()), coalesce(disk_wal(), 0)",
		       &(struct pg_args){ 0 }, &res);
	uint64_t database, wal;

	if (r < 0)
		return r;
	database = strtoull(PQgetvalue(res, 0, 0), NULL, 10);
	wal = strtoull(PQgetvalue(res, 0, 1), NULL, 10);
	s->sizes.used = database + wal;
	counter_set(C_DATABASE_BYTES, database);
	counter_set(C_DATABASE_WAL_BYTES, wal);
	s->measure_ns = clock_mono_ns() + MEASURE_S * SEC;
	return 0;
}

static int forecast(struct space *s)
{
	AUTO(PQclear) PGresult *res = NULL;
	struct disk_point p[DISK_POINTS];
	size_t n;
	int r = pg_ask(s->pg,
		       "select extract(epoch from at)::bigint, used from disk_past where at > "
		       "now() - interval '6 hours' and at <= now() order by at",
		       &(struct pg_args){ 0 }, &res);

	if (r < 0)
		return r;
	n = (size_t)PQntuples(res);
	n = n < DISK_POINTS ? n : DISK_POINTS;
	for (size_t i = 0; i < n; i++) {
		int row = PQntuples(res) - (int)(n - i);

		p[i].at_s = strtoll(PQgetvalue(res, row, 0), NULL, 10);
		p[i].used = strtoull(PQgetvalue(res, row, 1), NULL, 10);
	}
	s->full_s = disk_forecast_s(p, n, disk_room(&s->bounds, &s->sizes));
	return 0;
}

/* Takes the sizes of the last measurement and the free space of this moment. */
static void judge(struct space *s)
{
	s->sizes.total = s->sizes.avail = 0;
	if (!read_file_system(atomic_load(&s->place_fd), &s->sizes.total, &s->sizes.avail))
		s->sizes.total = 0;
	s->bounds = disk_bounds(&s->cfg.limit, s->sizes.total);
	s->state = disk_judge(&s->bounds, &s->sizes, s->state);
	atomic_store(&s->reserve, s->bounds.reserve);
	atomic_store(&s->refusing, s->state.refusing);
}

static bool is_near(const struct space *s)
{
	return has_limit(s) &&
	       disk_room(&s->bounds, &s->sizes) < (s->bounds.allowed / 8 > s->bounds.reserve
							   ? s->bounds.allowed / 8
							   : s->bounds.reserve);
}

/* Returns the number of drops, 0: nothing is left to drop, or another collector or a reader is at
 * it. */
static int drop_some(struct space *s)
{
	AUTO(PQclear) PGresult *res = NULL;
	uint64_t room = s->sizes.total && s->sizes.avail > s->bounds.reserve / 2
				? s->sizes.avail - s->bounds.reserve / 2
				: 0;
	struct pg_args a = { 0 };
	char text[24];
	int r;

	if (!s->sizes.total)
		room = s->bounds.allowed / 4; /* the free space is not visible */
	snprintf(text, sizeof(text), "%" PRIu64, room);
	pg_arg_text(&a, text);
	r = pg_ask(
		s->pg,
		"select step, fact, to_char(since, 'YYYY-MM-DD HH24:MI'), to_char(until, "
		"'YYYY-MM-DD HH24:MI'), rows, exact, bytes, what from disk_drop_next($1::bigint)",
		&a, &res);
	if (r < 0)
		return strcmp(pg_state(s->pg), "55P03") == 0 ? 0 : r; /* lock_not_available */
	for (int i = 0; i < PQntuples(res); i++)
		space_count_drop(res, i);
	return PQntuples(res);
}

static int drop_until_room(struct space *s)
{
	for (int i = 0; i < DROPS && s->state.dropping && !atomic_load(&s->stopping); i++) {
		int n = drop_some(s);
		int r = n < 0 ? n : measure(s);

		if (r < 0 || n == 0)
			s->drop_ns = clock_mono_ns() + AGAIN_S * SEC;
		if (r < 0)
			return r;
		judge(s);
		if (n == 0)
			return 0;
		s->tables_ns = 0;
	}
	return 0;
}

/* The WAL shrinks only by a checkpoint, which needs a right that the role may not have. */
static int shrink_wal(struct space *s)
{
	uint64_t now = clock_mono_ns();

	if (s->no_checkpoint || now < s->checkpoint_ns ||
	    s->sizes.avail >= s->bounds.reserve / 2 * 3)
		return 0;
	s->checkpoint_ns = now + CHECKPOINT_S * SEC;
	if (pg_do(s->pg, "checkpoint") == 0)
		return 0;
	s->no_checkpoint = true;
	return pg_socket(s->pg) < 0 ? -ENOTCONN : 0;
}

static void log_change(const struct space *s, struct disk_state was)
{
	if (s->state.refusing && !was.refusing)
		log_warn(0,
			 "the database's disk is at its limit: %" PRIu64 " MB used of %" PRIu64
			 " MB allowed, %" PRIu64
			 " MB free; batches wait on their nodes; free space, or raise max_disk",
			 s->sizes.used / 1000000, s->bounds.allowed / 1000000,
			 s->sizes.avail / 1000000);
	else if (!s->state.refusing && was.refusing)
		log_info("the database's disk has room again; batches are stored");
}

static int save(struct space *s)
{
	uint64_t now = clock_mono_ns();
	bool tables = now >= s->tables_ns;
	const char *state = !s->bounds.allowed && !s->bounds.reserve ? "off"
			    : s->state.refusing			     ? "full"
			    : s->state.dropping			     ? "dropping"
								     : "ok";
	struct pg_args a = { 0 };
	char number[5][24];
	const uint64_t n[] = { s->sizes.used, s->bounds.allowed, s->sizes.total, s->sizes.avail };

	space_set_gauges(&s->sizes, &s->bounds, s->state, s->full_s);
	pg_arg_text(&a, state);
	pg_arg_text(&a, s->hint);
	for (int i = 0; i < 4; i++)
		snprintf(number[i], sizeof(number[i]), "%" PRIu64, n[i]);
	snprintf(number[4], sizeof(number[4]), "%" PRId64,
		 s->full_s == DISK_NEVER ? -1 : s->full_s);
	for (int i = 0; i < 5; i++)
		pg_arg_text(&a, number[i]);
	pg_arg_text(&a, tables ? "t" : "f");
	if (tables) {
		int r = space_read_tables(s->pg, counter_get(C_DATABASE_BYTES));

		if (r < 0)
			return r;
		s->tables_ns = now + TABLES_S * SEC;
	}
	return pg_execute(s->pg,
			  "select disk_save($1, $2, $3::bigint, $4::bigint, $5::bigint, "
			  "$6::bigint, $7::bigint, $8::bool)",
			  &a);
}

static int take_turn(struct space *s)
{
	struct disk_state was = s->state;
	bool due = clock_mono_ns() >= s->measure_ns;
	int r = 0;

	judge(s);
	if (due || is_near(s)) {
		r = measure(s);
		judge(s);
	}
	if (r == 0 && s->state.dropping && clock_mono_ns() >= s->drop_ns)
		r = drop_until_room(s);
	if (r == 0 && s->state.dropping && s->sizes.total)
		r = shrink_wal(s);
	log_change(s, was);
	if (r < 0 ||
	    (!due && was.dropping == s->state.dropping && was.refusing == s->state.refusing))
		return r;
	r = forecast(s);
	return r < 0 ? r : save(s);
}

static int run_due(struct space *s)
{
	int r;

	if (!counter_get(C_DATABASE_UP))
		return -ENOTCONN;
	if (pg_socket(s->pg) < 0) {
		r = pg_connect(s->pg);
		if (r < 0)
			return r;
		s->no_checkpoint = false;
	}
	if (atomic_load(&s->place_fd) < 0 && has_limit(s) && clock_mono_ns() >= s->measure_ns)
		find_place(s);
	return take_turn(s);
}

/* The writer logs a database that is away. */
static void log_result(struct space *s, int r)
{
	if (r == -ENOTCONN)
		return;
	if (r < 0 && !s->error_logged)
		log_warn(0, "cannot check the database's disk: %s (SQLSTATE %s); this is retried",
			 pg_why(s->pg), pg_state(s->pg));
	s->error_logged = r < 0;
}

static void *run(void *arg)
{
	struct space *s = arg;

	while (!atomic_load(&s->stopping)) {
		struct pollfd p = { .fd = s->stop_fd, .events = POLLIN };

		log_result(s, run_due(s));
		poll(&p, 1, TURN_MS);
	}
	return NULL;
}

int space_start(struct space **out, const struct space_config *cfg)
{
	struct space *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		die("out of memory");
	s->cfg = *cfg;
	s->pg = pg_new(cfg->database);
	s->hint = has_limit(s) ? "" : "max_disk is off";
	s->full_s = -1;
	atomic_store(&s->place_fd, -1);
	s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->stop_fd < 0)
		die("eventfd: %s", strerror(errno));
	r = -pthread_create(&s->thread, NULL, run, s);
	if (r == 0)
		*out = s;
	return r; /* nothing is freed on an error: the process exits */
}

void space_stop(struct space *s)
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
	if (atomic_load(&s->place_fd) >= 0)
		close(atomic_load(&s->place_fd));
	close(s->stop_fd);
	free(s);
}
