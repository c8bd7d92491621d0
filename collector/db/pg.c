// SPDX-License-Identifier: Apache-2.0
#include "collector/db/pg.h"

#include <assert.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "collector/db/pg_session.h"

struct pg {
	char *conninfo;
	PGconn *conn;
	char state[6];
	char why[256];
};

struct pg *pg_new(const char *conninfo)
{
	struct pg *p = calloc(1, sizeof(*p));

	if (!p || !(p->conninfo = strdup(conninfo)))
		die("out of memory");
	return p;
}

void pg_free(struct pg *p)
{
	if (!p)
		return;
	pg_disconnect(p);
	free(p->conninfo);
	free(p);
}

void pg_disconnect(struct pg *p)
{
	PQfinish(p->conn);
	p->conn = NULL;
}

/* libpq's messages have several lines; the first one names the error. */
static void set_error(struct pg *p, const char *state, const char *text)
{
	snprintf(p->state, sizeof(p->state), "%s", state ? state : "");
	snprintf(p->why, sizeof(p->why), "%.*s", (int)strcspn(text, "\n"), text);
}

static int gone(struct pg *p, const char *text)
{
	set_error(p, NULL, text && *text ? text : "the connection was lost");
	pg_disconnect(p);
	return -ENOTCONN;
}

/* Notices ("already exists, skipping") say nothing that an operator can act on. */
static void on_notice(void *arg UNUSED, const PGresult *res UNUSED)
{
}

/* The operator's conninfo comes last and overrides. Keepalives detect a server that vanished. */
int pg_connect(struct pg *p)
{
	static const char *const keys[] = { "application_name",
					    "connect_timeout",
					    "keepalives_idle",
					    "tcp_user_timeout",
					    "dbname",
					    "client_encoding",
					    NULL };
	const char *const values[] = { "seismo-collector", "5",	   "10", "30000",
				       p->conninfo,	   "UTF8", NULL };
	const char *encoding;

	pg_disconnect(p);
	p->conn = PQconnectdbParams(keys, values, 1);
	if (!p->conn)
		die("out of memory");
	if (PQstatus(p->conn) != CONNECTION_OK)
		return gone(p, PQerrorMessage(p->conn));
	PQsetNoticeReceiver(p->conn, on_notice, NULL);
	encoding = PQparameterStatus(p->conn, "server_encoding");
	if (encoding && strcmp(encoding, "UTF8") != 0)
		return gone(p, "the database's encoding is not UTF8; make it with ENCODING 'UTF8'");
	return pg_do(p,
		     PG_NOTICES "set timezone = 'UTC'; set synchronous_commit = on; set jit = off");
}

void pg_arg_text(struct pg_args *a, const char *s)
{
	assert(a->n < PG_MAX_ARGS);
	a->value[a->n] = s;
	a->len[a->n] = 0;
	a->binary[a->n++] = 0;
}

void pg_arg_binary(struct pg_args *a, const struct buf *b)
{
	assert(a->n < PG_MAX_ARGS && b->len <= INT32_MAX);
	a->value[a->n] = (const char *)b->data;
	a->len[a->n] = (int)b->len;
	a->binary[a->n++] = 1;
}

static int judge(struct pg *p, const PGresult *res)
{
	ExecStatusType status = PQresultStatus(res);
	const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);

	if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_COPY_IN)
		return 0;
	if (PQstatus(p->conn) != CONNECTION_OK || !state)
		return gone(p, PQerrorMessage(p->conn));
	set_error(p, state, PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY));
	if (strncmp(state, "57P", 3) == 0 || strncmp(state, "08", 2) == 0) {
		pg_disconnect(p);
		return -ENOTCONN;
	}
	if (strncmp(state, "21", 2) == 0 || strncmp(state, "22", 2) == 0 ||
	    strncmp(state, "23", 2) == 0 || strncmp(state, "54", 2) == 0)
		return -EINVAL;
	return -EIO;
}

int pg_do(struct pg *p, const char *sql)
{
	AUTO(PQclear) PGresult *res = NULL;

	if (!p->conn)
		return gone(p, "not connected");
	res = PQexec(p->conn, sql);
	return judge(p, res);
}

int pg_ask(struct pg *p, const char *sql, const struct pg_args *a, PGresult **out)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r;

	if (!p->conn)
		return gone(p, "not connected");
	res = PQexecParams(p->conn, sql, a->n, NULL, a->value, a->len, a->binary, 0);
	r = judge(p, res);
	if (r < 0)
		return r;
	*out = TAKE(res);
	return 0;
}

int pg_execute(struct pg *p, const char *sql, const struct pg_args *a)
{
	AUTO(PQclear) PGresult *res = NULL;

	return pg_ask(p, sql, a, &res);
}

/* Reads the whole answer, also after an error. */
int pg_each(struct pg *p, const char *sql, pg_row *on_row, void *arg)
{
	int r = 0;

	if (!p->conn)
		return gone(p, "not connected");
	if (!PQsendQueryParams(p->conn, sql, 0, NULL, NULL, NULL, NULL, 1) ||
	    !PQsetSingleRowMode(p->conn))
		return gone(p, PQerrorMessage(p->conn));
	for (;;) {
		AUTO(PQclear) PGresult *res = p->conn ? PQgetResult(p->conn) : NULL;
		int one;

		if (!res)
			return r;
		one = PQresultStatus(res) == PGRES_SINGLE_TUPLE ? 0 : judge(p, res);
		if (one < 0 && (r == 0 || one == -ENOTCONN))
			r = one;
		if (r == 0 && PQresultStatus(res) == PGRES_SINGLE_TUPLE)
			r = on_row(arg, res);
	}
}

static int copy_result(struct pg *p)
{
	int r = 0;

	for (;;) {
		AUTO(PQclear) PGresult *res = p->conn ? PQgetResult(p->conn) : NULL;
		int one;

		if (!res)
			return r;
		one = judge(p, res);
		if (r == 0 || one == -ENOTCONN)
			r = one;
	}
}

int pg_copy_put(struct pg *p, const struct buf *rows)
{
	assert(rows->len <= INT32_MAX);
	if (!p->conn)
		return gone(p, "not connected");
	if (PQputCopyData(p->conn, (const char *)rows->data, (int)rows->len) != 1)
		return gone(p, PQerrorMessage(p->conn));
	return 0;
}

int pg_copy_end(struct pg *p)
{
	if (!p->conn)
		return gone(p, "not connected");
	if (PQputCopyEnd(p->conn, NULL) != 1)
		return gone(p, PQerrorMessage(p->conn));
	return copy_result(p);
}

/* A COMMIT of a transaction that has failed answers ROLLBACK, and no error. */
int pg_commit(struct pg *p)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r;

	if (!p->conn)
		return gone(p, "not connected");
	res = PQexec(p->conn, "commit");
	r = judge(p, res);
	if (r < 0) {
		pg_disconnect(p);
		return -ENOTCONN;
	}
	if (strcmp(PQcmdStatus(res), "COMMIT") != 0) {
		set_error(p, NULL, "the transaction was rolled back");
		return -EIO;
	}
	return 0;
}

/* If the rollback fails, closing the connection ends the transaction. */
void pg_rollback(struct pg *p)
{
	AUTO(PQclear) PGresult *res = NULL;

	if (!p->conn)
		return;
	res = PQexec(p->conn, "rollback");
	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		pg_disconnect(p);
}

int pg_socket(const struct pg *p)
{
	return p->conn ? PQsocket(p->conn) : -1;
}

bool pg_notified(struct pg *p)
{
	bool any = false;
	PGnotify *n;

	if (!p->conn)
		return false;
	if (!PQconsumeInput(p->conn)) {
		(void)gone(p, PQerrorMessage(p->conn));
		return false;
	}
	while ((n = PQnotifies(p->conn))) {
		any = true;
		PQfreemem(n);
	}
	return any;
}

const char *pg_why(const struct pg *p)
{
	return p->why;
}

const char *pg_state(const struct pg *p)
{
	return p->state;
}
