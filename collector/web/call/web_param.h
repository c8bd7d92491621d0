// SPDX-License-Identifier: Apache-2.0
/*
 * web_param.h - typed parameters of a URL. Validated values are bound to the query, never pasted
 * into it.
 *
 * web_param_read writes the value in the form that its SQL type parses. On -EINVAL `why` holds a
 * message that names the parameter and the allowed values.
 */
#pragma once

#include <libpq-fe.h>

#include "lib/base/base.h"

enum web_type {
	WEB_TIME, /* RFC 3339; bound as timestamptz */
	WEB_TEXT, /* up to 200 bytes of UTF-8 */
	WEB_STATUS, /* 404 or 5xx; bound as int4range */
	WEB_COUNT, /* 1..1000 */
	WEB_SECONDS, /* 1..86400 */
	WEB_ID, /* <microseconds, hex>-<number, 16 hex digits> */
	WEB_BINS, /* 1..200 */
	WEB_SKIP, /* 0..99999 */
	WEB_ORDER, /* of groups: last, harm, count or slowest */
	WEB_SERIES, /* of RED: one per series, or one per app */
	WEB_TEXTS, /* from here on repeatable: see web_filter.h */
	WEB_STATUSES, /* bound as int4multirange */
	WEB_ADDRS, /* bound as patterns for LIKE */
	WEB_NAMES, /* comma-separated lists as well; no unwanted side */
};

enum { WEB_VALUE = 208, WEB_PARAMS = 14, WEB_BOUND = 26, WEB_WHY = 240 };

struct web_bounds {
	int least, most;
};

struct web_param {
	const char *name;
	enum web_type type;
	const char *fallback; /* default; NULL: bound as SQL null */
	bool needed;
};

int web_param_read(const struct web_param *p, const char *text, size_t len, char value[WEB_VALUE],
		   char why[WEB_WHY]) MUST_CHECK;
bool web_param_is_many(enum web_type type); /* repeatable: bound twice, wanted and unwanted */
Oid web_param_oid(enum web_type type);
const char *web_param_allowed(enum web_type type); /* in words */
/* False for what is no whole number. */
bool web_param_bounds(enum web_type type, struct web_bounds *out);
void web_time_text(int64_t wall_s, char value[WEB_VALUE]);
/* The whole seconds of an RFC 3339 time. */
int web_time_parse(const char *text, int64_t *wall_s) MUST_CHECK;
