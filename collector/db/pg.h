// SPDX-License-Identifier: Apache-2.0
/*
 * pg.h - one blocking connection to PostgreSQL, for a thread that may wait.
 *
 * Errors: -ENOTCONN: the connection is gone, and the outcome of an unanswered statement is unknown;
 * -EINVAL: the data was refused (SQLSTATE classes 21, 22, 23, 54); -EIO: any other refusal. pg_why
 * returns the message and pg_state the SQLSTATE, both until the next call. Calls on a closed
 * connection return -ENOTCONN.
 */
#pragma once

#include <libpq-fe.h>

#include "lib/base/buf.h"

struct pg;

enum { PG_MAX_ARGS = 12 };

struct pg_args {
	int n;
	const char *value[PG_MAX_ARGS];
	int len[PG_MAX_ARGS], binary[PG_MAX_ARGS];
};

struct pg *pg_new(const char *conninfo);
void pg_free(struct pg *p); /* NULL is fine */

int pg_connect(struct pg *p) MUST_CHECK;
void pg_disconnect(struct pg *p);

void pg_arg_text(struct pg_args *a, const char *s);
void pg_arg_binary(struct pg_args *a, const struct buf *b);

int pg_do(struct pg *p, const char *sql) MUST_CHECK; /* may hold several statements */
int pg_ask(struct pg *p, const char *sql, const struct pg_args *a, PGresult **out) MUST_CHECK;
int pg_execute(struct pg *p, const char *sql, const struct pg_args *a) MUST_CHECK;
/* Calls on_row for each row of the answer, with binary fields, until it returns < 0. */
typedef int pg_row(void *arg, const PGresult *row);
int pg_each(struct pg *p, const char *sql, pg_row *on_row, void *arg) MUST_CHECK;
/* After pg_do("copy ... from stdin"): any number of pieces. pg_copy_end returns their errors. */
int pg_copy_put(struct pg *p, const struct buf *rows) MUST_CHECK;
int pg_copy_end(struct pg *p) MUST_CHECK;
int pg_commit(struct pg *p) MUST_CHECK;
void pg_rollback(struct pg *p);

int pg_socket(const struct pg *p); /* readable: pg_notified may be true; -1: not connected */
bool pg_notified(struct pg *p); /* a NOTIFY came since the last call; false if not connected */

const char *pg_why(const struct pg *p);
const char *pg_state(const struct pg *p);

DEFINE_AUTO(struct pg *, pg_free)
DEFINE_AUTO(PGresult *, PQclear)
