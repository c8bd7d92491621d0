// SPDX-License-Identifier: Apache-2.0
/*
 * http.h - parses the request line of HTTP/1 (RFC 9112, 3) and the ids of a request from the first
 * bytes that a server read. Any token of up to HTTP_METHOD bytes is a method.
 *
 * The input is not trusted and may be cut anywhere; nothing is copied. path points into the input
 * and ends before the query string; a full URL ("GET http://a/b") gives its path, "" becomes "/".
 */
#pragma once

#include "lib/base/base.h"

enum { HTTP_METHOD = 31 };

struct http_line {
	char method[HTTP_METHOD + 1];
	const char *path;
	size_t path_len;
	const char *query; /* after the '?'; NULL: none */
	size_t query_len;
	bool cut; /* the input ended inside path or query */
};

/* -EBADMSG: not a request line of HTTP/1; *out is then untouched. */
int http_line_parse(const char *s, size_t len, struct http_line *out) MUST_CHECK;

enum { HTTP_TRACE = 32, HTTP_PARENT = 16, HTTP_ID = 64 };

struct http_names { /* "": none, or not complete and valid */
	char trace[HTTP_TRACE + 1 + HTTP_PARENT + 1]; /* of a traceparent: "TRACE-PARENT", in hex */
	char id[HTTP_ID + 1]; /* X-Request-Id: letters, digits and ._~:/+=@- */
};

/* Reads the ids from the headers (W3C Trace Context, 3.2) within these bytes. */
void http_names_read(const char *s, size_t len, struct http_names *out);
