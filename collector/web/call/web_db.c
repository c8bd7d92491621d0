// SPDX-License-Identifier: Apache-2.0
#include "collector/web/call/web_db.h"

#include <assert.h>
#include <poll.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "collector/db/pg_session.h"

enum { CONNECT_MS = 3000, GRACE_MS = 2000, RETRY_MS = 500, QUICK_MS = 1000, MS = 1000000 };

/* limit() ends what the server can end; GRACE_MS later is for a server that answers nothing. */
static const char session[] =
	"set default_transaction_read_only = on;"
	"set search_path = api;" PG_NOTICES "set client_encoding = 'UTF8';"
	"set timezone = 'UTC';"
	"set work_mem = '32MB';" /* a hundred thousand rows are sorted in memory */
	"set random_page_cost = 1.1;" /* of the newest rows, which are in memory */
	"set jit = off";

/* libpq's texts have several lines; the first says what happened. */
static int failed(struct web_db *db, int err, const char *text)
{
	snprintf(db->why, sizeof(db->why), "%.*s", (int)strcspn(text, "\n"), text);
	return err;
}

static int lost(struct web_db *db, const char *text)
{
	failed(db, -ENOTCONN, text && *text ? text : "the connection was lost");
	web_db_close(db);
	db->away_until = clock_mono_ns() + (uint64_t)RETRY_MS * MS;
	return -ENOTCONN;
}

static int wait_for(struct web_db *db, short events, uint64_t deadline)
{
	struct pollfd p[2] = { { .fd = PQsocket(db->conn), .events = events },
			       { .fd = db->stop_fd, .events = POLLIN } };

	for (;;) {
		uint64_t now = clock_mono_ns();

		if (now >= deadline)
			return lost(db, "the server does not answer");
		if (poll(p, 2, (int)((deadline - now) / MS) + 1) < 0 && errno != EINTR)
			return lost(db, strerror(errno));
		if (p[1].revents)
			return failed(db, -ECANCELED, "the collector stops");
		if (p[0].revents)
			return 0;
	}
}

/* All results of what was sent; *out is the last one. */
static int collect(struct web_db *db, uint64_t deadline, PGresult **out)
{
	AUTO(PQclear) PGresult *last = NULL;
	int r;

	while ((r = PQflush(db->conn)) > 0) {
		r = wait_for(db, POLLIN | POLLOUT, deadline);
		if (r < 0)
			return r;
		if (!PQconsumeInput(db->conn))
			break;
	}
	for (;;) {
		PGresult *next;

		while (PQisBusy(db->conn)) {
			r = wait_for(db, POLLIN, deadline);
			if (r < 0)
				return r;
			if (!PQconsumeInput(db->conn))
				return lost(db, PQerrorMessage(db->conn));
		}
		next = PQgetResult(db->conn);
		if (!next)
			break;
		PQclear(last);
		last = next;
	}
	if (!last || PQstatus(db->conn) != CONNECTION_OK)
		return lost(db, PQerrorMessage(db->conn));
	*out = TAKE(last);
	return 0;
}

static int judge(struct web_db *db, const PGresult *res)
{
	ExecStatusType status = PQresultStatus(res);
	const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);
	const char *text = PQresultErrorMessage(res);

	if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
		return 0;
	if (!state || strncmp(state, "57P", 3) == 0)
		return lost(db, text);
	if (strcmp(state, "57014") == 0)
		return failed(db, -ETIMEDOUT, text);
	return failed(db, strncmp(state, "22", 2) == 0 ? -EINVAL : -EIO, text);
}

static int handshake(struct web_db *db, uint64_t deadline)
{
	for (;;) {
		PostgresPollingStatusType s = PQconnectPoll(db->conn);
		int r;

		if (s == PGRES_POLLING_OK)
			return 0;
		if (s == PGRES_POLLING_FAILED)
			return lost(db, PQerrorMessage(db->conn));
		r = wait_for(db, s == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline);
		if (r < 0)
			return r;
	}
}

/* libpq would write to stderr, past the log. */
static void on_notice(void *arg, const char *text)
{
	(void)arg, (void)text;
}

/* What the server may take for each statement from here on. */
static int limit(struct web_db *db, unsigned ms, uint64_t deadline)
{
	AUTO(PQclear) PGresult *res = NULL;
	char sql[48];
	int r;

	snprintf(sql, sizeof(sql), "set statement_timeout = %u", ms);
	if (!PQsendQuery(db->conn, sql))
		return lost(db, PQerrorMessage(db->conn));
	r = collect(db, deadline, &res);
	return r < 0 ? r : judge(db, res);
}

static int join(struct web_db *db)
{
	const char *const names[] = { "dbname", "application_name", NULL };
	const char *const values[] = { db->conninfo, "seismo-web", NULL };
	uint64_t deadline = clock_mono_ns() + (uint64_t)CONNECT_MS * MS;
	AUTO(PQclear) PGresult *res = NULL;
	int r;

	if (clock_mono_ns() < db->away_until)
		return -ENOTCONN; /* why still says what the last try met */
	db->conn = PQconnectStartParams(names, values, 1);
	if (!db->conn || PQstatus(db->conn) == CONNECTION_BAD)
		return lost(db, db->conn ? PQerrorMessage(db->conn) : "out of memory");
	PQsetNoticeProcessor(db->conn, on_notice, NULL);
	r = handshake(db, deadline);
	if (r < 0)
		return r;
	if (PQsetnonblocking(db->conn, 1) < 0 || !PQsendQuery(db->conn, session))
		return lost(db, PQerrorMessage(db->conn));
	r = collect(db, deadline, &res);
	if (r == 0)
		r = judge(db, res);
	if (r == 0)
		r = limit(db, WEB_USUAL_MS, deadline);
	if (r < 0)
		web_db_close(db);
	return r;
}

/* A prepared query is planned once for all values: the live thread asks it many times a second. */
static int prepare(struct web_db *db, const struct web_query *q, uint64_t deadline)
{
	AUTO(PQclear) PGresult *set = NULL;
	AUTO(PQclear) PGresult *res = NULL;
	int r;

	for (unsigned i = 0; i < db->nready; i++)
		if (db->ready[i] == q)
			return 0;
	assert(db->nready < ARRAY_SIZE(db->ready));
	if (!PQsendQuery(db->conn, "set plan_cache_mode = force_generic_plan"))
		return lost(db, PQerrorMessage(db->conn));
	r = collect(db, deadline, &set);
	if (r < 0)
		return r;
	if (!PQsendPrepare(db->conn, q->name, q->sql, q->n, q->types))
		return lost(db, PQerrorMessage(db->conn));
	r = collect(db, deadline, &res);
	if (r == 0)
		r = judge(db, res);
	if (r == 0)
		db->ready[db->nready++] = q;
	return r;
}

static int ask(struct web_db *db, const struct web_query *q, const char *const *values,
	       uint64_t deadline, PGresult **out)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r = q->name ? prepare(db, q, deadline) : 0;

	if (r < 0)
		return r;
	if (q->name)
		r = PQsendQueryPrepared(db->conn, q->name, q->n, values, NULL, NULL, 0);
	else
		r = PQsendQueryParams(db->conn, q->sql, q->n, q->types, values, NULL, NULL, 0);
	if (!r)
		return lost(db, PQerrorMessage(db->conn));
	r = collect(db, deadline, &res);
	if (r == 0)
		r = judge(db, res);
	if (r == 0)
		*out = TAKE(res);
	return r;
}

/* The connection has the usual limit again afterwards, if there still is one. */
static int ask_within(struct web_db *db, const struct web_query *q, const char *const *values,
		      PGresult **out)
{
	unsigned ms = q->within_ms ? q->within_ms : WEB_USUAL_MS;
	uint64_t deadline = clock_mono_ns() + ((uint64_t)ms + GRACE_MS) * MS;
	int back = 0, r = ms == WEB_USUAL_MS ? 0 : limit(db, ms, deadline);

	if (r == 0)
		r = ask(db, q, values, deadline, out);
	if (ms != WEB_USUAL_MS && r != -ENOTCONN && r != -ECANCELED)
		back = limit(db, WEB_USUAL_MS, clock_mono_ns() + (uint64_t)GRACE_MS * MS);
	return r < 0 ? r : back;
}

int web_db_query(struct web_db *db, const struct web_query *q, const char *const *values,
		 PGresult **out)
{
	uint64_t start = clock_mono_ns();
	bool old = db->conn != NULL;
	int r = old ? 0 : join(db);

	if (r == 0)
		r = ask_within(db, q, values, out);
	/* A connection that died unused says nothing about the database: it may be back already. */
	if (r == -ENOTCONN && old && clock_mono_ns() - start < (uint64_t)QUICK_MS * MS) {
		db->away_until = 0;
		r = join(db);
		if (r == 0)
			r = ask_within(db, q, values, out);
	}
	if (r == -ECANCELED)
		web_db_close(db); /* in the middle of an answer */
	return r;
}

void web_db_close(struct web_db *db)
{
	PQfinish(db->conn);
	db->conn = NULL;
	db->nready = 0;
}
