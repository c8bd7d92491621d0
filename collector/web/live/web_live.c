// SPDX-License-Identifier: Apache-2.0
#include "collector/web/live/web_live.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "collector/core/clock_check.h"
#include "collector/web/call/web_param.h"

enum { POLL_MS = 500, STATUS_MS = 2000, PING_MS = 15000, GAP_MS = 10, ROWS = 500, MARK = 48 };
enum { MS = 1000000 };

struct web_live {
	struct web_hub *hub;
	struct web_db db;
	pthread_t thread;
	int notify_fd;
	struct web_mark at;
	bool begun; /* at is known */
	uint64_t poll_ns, status_ns, ping_ns; /* time of the last run of each */
	uint64_t away_ns; /* database away since; 0: available */
	bool logged; /* whether the outage was logged */
	pthread_mutex_t lock; /* protects the fields below */
	bool well;
	char why[160];
};

#define LOG_AFTER_NS (2 * 1000000000ull)

static const Oid mark_types[] = { 25, 25 };

static const struct web_query newest_query = {
	.sql = "select event_id from api.request where stored < 'infinity'"
	       " order by stored desc, request_id desc limit 1",
};

/* The first condition lets the index be used. */
static const struct web_query rows_query = {
	.name = "rows",
	.sql = "select event_id, body from api.request where stored >= api.id_time($1)"
	       " and (stored, request_id) > (api.id_time($1), api.id_number($1))"
	       " and stored < 'infinity' order by stored, request_id limit 500",
	.n = 1,
	.types = mark_types,
};

static const struct web_query backlog_query = {
	.sql = "select event_id, body, more from (select event_id, body, stored, request_id,"
	       " count(*) over () - 1000 as more from api.request where stored >= api.id_time($1)"
	       " and stored <= api.id_time($2)"
	       " and (stored, request_id) > (api.id_time($1), api.id_number($1))"
	       " and (stored, request_id) <= (api.id_time($2), api.id_number($2))"
	       " order by stored desc, request_id desc limit 1000) r order by stored, request_id",
	.n = 2,
	.types = mark_types,
};

static const struct web_query status_query = {
	.name = "status",
	.sql = "with nodes as (select name, region, last_seen from api.node order by name limit "
	       "200),"
	       "servers as (select node, app, substring(peer from '[0-9]+$')::int as port,"
	       "  coalesce(sum(n) filter (where ts > now() - interval '30 s'), 0) / 30.0 as rate"
	       "  from api.red where ts > now() - interval '5 min' and role = 'server' group by 1, "
	       "2, 3),"
	       "coverage as (select name, value from api.coverage where ts > now() - interval '1 "
	       "min' and hour > now() - interval '2 hours')"
	       "select json_build_object('database', 'ok',"
	       " 'nodes', (select coalesce(json_agg(json_build_object('name', name, 'region', "
	       "region,"
	       "  'lastSeen', api.rfc3339(last_seen),"
	       "  'lag', greatest(0, round(extract(epoch from now() - last_seen) * 1000))) order "
	       "by name), '[]')"
	       "  from nodes),"
	       " 'servers', (select coalesce(json_agg(json_build_object('node', node, 'app', app, "
	       "'port', port,"
	       "  'rate', round(rate, 2)) order by rate desc, node, app, port), '[]')"
	       "  from (select * from servers order by rate desc, node, app, port limit 100) s),"
	       " 'requestsPerSecond', (select coalesce(round(sum(rate), 2), 0) from servers),"
	       " 'incidents', (select json_build_object('open', count(*), 'since', "
	       "api.rfc3339(min(onset))) from api.incident_open),"
	       " 'silentNodes', (select count(*) from api.node where not "
	       "coalesce(last_seen > now() - interval '10 s', false)),"
	       " 'coverage', (select json_build_object("
	       "  'seen', coalesce(sum(value) filter (where name = 'requests_seen'), 0),"
	       "  'stored', coalesce(sum(value) filter (where name = 'rows'), 0),"
	       "  'withheld', coalesce(sum(value) filter (where name = 'rows_withheld'), 0),"
	       "  'lost', coalesce(sum(value) filter (where name in ('ring_full', 'head_missed')), "
	       "0))"
	       "  from coverage))",
};

static void format_mark(struct web_mark m, char text[MARK])
{
	snprintf(text, MARK, "%llx-%016llx", (unsigned long long)m.stored_us,
		 (unsigned long long)m.number);
}

int web_mark_read(const char *id, struct web_mark *out)
{
	static const struct web_param param = { "Last-Event-ID", WEB_ID, NULL, false };
	char value[WEB_VALUE], why[WEB_WHY], *end;
	struct web_mark m;

	if (web_param_read(&param, id, strlen(id), value, why) < 0)
		return -EINVAL;
	m.stored_us = strtoull(value, &end, 16);
	m.number = strtoull(end + 1, NULL, 16);
	*out = m;
	return 0;
}

static void put_text(struct buf *b, const char *text)
{
	buf_put(b, text, strlen(text));
}

static void put_request(struct buf *b, const PGresult *res, int row)
{
	put_text(b, "event: request\nid: ");
	put_text(b, PQgetvalue(res, row, 0));
	put_text(b, "\ndata: ");
	put_text(b, PQgetvalue(res, row, 1));
	put_text(b, "\n\n");
}

static struct web_blob *blob_take(struct buf *b)
{
	struct web_blob *blob = web_blob_new(b->data, b->len);

	buf_free(b);
	return blob;
}

int web_live_backlog(struct web_db *db, struct web_mark since, struct web_mark upto,
		     struct web_blob **out)
{
	AUTO(PQclear) PGresult *res = NULL;
	static const char unknown[] = "event: skipped\ndata: {\"count\":null}\n\n";
	char a[MARK], z[MARK], line[80];
	const char *values[] = { a, z };
	struct buf b = { 0 };
	long long more;
	int r;

	format_mark(since, a);
	format_mark(upto, z);
	r = web_db_query(db, &backlog_query, values, &res);
	if (r == -ETIMEDOUT) { /* the client was away too long to count its rows */
		*out = web_blob_new(unknown, strlen(unknown));
		return 0;
	}
	if (r < 0)
		return r;
	more = PQntuples(res) ? atoll(PQgetvalue(res, 0, 2)) : 0;
	snprintf(line, sizeof(line), "event: skipped\ndata: {\"count\":%lld}\n\n", more);
	put_text(&b, more > 0 ? line : ": caught up\n\n");
	for (int i = 0; i < PQntuples(res); i++)
		put_request(&b, res, i);
	*out = blob_take(&b);
	return 0;
}

/* Logged only after LOG_AFTER_NS: a short outage, as while a database is made or restarted,
 * needs no log line. */
static void log_health(struct web_live *l, bool well)
{
	uint64_t now = clock_mono_ns();

	if (well) {
		if (l->logged)
			log_info("web: the console's database is back");
		l->logged = false;
		l->away_ns = 0;
		return;
	}
	if (!l->away_ns)
		l->away_ns = now;
	if (l->logged || now - l->away_ns < LOG_AFTER_NS)
		return;
	l->logged = true;
	log_warn(0,
		 "web: the console's database is away; requests are answered with 503 until it is "
		 "back: %s",
		 l->db.why);
}

static void set_health(struct web_live *l, int err)
{
	pthread_mutex_lock(&l->lock);
	l->well = err == 0;
	memcpy(l->why, l->db.why, sizeof(l->why));
	pthread_mutex_unlock(&l->lock);
	if (err != -ECANCELED)
		log_health(l, err == 0);
}

bool web_live_is_healthy(struct web_live *l, char why[160])
{
	bool well;

	pthread_mutex_lock(&l->lock);
	well = l->well;
	memcpy(why, l->why, sizeof(l->why));
	pthread_mutex_unlock(&l->lock);
	return well;
}

/* Starts at the newest row: earlier rows are not published. */
static int read_start(struct web_live *l)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r = web_db_query(&l->db, &newest_query, NULL, &res);

	if (r < 0)
		return r;
	if (PQntuples(res) && web_mark_read(PQgetvalue(res, 0, 0), &l->at) < 0)
		return -EIO;
	l->begun = true;
	web_hub_begin(l->hub, l->at);
	return 0;
}

static int publish_row(struct web_live *l, const PGresult *res, int row)
{
	struct buf b = { 0 };

	if (web_mark_read(PQgetvalue(res, row, 0), &l->at) < 0)
		return -EIO;
	put_request(&b, res, row);
	web_hub_publish(l->hub, l->at, blob_take(&b));
	return 0;
}

/* Reads a page at a time, so that clients can read during a flood of rows. */
static int poll_requests(struct web_live *l)
{
	char mark[MARK];
	const char *values[] = { mark };
	int n, r = l->begun ? 0 : read_start(l);

	do {
		AUTO(PQclear) PGresult *res = NULL;

		format_mark(l->at, mark);
		if (r == 0)
			r = web_db_query(&l->db, &rows_query, values, &res);
		n = r == 0 ? PQntuples(res) : 0;
		for (int i = 0; i < n && r == 0; i++)
			r = publish_row(l, res, i);
		if (n)
			web_hub_wake(l->hub);
	} while (r == 0 && n == ROWS);
	return r;
}

/* object: JSON, not empty. While retention is held it gets a member more. */
static void put_status(struct buf *out, const char *object)
{
	size_t len = strlen(object);

	buf_put(out, object, len - 1);
	clock_put_hold(out);
	put_text(out, "}");
}

static int publish_status(struct web_live *l)
{
	static const char away[] = "{\"database\":\"away\"}";
	AUTO(PQclear) PGresult *res = NULL;
	struct buf b = { 0 };
	char why[160];
	int r = -ENOTCONN;

	if (web_live_is_healthy(l, why))
		r = web_db_query(&l->db, &status_query, NULL, &res);
	put_text(&b, "event: status\ndata: ");
	put_status(&b, r == 0 ? PQgetvalue(res, 0, 0) : away);
	put_text(&b, "\n\n");
	web_hub_set(l->hub, WEB_SLOT_STATUS, blob_take(&b));
	return r;
}

static bool is_due(uint64_t *last, uint64_t now, uint64_t every_ms)
{
	if (now - *last < every_ms * MS)
		return false;
	*last = now;
	return true;
}

/* Without clients nothing is queried, and the status is cleared so that the next client gets no
 * stale one. */
static void publish_updates(struct web_live *l, uint64_t now)
{
	static const char ping[] = ": ping\n\n";
	bool wake = false;

	if (!web_hub_stats(l->hub).clients) {
		web_hub_set(l->hub, WEB_SLOT_STATUS, NULL);
		l->status_ns = 0;
		return;
	}
	if (is_due(&l->status_ns, now, STATUS_MS)) {
		publish_status(l);
		wake = true;
	}
	if (is_due(&l->ping_ns, now, PING_MS)) {
		web_hub_set(l->hub, WEB_SLOT_PING, web_blob_new(ping, strlen(ping)));
		wake = true;
	}
	if (wake)
		web_hub_wake(l->hub);
}

static bool wait_stopped(const struct web_live *l, int wait_ms)
{
	struct pollfd p[2] = { { .fd = l->db.stop_fd, .events = POLLIN },
			       { .fd = l->notify_fd, .events = POLLIN } };
	uint64_t n;

	if (poll(p, 2, wait_ms) > 0 && p[1].revents && read(l->notify_fd, &n, sizeof(n)) < 0)
		return false; /* already read: nothing is lost */
	return p[0].revents != 0;
}

static void *live_run(void *arg)
{
	struct web_live *l = arg;

	while (!wait_stopped(l, POLL_MS)) {
		uint64_t now = clock_mono_ns();

		if (now - l->poll_ns < (uint64_t)GAP_MS * MS)
			usleep(GAP_MS *
			       1000); /* combine commits in quick succession into one query */
		l->poll_ns = clock_mono_ns();
		set_health(l, poll_requests(l));
		publish_updates(l, l->poll_ns);
	}
	web_db_close(&l->db);
	return NULL;
}

int web_live_start(struct web_live **out, struct web_hub *hub, const char *conninfo, int stop_fd)
{
	struct web_live *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	*l = (struct web_live){ .hub = hub,
				.db = { .conninfo = conninfo, .stop_fd = stop_fd },
				.notify_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK),
				.why = "not queried yet" };
	pthread_mutex_init(&l->lock, NULL);
	r = l->notify_fd < 0 ? -errno : -pthread_create(&l->thread, NULL, live_run, l);
	if (r < 0) {
		if (l->notify_fd >= 0)
			close(l->notify_fd);
		free(l);
		return r;
	}
	*out = l;
	return 0;
}

void web_live_notify(struct web_live *l)
{
	uint64_t one = 1;

	if (write(l->notify_fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: a query is due anyway */
}

void web_live_stop(struct web_live *l)
{
	if (l)
		pthread_join(l->thread, NULL);
}

void web_live_free(struct web_live *l)
{
	if (!l)
		return;
	close(l->notify_fd);
	pthread_mutex_destroy(&l->lock);
	free(l);
}
