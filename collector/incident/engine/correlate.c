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
#include "collector/incident/engine/incident_engine.h"

/* Any number will do, if it is always the same, and no other work's (tests/lint/locks.sh). */
#define CORRELATE_LOCK "select pg_try_advisory_lock(126879331840369)"

enum {
	PASS_MS = 1000, /* of the data's time */
	FASTER = 2, /* than time, or more: by batches alone it is ahead now and then */
	BUSY = 4, /* a quarter of the time at most is spent on it */
	RETRY_MS = 500,
	RETRY_MAX_MS = 60000,
	OTHER_MS = 5000, /* another collector does it: who knows for how long */
	FORGET_S = 60,
	STOP_S = 5,
};

#define MS 1000000ull

struct correlate {
	pthread_t thread;
	struct correlate_config cfg;
	struct pg *pg;
	struct engine engine;
	bool leads, told;
	int retry_ms, pace_ms, wake_fd;
	uint64_t busy_ns, due_ns, news_ns;
	int64_t newest_us; /* of the data, as of news_ns */
	atomic_bool stopping;
	pthread_mutex_t lock; /* of the queue */
	struct incident_command *first, **last;
	unsigned waiting;
	bool closed;
};

static int lead(struct correlate *c)
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

static void close_what_is_over(struct engine *e)
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

static int take_steps(struct engine *e)
{
	int r = engine_read_told(e);

	if (r == 0)
		r = engine_read_regions(e);
	if (r == 0)
		r = engine_read_rows(e);
	if (r == 0)
		r = engine_adopt(e);
	if (r == 0)
		r = engine_join(e);
	if (r == 0)
		r = engine_read_means(e);
	if (r == 0) {
		close_what_is_over(e);
		r = engine_blame(e);
	}
	if (r == 0)
		r = engine_write(e);
	return r;
}

/* Who tells what cannot be written down must not keep it from all others. */
static void blame_told(struct engine *e, int r)
{
	char why[256];

	snprintf(why, sizeof(why), "%s, SQLSTATE %s", pg_why(e->pg), pg_state(e->pg));
	if (engine_blame_told(e, r) == 1)
		log_warn(
			0,
			"what regions told of their incidents is left out until they tell it anew, "
			"as it cannot be stored: %s",
			why);
}

/* In one transaction; what fails leaves nothing, neither there nor here. */
static int pass(struct correlate *c)
{
	struct engine *e = &c->engine;
	uint64_t t0 = clock_mono_ns();
	int r = engine_begin(e);

	if (r == 0 && !e->set)
		r = engine_load(e);
	if (r == 0)
		r = take_steps(e);
	if (r < 0) {
		pg_rollback(c->pg);
		engine_forget(e);
		blame_told(e, r);
	} else {
		e->refused = 0;
		count_open(e);
	}
	c->busy_ns = clock_mono_ns() - t0;
	counter_add(C_CORRELATE_NS, c->busy_ns);
	counter_add(r < 0 ? C_CORRELATE_FAILURES : C_CORRELATE_PASSES, 1);
	return r;
}

/* While the writer has no database either, it says so, and before it made the tables it is early.
 */
static void tell(struct correlate *c, int r)
{
	if (r == -ENOTCONN || counter_get(C_DATABASE_UP) == 0)
		return;
	if (r < 0 && !c->told)
		log_warn(0,
			 "incidents cannot be made: %s%s%s; all rows stay, and it is tried again",
			 pg_why(c->pg), *pg_state(c->pg) ? ", SQLSTATE " : "", pg_state(c->pg));
	if (r == 0 && c->told)
		log_info("incidents are made again");
	c->told = r < 0;
}

/* What is replayed, or caught up with, passes faster than time, and is to be seen as often. */
static int pace_ms(struct correlate *c)
{
	uint64_t now = clock_mono_ns();
	int64_t wall_us = (int64_t)(now - c->news_ns) / 1000;
	int64_t data_us = c->engine.newest_us - c->newest_us;

	if (data_us == 0 && wall_us < PASS_MS * 1000)
		return c->pace_ms; /* it comes in batches */
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
		return counter_get(C_DATABASE_UP) && c->told ? c->retry_ms : RETRY_MS;
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

/* What the data itself is refused for (no JSON, no UTF-8) is its sender's mistake. */
static void put_refusal(struct correlate *c, struct incident_command *cmd, int r)
{
	const char *why = r == -EINVAL ? pg_why(c->pg) : "";

	cmd->status = r == -EINVAL ? 400 : 503;
	buf_put(&cmd->answer, why, strlen(why));
}

static void obey(struct correlate *c, struct incident_command *cmd)
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

static void work(struct correlate *c)
{
	int r = counter_get(C_DATABASE_UP) ? lead(c) : -ENOTCONN;

	if (r < 0 || !c->leads)
		engine_forget(&c->engine);
	else
		r = pass(c);
	tell(c, r);
	c->due_ns = clock_mono_ns() + (uint64_t)wait_ms(c, r) * MS;
}

static void *run(void *arg)
{
	struct correlate *c = arg;
	struct incident_command *cmd;
	eventfd_t woken;

	while (!atomic_load(&c->stopping)) {
		struct pollfd p = { .fd = c->wake_fd, .events = POLLIN };
		uint64_t now;

		if (clock_mono_ns() >= c->due_ns)
			work(c);
		now = clock_mono_ns();
		poll(&p, 1, c->due_ns > now ? (int)((c->due_ns - now) / MS) + 1 : 0);
		(void)!eventfd_read(c->wake_fd, &woken);
		while (!atomic_load(&c->stopping) && (cmd = take_command(c))) {
			obey(c, cmd);
			c->due_ns = 0; /* what follows of it is ranked at once */
		}
	}
	while ((cmd = take_command(c)))
		obey(c, cmd);
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
	r = -pthread_create(&c->thread, NULL, run, c);
	if (r == 0)
		*out = c;
	return r; /* a process that cannot start ends */
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
