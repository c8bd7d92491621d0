// SPDX-License-Identifier: Apache-2.0
#include "http.h"

static const char *const methods[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS" };

static const char *find(const char *s, const char *end, char c)
{
	const char *p = memchr(s, c, (size_t)(end - s));

	return p ? p : end;
}

static const char *method_of(const char *s, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		size_t n = strlen(methods[i]);

		if (len > n && memcmp(s, methods[i], n) == 0 && s[n] == ' ')
			return methods[i];
	}
	return NULL;
}

/* What follows the target, as far as it is there, is " HTTP/1.0" or " HTTP/1.1" and a line end. */
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

/* "http://host/path": the path; where there is none, the query or the end of the target. */
static const char *skip_authority(const char *s, const char *end)
{
	const char *host = NULL;

	if (end - s >= 7 && memcmp(s, "http://", 7) == 0)
		host = s + 7;
	else if (end - s >= 8 && memcmp(s, "https://", 8) == 0)
		host = s + 8;
	return host ? find(host, find(host, end, '?'), '/') : s;
}

int http_line_parse(const char *s, size_t len, struct http_line *out)
{
	const char *end = s + len, *method = method_of(s, len), *target, *stop, *path, *query;

	if (!method)
		return -EBADMSG;
	target = s + strlen(method) + 1;
	stop = find(target, end, ' ');
	if (stop == target || find(target, stop, '\r') != stop ||
	    find(target, stop, '\n') != stop || !version_fits(stop, end))
		return -EBADMSG;
	path = skip_authority(target, stop);
	if (path == target && *path != '/' && *path != '*')
		return -EBADMSG;
	query = find(path, stop, '?');
	*out = (struct http_line){ .path = path, .path_len = (size_t)(query - path) };
	memcpy(out->method, method, strlen(method) + 1);
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
