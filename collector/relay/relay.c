// SPDX-License-Identifier: Apache-2.0
#include "collector/relay/relay.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/uplink/uplink.h"
#include "collector/core/counters.h"
#include "collector/core/engine_state.h"
#include "collector/relay/relay_box.h"

/* Any number that never changes and that no other lock uses (tests/lint/locks.sh). */
#define RELAY_LOCK "select pg_try_advisory_lock(126879331840372)"

enum {
	PUMP_MS = 100,
	FEW_NODES = 200,
	RETRY_MS = 500,
	STOP_S = 2,
};

#define MS 1000000ull
static const uint64_t BEAT_NS = 2000 * MS; /* between heartbeats */
static const uint64_t SEEN_NS = 10000 * MS;
static const uint64_t NODES_NS = 5000 * MS;
static const uint64_t INCIDENTS_NS = 1000 * MS;

struct relay {
	const struct config *config;
	char node[128];
	struct endpoints to;
	struct keyring keys;
	pthread_t thread;
	bool started;
	int stop_fd;
	atomic_bool stopping;
	struct pg *pg;
	struct loop *loop;
	struct relay_box box;
	struct uplink *uplink;
	uint64_t beat_seq, beat_ns; /* seq of the last heartbeat; when the next is due */
	uint64_t nodes_ns, incidents_ns; /* when these are due */
	bool was_up;
	uint64_t seen_from, seen_ns; /* the next node to report as heard; when to begin again */
	struct seen_node seen[ITEM_MAX_SEEN_NODES];
	struct clock_item clock; /* of this collector, by the clock of the global one */
	bool clock_due; /* it changed since it was sent */
	bool again, forget; /* start a new session; the global collector has lost its state */
	bool refused, nodes_refused, incidents_refused; /* by the database, and logged */
};

int relay_open(struct relay **out, const struct config *c, char *err, size_t errlen)
{
	const struct relay_options *o = &c->relay;
	struct relay *r = calloc(1, sizeof(*r));
	char dir[300];
	int e;

	if (!r)
		die("out of memory");
	r->config = c;
	r->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	snprintf(r->node, sizeof(r->node), "%s%s", *o->node ? o->node : "relay-",
		 *o->node ? "" : c->region);
	snprintf(dir, sizeof(dir), "%s%s", *o->keys ? o->keys : c->keys, *o->keys ? "" : "/relay");
	e = endpoints_parse(o->to, &r->to);
	if (e == 0)
		e = keyring_open(&r->keys,
				 &(struct keyring_config){
					 .dir = dir, .collector_key = o->key, .token = o->token },
				 err, errlen);
	if (e < 0 || r->stop_fd < 0) {
		close_autop(&r->stop_fd);
		free(r);
		return e < 0 ? e : -errno;
	}
	r->pg = pg_new(c->database);
	*out = r;
	return 0;
}

static bool is_refusal(int e)
{
	return e < 0 && e != -ENOTCONN && e != -EBUSY && e != -EAGAIN;
}

/* The writer logs a database that is away or has no tables yet. */
static void log_refusal(struct relay *r, int e)
{
	if (is_refusal(e) && counter_get(C_DATABASE_UP))
		engine_failed(ENGINE_RELAY, pg_why(r->pg));
	if (!is_refusal(e) || r->refused || !counter_get(C_DATABASE_UP))
		return;
	r->refused = true;
	log_warn(*pg_state(r->pg) ? 0 : e,
		 "region %s is not relayed: %s%s%s; new data waits in the outbox, and the relay "
		 "retries",
		 r->config->region, pg_why(r->pg), *pg_state(r->pg) ? ", SQLSTATE " : "",
		 pg_state(r->pg));
}

static void log_recovery(struct relay *r)
{
	if (r->refused)
		log_info("region %s is relayed again", r->config->region);
	r->refused = false;
	if (!r->nodes_refused && !r->incidents_refused)
		engine_well(ENGINE_RELAY);
}

/* A refusal of these does not stop the relay of rows: it is logged, and 0 is returned. */
static int tolerate_refusal(struct relay *r, int e, bool *refused, const char *what)
{
	if (is_refusal(e))
		engine_failed(ENGINE_RELAY, pg_why(r->pg));
	if (is_refusal(e) && !*refused)
		log_warn(0,
			 "changes of %s are not relayed: %s, SQLSTATE %s; all else is relayed, and "
			 "the relay retries",
			 what, pg_why(r->pg), pg_state(r->pg));
	if (e == 0 && *refused)
		log_info("changes of %s are relayed again", what);
	if (e != 0 && !is_refusal(e))
		return e;
	*refused = e < 0;
	return 0;
}

static int on_stop(void *arg)
{
	struct relay *r = arg;

	loop_stop(r->loop);
	return 0;
}

static void on_fresh(void *arg)
{
	struct relay *r = arg;

	r->forget = true;
}

static void on_clock(void *arg, const struct clock_item *c)
{
	struct relay *r = arg;

	r->clock = *c;
	r->clock_due = true;
}

/* With many nodes it runs less often, as each node is a row that the global collector writes. */
static int read_seen(struct relay *r, uint64_t now, uint32_t *n)
{
	int e = 0;

	*n = 0;
	if (!r->seen_from && now < r->seen_ns)
		return 0;
	e = relay_seen(r->pg, r->config->region, &r->seen_from, r->seen, n);
	r->seen_ns = now + (*n < FEW_NODES ? BEAT_NS : SEEN_NS);
	return e;
}

/* A heartbeat follows all earlier batches, and only one is in flight at a time. Its arrival shows
 * how far the global collector is. */
static int queue_beat(struct relay *r, uint64_t now)
{
	struct outbox_body b = { .wall_ns = clock_wall_ns(), .items = 1 };
	struct region_item item = { .name = r->config->region,
				    .console = r->config->relay.console,
				    .seen = r->seen };
	int e;

	if (now < r->beat_ns || spool_base(r->box.spool, STREAM_EVENT) <= r->beat_seq)
		return 0;
	e = read_seen(r, now, &item.nseen);
	if (e < 0)
		return e;
	wire_put_region(&b.body, &item);
	if (r->clock_due)
		wire_put_clock(&b.body, &r->clock);
	b.items += r->clock_due;
	e = outbox_put(r->pg, &b, 1, &r->beat_seq);
	r->clock_due = r->clock_due && e < 0;
	buf_free(&b.body);
	r->beat_ns = now + BEAT_NS;
	return e;
}

static int update_nodes(struct relay *r, uint64_t now)
{
	uint64_t seq;
	int e = 0;

	if (!r->forget && now < r->nodes_ns)
		return 0;
	if (r->forget)
		e = pg_do(r->pg, "delete from relay_told");
	if (e == 0) {
		r->forget = false;
		e = relay_nodes(r->pg, r->config->region, &seq);
	}
	r->nodes_ns = now + NODES_NS;
	return tolerate_refusal(r, e, &r->nodes_refused, "nodes");
}

/*
 * After a reconnect all incidents are sent again: the global collector may be a later version,
 * which stores what the earlier one skipped. While it is away they wait in the outbox, behind the
 * rows that they refer to.
 */
static int update_incidents(struct relay *r, uint64_t now, bool up)
{
	int e = 0;

	r->was_up = r->was_up && up;
	if (r->was_up == up && now < r->incidents_ns)
		return 0;
	if (up && !r->was_up)
		e = pg_do(r->pg, "delete from relay_told_incident");
	if (e == 0) {
		r->was_up = up;
		e = relay_incidents(r->pg, r->config->region, up);
	}
	r->incidents_ns = now + INCIDENTS_NS;
	return tolerate_refusal(r, e, &r->incidents_refused, "incidents");
}

static int pump(void *arg)
{
	struct relay *r = arg;
	uint64_t now = clock_mono_ns();
	bool up = uplink_up(r->uplink);
	int e;

	counter_set(C_RELAY_UP, up);
	if (spool_epoch(r->box.spool) != r->box.epoch || pg_socket(r->pg) < 0) {
		r->again = true;
		loop_stop(r->loop);
		return 0;
	}
	e = relay_box_delete(&r->box);
	if (e == 0)
		e = relay_box_ahead(&r->box, false);
	if (e == 0 && up)
		e = queue_beat(r, now);
	if (e == 0 && up)
		e = update_nodes(r, now);
	if (e == 0)
		e = update_incidents(r, now, up);
	if (e == 0)
		e = relay_box_left(&r->box);
	log_refusal(r, e);
	if (e < 0)
		pg_disconnect(r->pg);
	else
		log_recovery(r);
	uplink_send(r->uplink);
	return 0;
}

/* The global collector's numbers of this epoch differ, since a database was restored: starts a new
 * epoch. */
static int renew_epoch(struct relay *r)
{
	char sql[80];
	int e;

	snprintf(sql, sizeof(sql), "select outbox_renew(%" PRId64 ")", (int64_t)spool_draw_epoch());
	e = pg_do(r->pg, sql);
	r->again = e < 0;
	return e;
}

static int take_lock(struct relay *r)
{
	AUTO(PQclear) PGresult *res = NULL;
	int e = 0;

	if (pg_socket(r->pg) < 0)
		e = pg_connect(r->pg);
	if (e == 0)
		e = pg_ask(r->pg, RELAY_LOCK, &(struct pg_args){ 0 }, &res);
	if (e < 0)
		return e;
	return *PQgetvalue(res, 0, 0) == 't' ? 0 : -EBUSY;
}

static int prepare(struct relay *r)
{
	struct uplink_config up = {
		.node = r->node,
		.machine = "",
		.version = COLLECTOR_VERSION,
		.relay = r->config->region,
		.collectors = &r->to,
		.keys = &r->keys,
		.spool_where = "in the outbox of this region's database",
		.spool = NULL,
		.loop = r->loop,
		.on_fresh = on_fresh,
		.on_clock = on_clock,
		.arg = r,
	};
	int e = take_lock(r);

	if (e == 0)
		e = relay_box_home(r->pg);
	if (e == 0)
		e = relay_box_open(&r->box, r->pg);
	if (e == -ENODATA) {
		e = relay_box_begin(r->pg);
		e = e < 0 ? e : relay_box_home(r->pg);
		e = e < 0 ? e : relay_box_open(&r->box, r->pg);
	}
	if (e == 0)
		e = relay_box_ahead(&r->box, true);
	if (e < 0)
		return e;
	up.spool = r->box.spool;
	return uplink_open(&r->uplink, &up);
}

static void end_session(struct relay *r)
{
	uplink_close(r->uplink);
	r->uplink = NULL;
	spool_free(r->box.spool);
	r->box.spool = NULL;
	loop_free(r->loop);
	r->loop = NULL;
	counter_set(C_RELAY_UP, 0);
}

/* Runs until the database connection ends. */
static int run_session(struct relay *r)
{
	int e;

	r->loop = loop_new();
	r->again = false;
	r->beat_seq = 0;
	e = prepare(r);
	if (e == 0) {
		loop_add_fd(r->loop, r->stop_fd, on_stop, r);
		loop_add_timer(r->loop, UPLINK_TICK_MS, uplink_tick, r->uplink);
		loop_add_timer(r->loop, PUMP_MS, pump, r);
		e = loop_run(r->loop);
		if (e == 0 && r->again && spool_epoch(r->box.spool) != r->box.epoch &&
		    pg_socket(r->pg) >= 0)
			e = renew_epoch(r);
	}
	end_session(r);
	return e;
}

static void *run(void *arg)
{
	struct relay *r = arg;

	while (!atomic_load(&r->stopping)) {
		struct pollfd stop = { .fd = r->stop_fd, .events = POLLIN };
		int e = run_session(r);

		log_refusal(r, e);
		if (e < 0 && e != -EBUSY && e != -EAGAIN)
			pg_disconnect(r->pg); /* away, or not migrated yet */
		poll(&stop, 1, RETRY_MS);
	}
	return NULL;
}

int relay_start(struct relay *r)
{
	int e = -pthread_create(&r->thread, NULL, run, r);

	r->started = e == 0;
	if (e == 0)
		log_info("region %s is relayed to %s by key %s", r->config->region,
			 r->config->relay.to, r->keys.own.public);
	return e;
}

/* A thread that hangs in the database is not waited for, since the process exits next. */
void relay_stop(struct relay *r)
{
	struct timespec until;

	if (!r)
		return;
	atomic_store(&r->stopping, true);
	(void)!eventfd_write(r->stop_fd, 1);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STOP_S;
	if (r->started && pthread_clockjoin_np(r->thread, NULL, CLOCK_MONOTONIC, &until) != 0)
		return;
	pg_free(r->pg);
	close(r->stop_fd);
	free(r);
}
