// SPDX-License-Identifier: Apache-2.0
/*
 * web_route.h - the route table of the API: path, parameters, and the query that makes the JSON.
 *
 * The query returns one row whose columns become the members of the answer, by name. For a route
 * with an id, the first column is the whole answer. Parameters are bound as $1, $2, ... in table
 * order.
 */
#pragma once

#include "lib/base/buf.h"
#include "collector/web/call/web_db.h"
#include "collector/web/call/web_param.h"

enum web_form { WEB_JSON, WEB_CSV, WEB_NDJSON, WEB_FOLDED };

struct web_route {
	const char *path;
	enum web_form form;
	const char *one; /* kind of thing whose id ($1) ends the path; no row is 404 */
	const char *tail; /* path after that id; NULL: none */
	const struct web_param *params;
	unsigned nparams;
	const char *members; /* of a JSON answer, with blanks between; | separates forms */
	const char *sql;
	const char *extra; /* query for more members, null if not ready in time */
	const char *stepped; /* used instead of sql with a step, the last parameter */
	int steps; /* most steps that from..to may hold, on a route with a step */
	int whole_s; /* a default `from` is rounded down to a multiple of it */
	/* Writes the whole answer from the rows; extra is NULL if not ready in time. */
	void (*put)(struct buf *body, const PGresult *res, const PGresult *extra);
};
