// SPDX-License-Identifier: Apache-2.0
/*
 * http.h - the request line of HTTP/1 (RFC 9112, 3), and by which ids a request goes, from the
 * first bytes a server read.
 *
 * The bytes may be cut anywhere and come from anybody: nothing is assumed, nothing is copied. path
 * points into the input and ends before the query string; a full URL ("GET http://a/b") gives its
 * path, "" becomes "/".
 */
#pragma once

#include "lib/base/base.h"

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

enum { HTTP_TRACE = 32, HTTP_PARENT = 16, HTTP_ID = 64 };

struct http_names { /* "": it has none, or none that is whole and sound */
	char trace[HTTP_TRACE + 1 + HTTP_PARENT + 1]; /* of a traceparent: "TRACE-PARENT", in hex */
	char id[HTTP_ID + 1]; /* X-Request-Id: letters, digits and ._~:/+=@- */
};

/* By the headers (W3C Trace Context, 3.2), as far as they are among these bytes. */
void http_names_read(const char *s, size_t len, struct http_names *out);
