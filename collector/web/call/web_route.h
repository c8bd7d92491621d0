// SPDX-License-Identifier: Apache-2.0
/*
 * web_route.h - the table of what the API answers: a path, the parameters, and the query that makes
 * the JSON.
 *
 * The columns of a query's one row are the members of the answer, by name; of a route that is one,
 * the first is the whole answer. Parameters are bound as $1, $2, ... in the order of the table.
 */
#pragma once

#include "lib/base/buf.h"
#include "collector/web/call/web_db.h"
#include "collector/web/call/web_param.h"

enum web_form { WEB_JSON, WEB_CSV, WEB_NDJSON, WEB_FOLDED };

struct web_route {
	const char *path;
	enum web_form form;
	const char *one; /* what the path ends in the id of, which is $1: no row is 404 */
	const char *tail; /* what follows that id; NULL: nothing */
	const struct web_param *params;
	unsigned nparams;
	const char *sql;
	const char *extra; /* more members, null when they cannot be had in time */
	const char *stepped; /* instead of sql, when there is a step: the last parameter */
	int steps; /* how many from..to may hold, where there is a step */
	int whole_s; /* a range without from begins with a multiple of it */
	/* Makes the whole answer of the query's rows, where these are none yet. */
	void (*put)(struct buf *body, const PGresult *res,
		    const PGresult *extra); /* NULL: not in time */
};
