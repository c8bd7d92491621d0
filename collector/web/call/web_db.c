// SPDX-License-Identifier: Apache-2.0
#include "collector/web/call/web_db.h"

#include <assert.h>
#include <poll.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "collector/db/pg_session.h"

enum { CONNECT_MS = 3000, GRACE_MS = 2000, RETRY_MS = 500, QUICK_MS = 1000, MS = 1000000 };

/* set_timeout() bounds what the server can cancel; GRACE_MS more covers a server that does not
 * answer. */
static const char session[] =
	"set default_transaction_read_only = on;"
	"set search_path = api;" PG_NOTICES "set client_encoding = 'UTF8';"
	"set timezone = 'UTC';"
	"set work_mem = '32MB';" /* a hundred thousand rows are sorted in memory */
	"set random_page_cost = 1.1;" /* the newest rows are in memory */
	"set jit = off";

/* libpq's messages have several lines; the first one names the error. */
static int set_error(struct web_db *db, int err, const char *text)
{
	snprintf(db->why, sizeof(db->why), "%.*s", (int)strcspn(text, "\n"), text);
	return err;
}

static int drop_connection(struct web_db *db, const char *text)
{
	set_error(db, -ENOTCONN, text && *text ? text : "the connection was lost");
	web_db_close(db);
	db->away_until = clock_mono_ns() + (uint64_t)RETRY_MS * MS;
	return -ENOTCONN;
}

static int wait_ready(struct web_db *db, short events, uint64_t deadline)
{
	struct pollfd p[2] = { { .fd = PQsocket(db->conn), .events = events },
			       { .fd = db->stop_fd, .events = POLLIN } };

	for (;;) {
		uint64_t now = clock_mono_ns();

		if (now >= deadline)
			return drop_connection(db, "the server does not answer");
		if (poll(p, 2, (int)((deadline - now) / MS) + 1) < 0 && errno != EINTR)
			return drop_connection(db, strerror(errno));
		if (p[1].revents)
			return set_error(db, -ECANCELED, "the collector is stopping");
		if (p[0].revents)
			return 0;
	}
}

/* Reads all results of the sent query; *out is the last one. */
static int collect_results(struct web_db *db, uint64_t deadline, PGresult **out)
{
	AUTO(PQclear) PGresult *last = NULL;
	int r;

	while ((r = PQflush(db->conn)) > 0) {
		r = wait_ready(db, POLLIN | POLLOUT, deadline);
		if (r < 0)
			return r;
		if (!PQconsumeInput(db->conn))
			break;
	}
	for (;;) {
		PGresult *next;

		while (PQisBusy(db->conn)) {
			r = wait_ready(db, POLLIN, deadline);
			if (r < 0)
				return r;
			if (!PQconsumeInput(db->conn))
				return drop_connection(db, PQerrorMessage(db->conn));
		}
		next = PQgetResult(db->conn);
		if (!next)
			break;
		PQclear(last);
		last = next;
	}
	if (!last || PQstatus(db->conn) != CONNECTION_OK)
		return drop_connection(db, PQerrorMessage(db->conn));
	*out = TAKE(last);
	return 0;
}

static int check_result(struct web_db *db, const PGresult *res)
{
	ExecStatusType status = PQresultStatus(res);
	const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);
	const char *text = PQresultErrorMessage(res);

	if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
		return 0;
	if (!state || strncmp(state, "57P", 3) == 0)
		return drop_connection(db, text);
	if (strcmp(state, "57014") == 0)
		return set_error(db, -ETIMEDOUT, text);
	return set_error(db, strncmp(state, "22", 2) == 0 ? -EINVAL : -EIO, text);
}

static int finish_connect(struct web_db *db, uint64_t deadline)
{
	for (;;) {
		PostgresPollingStatusType s = PQconnectPoll(db->conn);
		int r;

		if (s == PGRES_POLLING_OK)
			return 0;
		if (s == PGRES_POLLING_FAILED)
			return drop_connection(db, PQerrorMessage(db->conn));
		r = wait_ready(db, s == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline);
		if (r < 0)
			return r;
	}
}

/* Otherwise libpq writes to stderr instead of the log. */
static void on_notice(void *arg, const char *text)
{
	(void)arg, (void)text;
}

/* Sets the server's time limit for the following statements. */
static int set_timeout(struct web_db *db, unsigned ms, uint64_t deadline)
{
	AUTO(PQclear) PGresult *res = NULL;
	char sql[48];
	int r;

	snprintf(sql, sizeof(sql), "set statement_timeout = %u", ms);
	if (!PQsendQuery(db->conn, sql))
		return drop_connection(db, PQerrorMessage(db->conn));
	r = collect_results(db, deadline, &res);
	return r < 0 ? r : check_result(db, res);
}

static int connect_db(struct web_db *db)
{
	const char *const names[] = { "dbname", "application_name", NULL };
	const char *const values[] = { db->conninfo, "seismo-web", NULL };
	uint64_t deadline = clock_mono_ns() + (uint64_t)CONNECT_MS * MS;
	AUTO(PQclear) PGresult *res = NULL;
	int r;

	if (clock_mono_ns() < db->away_until)
		return -ENOTCONN; /* why still has the last error */
	db->conn = PQconnectStartParams(names, values, 1);
	if (!db->conn || PQstatus(db->conn) == CONNECTION_BAD)
		return drop_connection(db, db->conn ? PQerrorMessage(db->conn) : "out of memory");
	PQsetNoticeProcessor(db->conn, on_notice, NULL);
	r = finish_connect(db, deadline);
	if (r < 0)
		return r;
	if (PQsetnonblocking(db->conn, 1) < 0 || !PQsendQuery(db->conn, session))
		return drop_connection(db, PQerrorMessage(db->conn));
	r = collect_results(db, deadline, &res);
	if (r == 0)
		r = check_result(db, res);
	if (r == 0)
		r = set_timeout(db, WEB_USUAL_MS, deadline);
	if (r < 0)
		web_db_close(db);
	return r;
}

/* A prepared query is planned once for all values: the live thread runs it many times a
 * second. */
static int prepare_query(struct web_db *db, const struct web_query *q, uint64_t deadline)
{
	AUTO(PQclear) PGresult *set = NULL;
	AUTO(PQclear) PGresult *res = NULL;
	int r;

	for (unsigned i = 0; i < db->nready; i++)
		if (db->ready[i] == q)
			return 0;
	assert(db->nready < ARRAY_SIZE(db->ready));
	if (!PQsendQuery(db->conn, "set plan_cache_mode = force_generic_plan"))
		return drop_connection(db, PQerrorMessage(db->conn));
	r = collect_results(db, deadline, &set);
	if (r < 0)
		return r;
	if (!PQsendPrepare(db->conn, q->name, q->sql, q->n, q->types))
		return drop_connection(db, PQerrorMessage(db->conn));
	r = collect_results(db, deadline, &res);
	if (r == 0)
		r = check_result(db, res);
	if (r == 0)
		db->ready[db->nready++] = q;
	return r;
}

static int execute_query(struct web_db *db, const struct web_query *q, const char *const *values,
			 uint64_t deadline, PGresult **out)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r = q->name ? prepare_query(db, q, deadline) : 0;

	if (r < 0)
		return r;
	if (q->name)
		r = PQsendQueryPrepared(db->conn, q->name, q->n, values, NULL, NULL, 0);
	else
		r = PQsendQueryParams(db->conn, q->sql, q->n, q->types, values, NULL, NULL, 0);
	if (!r)
		return drop_connection(db, PQerrorMessage(db->conn));
	r = collect_results(db, deadline, &res);
	if (r == 0)
		r = check_result(db, res);
	if (r == 0)
		*out = TAKE(res);
	return r;
}

/* Restores the usual limit afterwards, if the connection still exists. */
static int execute_within(struct web_db *db, const struct web_query *q, const char *const *values,
			  PGresult **out)
{
	unsigned ms = q->within_ms ? q->within_ms : WEB_USUAL_MS;
	uint64_t deadline = clock_mono_ns() + ((uint64_t)ms + GRACE_MS) * MS;
	int back = 0, r = ms == WEB_USUAL_MS ? 0 : set_timeout(db, ms, deadline);

	if (r == 0)
		r = execute_query(db, q, values, deadline, out);
	if (ms != WEB_USUAL_MS && r != -ENOTCONN && r != -ECANCELED)
		back = set_timeout(db, WEB_USUAL_MS, clock_mono_ns() + (uint64_t)GRACE_MS * MS);
	return r < 0 ? r : back;
}

int web_db_query(struct web_db *db, const struct web_query *q, const char *const *values,
		 PGresult **out)
{
	uint64_t start = clock_mono_ns();
	bool old = db->conn != NULL;
	int r = old ? 0 : connect_db(db);

	if (r == 0)
		r = execute_within(db, q, values, out);
	/* A connection lost while idle does not mean that the database is away: reconnect
	 * once. */
	if (r == -ENOTCONN && old && clock_mono_ns() - start < (uint64_t)QUICK_MS * MS) {
		db->away_until = 0;
		r = connect_db(db);
		if (r == 0)
			r = execute_within(db, q, values, out);
	}
	if (r == -ECANCELED)
		web_db_close(db); /* the answer was only partly read */
	return r;
}

void web_db_close(struct web_db *db)
{
	PQfinish(db->conn);
	db->conn = NULL;
	db->nready = 0;
}
