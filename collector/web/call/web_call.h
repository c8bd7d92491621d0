// SPDX-License-Identifier: Apache-2.0
/*
 * web_call.h - one API request: parsed from the URL, answered on a query thread.
 *
 * web_call_read runs on the HTTP thread and uses no database. web_call_run runs on a query
 * thread and always sets status and body. The body is JSON unless the route is a file download;
 * web_call_fail writes an error.
 */
#pragma once

#include "lib/base/buf.h"
#include "collector/web/call/web_filter.h"
#include "collector/web/call/web_route.h"

struct web_arg {
	const char *name, *text;
	size_t len;
};

struct web_call {
	const struct web_route *route;
	const char *bound[WEB_BOUND]; /* pointers into values or filters, or NULL */
	char values[WEB_PARAMS][WEB_VALUE];
	struct web_filter filters[WEB_PARAMS];
	unsigned keep_days;
	unsigned status;
	bool cut; /* a file that lacks further rows */
	struct buf body;
};

enum { WEB_ARGS = 96, WEB_SENTENCE = 512 /* limit for an error message, in bytes */ };

/* 0, or -EINVAL with the error response already written */
int web_call_read(struct web_call *c, const char *rest, const struct web_arg *args, unsigned nargs);
void web_call_run(struct web_call *c, struct web_db *db);
void web_call_free(struct web_call *c);
void web_call_fail(struct web_call *c, unsigned status, const char *code, const char *fmt, ...)
	PRINTF(4, 5);

void web_put(struct buf *b, const char *fmt, ...) PRINTF(2, 3); /* up to 1 KiB */
