// SPDX-License-Identifier: Apache-2.0
#include "probe/request/record/http.h"

/* The marks that a token may have beside letters and digits (RFC 9110, 5.6.2). */
static const char token_marks[] = "!#$%&'*+-.^_`|~";

static const char *find_char(const char *s, const char *end, char c)
{
	const char *p = memchr(s, c, (size_t)(end - s));

	return p ? p : end;
}

static bool is_token_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr(token_marks, c));
}

/* Length of the method at the beginning; 0: none. */
static size_t method_len(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && n <= HTTP_METHOD && is_token_char(s[n]))
		n++;
	return n < len && n <= HTTP_METHOD && s[n] == ' ' ? n : 0;
}

/* The text after the target, which may be cut, is " HTTP/1.0" or " HTTP/1.1" and a line end. */
static bool version_fits(const char *s, const char *end)
{
	static const char version[] = " HTTP/1.";
	size_t n = (size_t)(end - s), have = n < 8 ? n : 8;

	if (memcmp(s, version, have) != 0)
		return false;
	if (n > 8 && s[8] != '0' && s[8] != '1')
		return false;
	return n <= 9 || s[9] == '\r' || s[9] == '\n';
}

/* Returns the path of "http://host/path"; without a path, the query or the end of the target. */
static const char *skip_authority(const char *s, const char *end)
{
	const char *host = NULL;

	if (end - s >= 7 && memcmp(s, "http://", 7) == 0)
		host = s + 7;
	else if (end - s >= 8 && memcmp(s, "https://", 8) == 0)
		host = s + 8;
	return host ? find_char(host, find_char(host, end, '?'), '/') : s;
}

int http_line_parse(const char *s, size_t len, struct http_line *out)
{
	const char *end = s + len, *target, *stop, *path, *query;
	size_t method = method_len(s, len);

	if (!method)
		return -EBADMSG;
	target = s + method + 1;
	stop = find_char(target, end, ' ');
	if (stop == target || find_char(target, stop, '\r') != stop ||
	    find_char(target, stop, '\n') != stop || !version_fits(stop, end))
		return -EBADMSG;
	path = skip_authority(target, stop);
	if (path == target && *path != '/' && *path != '*')
		return -EBADMSG;
	query = find_char(path, stop, '?');
	*out = (struct http_line){ .path = path, .path_len = (size_t)(query - path) };
	memcpy(out->method, s, method);
	if (query < stop) {
		out->query = query + 1;
		out->query_len = (size_t)(stop - query - 1);
	}
	if (out->path_len == 0) {
		out->path = "/";
		out->path_len = 1;
	}
	out->cut = stop == end;
	return 0;
}

/* The value after "NAME:" without surrounding blanks; NULL: another header. */
static const char *value_of(const char *line, const char *end, const char *name, size_t *len)
{
	size_t n = strlen(name);

	if ((size_t)(end - line) <= n || line[n] != ':' || strncasecmp(line, name, n) != 0)
		return NULL;
	line += n + 1;
	while (line < end && (*line == ' ' || *line == '\t'))
		line++;
	while (end > line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	*len = (size_t)(end - line);
	return line;
}

static bool is_made_of(const char *s, size_t len, const char *set)
{
	for (size_t i = 0; i < len; i++)
		if (!s[i] || !strchr(set, s[i]))
			return false;
	return true;
}

/* "00-TRACE-PARENT-01"; later versions append fields. */
static void trace_read(const char *s, size_t len, struct http_names *out)
{
	static const char hex[] = "0123456789abcdef";
	enum {
		TRACE_AT = 3,
		PARENT_AT = TRACE_AT + HTTP_TRACE + 1,
		LEAST = PARENT_AT + HTTP_PARENT + 3
	};

	if (len < LEAST || !is_made_of(s, 2, hex) || memcmp(s, "ff", 2) == 0 ||
	    s[TRACE_AT - 1] != '-' || !is_made_of(s + TRACE_AT, HTTP_TRACE, hex) ||
	    is_made_of(s + TRACE_AT, HTTP_TRACE, "0") || s[PARENT_AT - 1] != '-' ||
	    !is_made_of(s + PARENT_AT, HTTP_PARENT, hex) || s[PARENT_AT + HTTP_PARENT] != '-')
		return;
	memcpy(out->trace, s + TRACE_AT, sizeof(out->trace) - 1);
}

static void id_read(const char *s, size_t len, struct http_names *out)
{
	static const char set[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "._~:/+=@-";

	if (len <= HTTP_ID && is_made_of(s, len, set))
		memcpy(out->id, s, len);
}

/* The first of repeated headers counts. */
static void header_read(const char *line, const char *end, struct http_names *out)
{
	const char *v;
	size_t len;

	if (!*out->trace && (v = value_of(line, end, "traceparent", &len)))
		trace_read(v, len, out);
	else if (!*out->id && (v = value_of(line, end, "x-request-id", &len)))
		id_read(v, len, out);
}

void http_names_read(const char *s, size_t len, struct http_names *out)
{
	const char *end = s + len, *line = find_char(s, end, '\n'), *stop;

	*out = (struct http_names){ 0 };
	for (; line < end; line = stop) {
		line++;
		stop = find_char(line, end, '\n');
		if (stop == end || stop - line <= 1) /* cut, or the end of the headers */
			return;
		header_read(line, stop, out);
	}
}
