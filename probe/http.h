// SPDX-License-Identifier: Apache-2.0
/*
 * http.h - the request line of HTTP/1 (RFC 9112, 3), from the first bytes a server read.
 *
 * The bytes may be cut anywhere and come from anybody: nothing is assumed, nothing is copied. path
 * points into the input and ends before the query string; a full URL ("GET http://a/b") gives its
 * path, "" becomes "/".
 */
#pragma once

#include "../lib/base.h"

struct http_line {
	char method[8];
	const char *path;
	size_t path_len;
	const char *query; /* after the '?'; NULL: none */
	size_t query_len;
	bool cut; /* the input ended inside path or query */
};

/* -EBADMSG: not a request line of HTTP/1; *out is then untouched. */
int http_line_parse(const char *s, size_t len, struct http_line *out) MUST_CHECK;
