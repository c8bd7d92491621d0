// SPDX-License-Identifier: Apache-2.0
/*
 * Whatever a server read: refused, or a method and a path inside the input, and a route of it. Of
 * what was cut off on its way the path is the beginning, and it says so. Ids are whole, or none.
 */
#include "probe/request/record/http.h"
#include "probe/request/record/route.h"
#include "tests/fuzz/check.h"

static void check_route(const struct http_line *l)
{
	char route[ROUTE_TEXT];

	route_template(l->method, l->path, l->path_len, route);
	must(strlen(route) < ROUTE_TEXT && strncmp(route, l->method, strlen(l->method)) == 0);
}

static void check_cut(const char *s, size_t len, const struct http_line *whole)
{
	struct http_line l;

	if (http_line_parse(s, len, &l) < 0)
		return;
	must(strcmp(l.method, whole->method) == 0 && l.path_len <= whole->path_len);
	must(memcmp(l.path, whole->path, l.path_len) == 0);
	must(l.cut || (l.path_len == whole->path_len && !l.query == !whole->query));
	must(!l.query || (whole->query && l.query_len <= whole->query_len));
}

/* Of what was cut off they are the same, or none. */
static void check_names(const char *s, size_t len, size_t cut)
{
	struct http_names whole, part;

	http_names_read(s, len, &whole);
	must(strlen(whole.trace) == 0 || strlen(whole.trace) == sizeof(whole.trace) - 1);
	http_names_read(s, cut, &part);
	must(!*part.trace || strcmp(part.trace, whole.trace) == 0);
	must(!*part.id || strcmp(part.id, whole.id) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *s = (const char *)data;
	struct http_line l;

	if (len)
		check_names(s, len, data[len - 1] % len);
	if (http_line_parse(s, len, &l) < 0)
		return 0;
	must(l.path_len > 0 && strncmp(s, l.method, strlen(l.method)) == 0);
	if (*l.path != '/' || l.path_len > 1) {
		must(l.path > s && l.path + l.path_len <= s + len);
		must(!memchr(s, '?', (size_t)(l.path - s))); /* it is not of the query */
	}
	for (size_t i = 0; i < l.path_len; i++)
		must(!l.path[i] || !strchr(" \r\n?", l.path[i]));
	must(!l.query || (l.query > s && l.query + l.query_len <= s + len));
	check_route(&l);
	check_cut(s, (data[len - 1] + len) % len, &l); /* anywhere, and always the same */
	return 0;
}
