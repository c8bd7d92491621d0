// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "probe/request/record/http.h"
#include "probe/request/record/route.h"
#include "tests/lib/test.h"

static struct http_line parsed(const char *s)
{
	struct http_line l = { .path_len = 999 };

	CHECK_EQ(http_line_parse(s, strlen(s), &l), 0);
	return l;
}

static bool is_path(const struct http_line *l, const char *path)
{
	return l->path_len == strlen(path) && memcmp(l->path, path, l->path_len) == 0;
}

static int refused(const char *s)
{
	struct http_line l;

	return http_line_parse(s, strlen(s), &l) == -EBADMSG;
}

TEST(a_request_line_gives_method_and_path_without_the_query)
{
	struct http_line l = parsed("GET /a/b?user=me&k=1 HTTP/1.1\r\nHost: x\r\n");

	CHECK_STR(l.method, "GET");
	CHECK(is_path(&l, "/a/b"));
	CHECK(l.query_len == 11 && !l.cut);
}

TEST(a_line_cut_anywhere_after_the_target_began_is_still_a_request)
{
	const char *whole = "DELETE /things/17 HTTP/1.1\r\n";

	for (size_t n = strlen("DELETE /"); n <= strlen(whole); n++) {
		struct http_line l;

		CHECK_EQ(http_line_parse(whole, n, &l), 0);
		CHECK_EQ(l.cut, n <= strlen("DELETE /things/17"));
	}
}

TEST(a_full_url_gives_its_path)
{
	struct http_line l = parsed("GET http://example.org/x HTTP/1.1\r\n");

	CHECK(is_path(&l, "/x"));
	l = parsed("GET http://example.org HTTP/1.1\r\n");
	CHECK(is_path(&l, "/"));
	l = parsed("OPTIONS * HTTP/1.1\r\n");
	CHECK(is_path(&l, "*"));
}

TEST(a_slash_in_the_query_of_a_full_url_does_not_start_a_path)
{
	struct http_line l = parsed("GET http://example.org?token=a/b HTTP/1.1\r\n");

	CHECK(is_path(&l, "/"));
	CHECK(l.query_len == 9 && memcmp(l.query, "token=a/b", 9) == 0);
}

TEST(any_token_of_up_to_31_bytes_is_a_method)
{
	static const char *const lines[] = { "PROPFIND /x HTTP/1.1\r\n", "M-SEARCH * HTTP/1.1\r\n",
					     "get /x HTTP/1.1\r\n", "A /x HTTP/1.1\r\n",
					     "ABCDEFGHIJKLMNOPQRSTUVWXYZ01234 /x HTTP/1.1\r\n" };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct http_line l = parsed(lines[i]);

		CHECK_EQ(strlen(l.method), strcspn(lines[i], " "));
		CHECK(strncmp(l.method, lines[i], strlen(l.method)) == 0);
	}
}

TEST(lines_that_only_start_like_a_request_are_refused)
{
	CHECK(refused(""));
	CHECK(refused("GET"));
	CHECK(refused("GET "));
	CHECK(refused("GET  HTTP/1.1\r\n"));
	CHECK(refused("GET /x HTTP/2.0\r\n"));
	CHECK(refused("GET /x FTP/1.1\r\n"));
	CHECK(refused("GET /x HTTP/1.7\r\n"));
	CHECK(refused("GET some key\r\n"));
	CHECK(refused("GET /x\r\n"));
	CHECK(refused("G(T /x HTTP/1.1\r\n"));
	CHECK(refused("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345 /x HTTP/1.1\r\n"));
}

static bool routes_to(const char *method, const char *path, const char *route)
{
	char out[ROUTE_TEXT];

	route_template(method, path, strlen(path), out);
	if (strcmp(out, route) != 0)
		printf("    %s is \"%s\", not \"%s\"\n", path, out, route);
	return strcmp(out, route) == 0;
}

TEST(a_route_keeps_names_and_drops_identifiers)
{
	CHECK(routes_to("GET", "/", "GET /"));
	CHECK(routes_to("GET", "/users/42/orders", "GET /users/:id/orders"));
	CHECK(routes_to("GET", "/api/v1/users", "GET /api/v1/users"));
	CHECK(routes_to("PUT", "/o/123e4567-e89b-12d3-a456-426614174000", "PUT /o/:id"));
	CHECK(routes_to("GET", "/blob/deadbeef01", "GET /blob/:id"));
	CHECK(routes_to("GET", "/static/app.js", "GET /static/app.js"));
	CHECK(routes_to("GET", "/feed/face", "GET /feed/face"));
	CHECK(routes_to("GET", "/r/0-0000123", "GET /r/:id"));
	CHECK(routes_to("GET", "/a/", "GET /a/"));
	CHECK(routes_to("GET", "/1/2/3/4/5/6/7/8", "GET /:id/:id/:id/:id/:id/:id/*"));
}

TEST(a_route_is_printable_and_bounded_for_any_path)
{
	char path[4096], out[ROUTE_TEXT];

	memset(path, 0x1b, sizeof(path));
	path[0] = '/';
	route_template("GET", path, sizeof(path), out);
	CHECK_EQ(strlen(out), ROUTE_TEXT - 1);
	for (const char *p = out; *p; p++)
		CHECK(*p >= 0x20 && *p < 0x7f);
}

static struct http_names named(const char *s)
{
	struct http_names n;

	http_names_read(s, strlen(s), &n);
	return n;
}

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

TEST(ids_are_read_from_the_headers)
{
	struct http_names n = named("GET / HTTP/1.1\r\nHost: x\r\nTraceParent:  00-" TRACE
				    "-" PARENT "-01\r\nx-request-ID:\ta/b=1 \r\n\r\n");

	CHECK_STR(n.trace, TRACE "-" PARENT);
	CHECK_STR(n.id, "a/b=1");
	n = named("GET / HTTP/1.1\nX-Request-Id: 7\nX-Request-Id: 8\n");
	CHECK_STR(n.id, "7");
	CHECK_STR(n.trace, "");
}

TEST(a_truncated_id_is_ignored)
{
	const char *whole = "GET / HTTP/1.1\r\ntraceparent: 00-" TRACE "-" PARENT
			    "-01\r\nX-Request-Id: 0123456789\r\n";

	for (size_t len = 0; len <= strlen(whole); len++) {
		struct http_names n;

		http_names_read(whole, len, &n);
		CHECK(!*n.trace || strcmp(n.trace, TRACE "-" PARENT) == 0);
		CHECK_EQ(*n.id != 0, len == strlen(whole));
	}
}

TEST(an_invalid_id_is_ignored)
{
	static const char *const bad[] = {
		"traceparent: ff-" TRACE "-" PARENT "-01",
		"traceparent: 00-00000000000000000000000000000000-" PARENT "-01",
		"traceparent: 00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01",
		"traceparent: 00-" TRACE "-" PARENT,
		"traceparent: 00" TRACE "--" PARENT "-01",
		"traceparent2: 00-" TRACE "-" PARENT "-01",
		"X-Request-Id: <script>",
		"X-Request-Id: a b",
		"X-Request-Id:",
		"X-Request-Id: 01234567890123456789012345678901234567890123456789012345678901234",
		" X-Request-Id: 1",
		"\r\nX-Request-Id: 1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char text[256];
		struct http_names n;

		snprintf(text, sizeof(text), "POST / HTTP/1.1\r\n%s\r\n", bad[i]);
		n = named(text);
		CHECK(!*n.trace && !*n.id);
	}
}
