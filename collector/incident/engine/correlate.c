// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/engine/correlate.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "collector/core/counters.h"
#include "collector/core/engine_state.h"
#include "collector/incident/engine/incident_engine.h"

/* Any number that is always the same and not used by another lock (tests/lint/locks.sh). */
#define CORRELATE_LOCK "select pg_try_advisory_lock(126879331840369)"

enum {
	PASS_MS = 1000, /* in the time of the data */
	FASTER = 2, /* faster than real time by this factor: a catch-up; less may be an effect of
		     * batches */
	BUSY = 4, /* spends at most a quarter of the time on passes */
	RETRY_MS = 500,
	RETRY_MAX_MS = 60000,
	OTHER_MS = 5000, /* another collector leads: check again */
	FORGET_S = 60,
	STOP_S = 5,
	CAREFUL_PASSES = 60, /* after the last one that skipped something */
	SAY_AGAIN_S = 600,
};

#define MS 1000000ull

struct correlate {
	pthread_t thread;
	struct correlate_config cfg;
	struct pg *pg;
	struct engine engine;
	bool leads, logged;
	int retry_ms, pace_ms, wake_fd;
	uint64_t said_ns; /* when skipped rows were last logged */
	uint64_t busy_ns, due_ns, news_ns;
	int64_t newest_us; /* newest data at news_ns */
	atomic_bool stopping;
	pthread_mutex_t lock; /* protects the queue */
	struct incident_command *first, **last;
	unsigned waiting;
	bool closed;
};

static int acquire_lead(struct correlate *c)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r = 0;

	if (pg_socket(c->pg) < 0) {
		c->leads = false;
		r = pg_connect(c->pg);
	}
	if (r < 0 || c->leads)
		return r;
	r = pg_ask(c->pg, CORRELATE_LOCK, &(struct pg_args){ 0 }, &res);
	c->leads = r == 0 && *PQgetvalue(res, 0, 0) == 't';
	return r;
}

static void close_incidents(struct engine *e)
{
	for (size_t i = 0; i < e->nregions; i++)
		incident_set_pass(e->set, e->region[i].id, e->region[i].now_us);
	if (e->newest_us - e->forgot_us > FORGET_S * INCIDENT_SEC) {
		incident_set_forget(e->set, e->newest_us);
		e->forgot_us = e->newest_us;
	}
}

static void count_open(const struct engine *e)
{
	uint64_t open = 0;

	for (size_t i = 0; e->set && i < incident_set_count_of(e->set); i++)
		open += !incident_set_at(e->set, i)->closed_us;
	counter_set(C_INCIDENTS_OPEN, open);
}

static int run_steps(struct engine *e)
{
	int r = engine_read_reports(e);

	if (r == 0)
		r = engine_read_regions(e);
	if (r == 0)
		r = engine_read_rows(e);
	if (r == 0)
		r = engine_import_reports(e);
	if (r == 0)
		r = engine_join(e);
	if (r == 0)
		r = engine_read_slowdowns(e);
	if (r == 0) {
		close_incidents(e);
		r = engine_rank_incidents(e);
	}
	if (r == 0)
		r = engine_write(e);
	return r;
}

/* One pass in one transaction. A failure leaves no trace, neither in the database nor in
 * memory. */
static int try_pass(struct correlate *c)
{
	struct engine *e = &c->engine;
	int r;

	e->skipped = 0;
	r = engine_begin(e);
	if (r == 0 && !e->set)
		r = engine_load(e);
	if (r == 0)
		r = run_steps(e);
	if (r < 0) {
		pg_rollback(c->pg);
		engine_forget(e);
	}
	return r;
}

static void count_skipped(struct correlate *c)
{
	struct engine *e = &c->engine;
	uint64_t now = clock_mono_ns();

	if (e->careful && !e->skipped)
		e->careful--;
	if (!e->skipped)
		return;
	e->careful = CAREFUL_PASSES;
	engine_skipped(ENGINE_INCIDENTS, e->skipped);
	if (c->said_ns && now - c->said_ns < SAY_AGAIN_S * 1000 * MS)
		return;
	c->said_ns = now;
	log_warn(0,
		 "%u stored rows of incidents cannot be applied and are skipped; all others are "
		 "correlated. Table engine_refused has each with its error",
		 e->skipped);
}

/* Repeats a refused pass with care, which skips what is refused. */
static int run_pass(struct correlate *c)
{
	struct engine *e = &c->engine;
	uint64_t t0 = clock_mono_ns();
	int r = try_pass(c);

	if (r == -EINVAL && !e->careful) {
		e->careful = CAREFUL_PASSES;
		r = try_pass(c);
	}
	if (r == 0) {
		count_skipped(c);
		count_open(e);
	}
	c->busy_ns = clock_mono_ns() - t0;
	counter_add(C_CORRELATE_NS, c->busy_ns);
	counter_add(r < 0 ? C_CORRELATE_FAILURES : C_CORRELATE_PASSES, 1);
	return r;
}

/* Without a database the writer logs that already, and before it has made the tables it is too
 * early. */
static void log_state(struct correlate *c, int r)
{
	if (r == -ENOTCONN || counter_get(C_DATABASE_UP) == 0)
		return;
	if (r < 0 && !c->logged)
		log_warn(0, "incidents cannot be correlated: %s%s%s; rows are kept, retrying",
			 pg_why(c->pg), *pg_state(c->pg) ? ", SQLSTATE " : "", pg_state(c->pg));
	if (r == 0 && c->logged)
		log_info("incidents are correlated again");
	if (r < 0)
		engine_failed(ENGINE_INCIDENTS, pg_why(c->pg));
	else
		engine_well(ENGINE_INCIDENTS);
	c->logged = r < 0;
}

/* Replayed data, or a backlog, passes faster than real time; passes are then more frequent, to
 * see it as often. */
static int pace_ms(struct correlate *c)
{
	uint64_t now = clock_mono_ns();
	int64_t wall_us = (int64_t)(now - c->news_ns) / 1000;
	int64_t data_us = c->engine.newest_us - c->newest_us;

	if (data_us == 0 && wall_us < PASS_MS * 1000)
		return c->pace_ms; /* between two batches */
	c->pace_ms = PASS_MS;
	if (c->newest_us && data_us > FASTER * wall_us)
		c->pace_ms = (int)(PASS_MS * wall_us / data_us);
	c->newest_us = c->engine.newest_us;
	c->news_ns = now;
	return c->pace_ms;
}

static int wait_ms(struct correlate *c, int r)
{
	int busy_ms = (int)(BUSY * c->busy_ns / MS), pace = pace_ms(c);

	if (r < 0) {
		c->retry_ms = c->retry_ms < RETRY_MAX_MS / 2 ? 2 * c->retry_ms : RETRY_MAX_MS;
		return counter_get(C_DATABASE_UP) && c->logged ? c->retry_ms : RETRY_MS;
	}
	c->retry_ms = RETRY_MS;
	if (!c->leads)
		return OTHER_MS;
	if (c->engine.full)
		return 0;
	return busy_ms > pace ? busy_ms : pace;
}

static struct incident_command *take_command(struct correlate *c)
{
	struct incident_command *cmd;

	pthread_mutex_lock(&c->lock);
	cmd = c->first;
	if (cmd) {
		c->first = cmd->next;
		if (!c->first)
			c->last = &c->first;
		c->waiting--;
	}
	c->closed = atomic_load(&c->stopping);
	pthread_mutex_unlock(&c->lock);
	return cmd;
}

/* Data that the database refuses (no JSON, no UTF-8) is the sender's mistake. */
static void put_refusal(struct correlate *c, struct incident_command *cmd, int r)
{
	const char *why = r == -EINVAL ? pg_why(c->pg) : "";

	cmd->status = r == -EINVAL ? 400 : 503;
	buf_put(&cmd->answer, why, strlen(why));
}

static void execute_command(struct correlate *c, struct incident_command *cmd)
{
	AUTO(PQclear) PGresult *res = NULL;
	struct pg_args a = { 0 };
	int r = -ENOTCONN;

	pg_arg_text(&a, cmd->id);
	pg_arg_text(&a, cmd->verb);
	pg_arg_text(&a, (const char *)cmd->body.data);
	if (!atomic_load(&c->stopping) && counter_get(C_DATABASE_UP))
		r = pg_ask(c->pg, "select status, answer from incident_command($1, $2, $3::jsonb)",
			   &a, &res);
	if (r < 0) {
		put_refusal(c, cmd, r);
	} else {
		cmd->status = (unsigned)atoi(PQgetvalue(res, 0, 0));
		buf_put(&cmd->answer, PQgetvalue(res, 0, 1), (size_t)PQgetlength(res, 0, 1));
	}
	counter_add(C_INCIDENT_COMMANDS, 1);
	cmd->done(cmd);
}

int correlate_put(struct correlate *c, struct incident_command *cmd)
{
	int r = 0;

	cmd->next = NULL;
	pthread_mutex_lock(&c->lock);
	if (c->closed || c->waiting >= INCIDENT_COMMANDS) {
		r = -EBUSY;
	} else {
		*c->last = cmd;
		c->last = &cmd->next;
		c->waiting++;
	}
	pthread_mutex_unlock(&c->lock);
	if (r == 0)
		(void)!eventfd_write(c->wake_fd, 1);
	return r;
}

static void pass_if_leader(struct correlate *c)
{
	int r = counter_get(C_DATABASE_UP) ? acquire_lead(c) : -ENOTCONN;

	if (r < 0 || !c->leads)
		engine_forget(&c->engine);
	else
		r = run_pass(c);
	log_state(c, r);
	c->due_ns = clock_mono_ns() + (uint64_t)wait_ms(c, r) * MS;
}

static void *correlate_run(void *arg)
{
	struct correlate *c = arg;
	struct incident_command *cmd;
	eventfd_t woken;

	while (!atomic_load(&c->stopping)) {
		struct pollfd p = { .fd = c->wake_fd, .events = POLLIN };
		uint64_t now;

		if (clock_mono_ns() >= c->due_ns)
			pass_if_leader(c);
		now = clock_mono_ns();
		poll(&p, 1, c->due_ns > now ? (int)((c->due_ns - now) / MS) + 1 : 0);
		(void)!eventfd_read(c->wake_fd, &woken);
		while (!atomic_load(&c->stopping) && (cmd = take_command(c))) {
			execute_command(c, cmd);
			c->due_ns = 0; /* its effects are ranked at once */
		}
	}
	while ((cmd = take_command(c)))
		execute_command(c, cmd);
	return NULL;
}

int correlate_start(struct correlate **out, const struct correlate_config *cfg)
{
	struct correlate *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		die("out of memory");
	c->cfg = *cfg;
	c->pg = pg_new(cfg->database);
	c->last = &c->first;
	pthread_mutex_init(&c->lock, NULL);
	engine_open(&c->engine, c->pg, &c->cfg.limits);
	c->retry_ms = RETRY_MS;
	c->pace_ms = PASS_MS;
	c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->wake_fd < 0)
		die("eventfd: %s", strerror(errno));
	r = -pthread_create(&c->thread, NULL, correlate_run, c);
	if (r == 0)
		*out = c;
	return r; /* on failure the process exits */
}

int correlate_stop(struct correlate *c)
{
	struct timespec until;

	if (!c)
		return 0;
	atomic_store(&c->stopping, true);
	(void)!eventfd_write(c->wake_fd, 1);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STOP_S;
	return -pthread_clockjoin_np(c->thread, NULL, CLOCK_MONOTONIC, &until);
}

void correlate_free(struct correlate *c)
{
	if (!c)
		return;
	engine_close(&c->engine);
	pg_free(c->pg);
	pthread_mutex_destroy(&c->lock);
	close(c->wake_fd);
	free(c);
}
