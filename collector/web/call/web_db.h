// SPDX-License-Identifier: Apache-2.0
/*
 * web_db.h - one read-only connection to PostgreSQL, owned by one thread, opened on first use.
 *
 * No call blocks past its deadline or after the stop descriptor is readable, even if the server
 * hangs. Errors: -ENOTCONN the database is away, -ETIMEDOUT the query took too long, -EINVAL a
 * value was refused, -ECANCELED shutdown, -EIO anything else; `why` holds the text.
 */
#pragma once

#include <libpq-fe.h>

#include "lib/base/base.h"

enum { WEB_USUAL_MS = 5000 }; /* default time limit of a query in the server */

struct web_query {
	const char *name; /* prepared once per connection; NULL: planned on each call */
	const char *sql;
	int n;
	const Oid *types;
	unsigned within_ms; /* time limit; 0: WEB_USUAL_MS */
};

struct web_db {
	const char *conninfo;
	int stop_fd; /* readable: cancel at once */
	PGconn *conn;
	const struct web_query *ready[4]; /* prepared on this connection */
	unsigned nready;
	uint64_t away_until; /* no connect attempt before this (mono ns) */
	char why[160];
};

int web_db_query(struct web_db *db, const struct web_query *q, const char *const *values,
		 PGresult **out) MUST_CHECK;
void web_db_close(struct web_db *db);

DEFINE_AUTO(PGresult *, PQclear)
