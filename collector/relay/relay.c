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
#include "collector/relay/relay_box.h"

/* Any number will do, if it is always the same, and no other work's (tests/lint/locks.sh). */
#define RELAY_LOCK "select pg_try_advisory_lock(126879331840372)"

enum {
	PUMP_MS = 100,
	FEW_NODES = 200,
	RETRY_MS = 500,
	STOP_S = 2,
};

#define MS 1000000ull
static const uint64_t BEAT_NS = 2000 * MS; /* how often it says up to when all was told */
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
	uint64_t beat_seq, beat_ns, nodes_ns; /* of the last beat; when the next is due */
	uint64_t incidents_ns;
	bool was_up;
	uint64_t seen_from, seen_ns; /* the next node to be told as heard; when to begin again */
	struct seen_node seen[ITEM_MAX_SEEN_NODES];
	struct clock_item clock; /* of this collector, by the other's */
	bool clock_due; /* it is another than was told */
	bool again, forget; /* a new session; the other side has lost what it knew */
	bool refused, nodes_refused, incidents_refused; /* by the database, which was said */
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

/* Of a database that is away, or has no tables yet, the writer says it. */
static void complain(struct relay *r, int e)
{
	if (!is_refusal(e) || r->refused || !counter_get(C_DATABASE_UP))
		return;
	r->refused = true;
	log_warn(*pg_state(r->pg) ? 0 : e,
		 "region %s is not relayed: %s%s%s; all that it stores waits in the outbox, and it "
		 "is tried again",
		 r->config->region, pg_why(r->pg), *pg_state(r->pg) ? ", SQLSTATE " : "",
		 pg_state(r->pg));
}

static void is_well(struct relay *r)
{
	if (r->refused)
		log_info("region %s is relayed again", r->config->region);
	r->refused = false;
}

/* What cannot be told of these keeps no row back. */
static int at_best(struct relay *r, int e, bool *refused, const char *what)
{
	if (is_refusal(e) && !*refused)
		log_warn(0,
			 "what is new of %s is not told to the global collector: %s, SQLSTATE %s; "
			 "all else is relayed, and it is tried again",
			 what, pg_why(r->pg), pg_state(r->pg));
	if (e == 0 && *refused)
		log_info("what is new of %s is told again", what);
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

/* Of many nodes rarer: each is a row that is written there. */
static int see(struct relay *r, uint64_t now, uint32_t *n)
{
	int e = 0;

	*n = 0;
	if (!r->seen_from && now < r->seen_ns)
		return 0;
	e = relay_seen(r->pg, r->config->region, &r->seen_from, r->seen, n);
	r->seen_ns = now + (*n < FEW_NODES ? BEAT_NS : SEEN_NS);
	return e;
}

/* Only behind all that came before it, and one at a time: so it says how far the other side is. */
static int beat(struct relay *r, uint64_t now)
{
	struct outbox_body b = { .wall_ns = clock_wall_ns(), .items = 1 };
	struct region_item item = { .name = r->config->region,
				    .console = r->config->relay.console,
				    .seen = r->seen };
	int e;

	if (now < r->beat_ns || spool_base(r->box.spool, STREAM_EVENT) <= r->beat_seq)
		return 0;
	e = see(r, now, &item.nseen);
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

static int tell_nodes(struct relay *r, uint64_t now)
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
	return at_best(r, e, &r->nodes_refused, "nodes");
}

/*
 * Who comes back may be a later version, which knows of what the one before skipped. They wait in
 * the outbox while it is away: behind the rows that they are of.
 */
static int tell_incidents(struct relay *r, uint64_t now, bool up)
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
	return at_best(r, e, &r->incidents_refused, "incidents");
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
		e = beat(r, now);
	if (e == 0 && up)
		e = tell_nodes(r, now);
	if (e == 0)
		e = tell_incidents(r, now, up);
	if (e == 0)
		e = relay_box_left(&r->box);
	complain(r, e);
	if (e < 0)
		pg_disconnect(r->pg);
	else
		is_well(r);
	uplink_send(r->uplink);
	return 0;
}

/* Its numbers of this epoch are not ours: a database that was restored. They are given anew. */
static int renew(struct relay *r)
{
	char sql[80];
	int e;

	snprintf(sql, sizeof(sql), "select outbox_renew(%" PRId64 ")", (int64_t)spool_draw_epoch());
	e = pg_do(r->pg, sql);
	r->again = e < 0;
	return e;
}

static int lead(struct relay *r)
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
	int e = lead(r);

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

static void clear(struct relay *r)
{
	uplink_close(r->uplink);
	r->uplink = NULL;
	spool_free(r->box.spool);
	r->box.spool = NULL;
	loop_free(r->loop);
	r->loop = NULL;
	counter_set(C_RELAY_UP, 0);
}

/* From a connection to the database to its end. */
static int session(struct relay *r)
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
			e = renew(r);
	}
	clear(r);
	return e;
}

static void *run(void *arg)
{
	struct relay *r = arg;

	while (!atomic_load(&r->stopping)) {
		struct pollfd stop = { .fd = r->stop_fd, .events = POLLIN };
		int e = session(r);

		complain(r, e);
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

/* A thread that hangs in the database is left: the process ends next. */
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
