// SPDX-License-Identifier: Apache-2.0
/*
 * web_db.h - one read-only connection to PostgreSQL, owned by one thread, made when first needed.
 *
 * No call blocks past its deadline or past the stop descriptor, even if the server is frozen.
 * Errors: -ENOTCONN the database is away, -ETIMEDOUT the query took too long, -EINVAL a value was
 * refused, -ECANCELED we stop, -EIO anything else; why says it in words.
 */
#pragma once

#include <libpq-fe.h>

#include "lib/base/base.h"

enum { WEB_USUAL_MS = 5000 }; /* what a query may take in the server */

struct web_query {
	const char
		*name; /* prepared once per connection; NULL: planned for its values, each time */
	const char *sql;
	int n;
	const Oid *types;
	unsigned within_ms; /* it may take so long; 0: WEB_USUAL_MS */
};

struct web_db {
	const char *conninfo;
	int stop_fd; /* readable: give up at once */
	PGconn *conn;
	const struct web_query *ready[4]; /* prepared on this connection */
	unsigned nready;
	uint64_t away_until; /* do not try to connect before (mono ns) */
	char why[160];
};

int web_db_query(struct web_db *db, const struct web_query *q, const char *const *values,
		 PGresult **out) MUST_CHECK;
void web_db_close(struct web_db *db);

DEFINE_AUTO(PGresult *, PQclear)
