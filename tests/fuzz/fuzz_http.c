// SPDX-License-Identifier: Apache-2.0
/* Whatever a server read: refused, or a method and a path inside the input, and a route of it. */
#include "../../probe/http.h"
#include "../../probe/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *s = (const char *)data;
	char route[ROUTE_TEXT];
	struct http_line l;

	if (http_line_parse(s, len, &l) < 0)
		return 0;
	if (l.path_len == 0 || strlen(l.method) == 0)
		__builtin_trap();
	if (l.path[0] != '/' || l.path_len > 1)
		if (l.path < s || l.path + l.path_len > s + len)
			__builtin_trap();
	if (l.query && l.query + l.query_len > s + len)
		__builtin_trap();
	route_template(l.method, l.path, l.path_len, route);
	if (strlen(route) >= ROUTE_TEXT || strncmp(route, l.method, strlen(l.method)) != 0)
		__builtin_trap();
	return 0;
}
