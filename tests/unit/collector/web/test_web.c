// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/web/web_guard.h"
#include "collector/web/web_routes.h"
#include "collector/web/web_http.h"
#include "collector/web/call/web_call.h"

static const char *read_as(enum web_type type, const char *text, size_t len)
{
	static char value[WEB_VALUE];
	struct web_param p = { .name = "x", .type = type };
	char why[WEB_WHY];

	return web_param_read(&p, text, len, value, why) < 0 ? "refused" : value;
}

static const char *as(enum web_type type, const char *text)
{
	return read_as(type, text, strlen(text));
}

TEST(a_time_becomes_utc_with_six_digits)
{
	CHECK_STR(as(WEB_TIME, "2026-11-21T05:45:29Z"), "2026-11-21 05:45:29.000000Z");
	CHECK_STR(as(WEB_TIME, "2026-11-21T05:45:29.5Z"), "2026-11-21 05:45:29.500000Z");
	CHECK_STR(as(WEB_TIME, "2026-11-21t05:45:29.123456789z"), "2026-11-21 05:45:29.123456Z");
	CHECK_STR(as(WEB_TIME, "2026-11-21T05:45:29+08:00"), "2026-11-20 21:45:29.000000Z");
	CHECK_STR(as(WEB_TIME, "2026-11-21T05:45:29 08:00"), "2026-11-20 21:45:29.000000Z");
	CHECK_STR(as(WEB_TIME, "2026-12-31T23:00:00-02:30"), "2027-01-01 01:30:00.000000Z");
	CHECK_STR(as(WEB_TIME, "2028-02-29T00:00:00Z"), "2028-02-29 00:00:00.000000Z");
}

TEST(an_invalid_time_is_refused)
{
	static const char *const bad[] = { "",
					   "now",
					   "2026-11-21",
					   "2026-11-21T05:45:29",
					   "2026-11-21T05:45:29.Z",
					   "2026-11-21T05:45:29.1234567890Z",
					   "2026-11-21T05:45:29Zx",
					   "2026-11-21T24:00:00Z",
					   "2026-11-21T05:60:00Z",
					   "2026-13-01T00:00:00Z",
					   "2026-00-01T00:00:00Z",
					   "2026-02-29T00:00:00Z",
					   "1969-12-31T00:00:00Z",
					   "9999-12-31T00:00:00Z",
					   "2026-11-21T05:45:29+0800",
					   "2026-11-21T05:45:29+24:00",
					   "2026-11-21T05:45:-1Z",
					   "infinity" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_STR(as(WEB_TIME, bad[i]), "refused");
}

TEST(a_status_is_a_range)
{
	CHECK_STR(as(WEB_STATUS, "404"), "[404,404]");
	CHECK_STR(as(WEB_STATUS, "5xx"), "[500,599]");
	CHECK_STR(as(WEB_STATUS, "0"), "[0,0]");
	CHECK_STR(as(WEB_STATUS, "6xx"), "refused");
	CHECK_STR(as(WEB_STATUS, "50"), "refused");
	CHECK_STR(as(WEB_STATUS, "5x5"), "refused");
	CHECK_STR(as(WEB_STATUS, "4040"), "refused");
}

TEST(a_number_keeps_its_bounds)
{
	CHECK_STR(as(WEB_COUNT, "1"), "1");
	CHECK_STR(as(WEB_COUNT, "1000"), "1000");
	CHECK_STR(as(WEB_COUNT, "1001"), "refused");
	CHECK_STR(as(WEB_COUNT, "0"), "refused");
	CHECK_STR(as(WEB_COUNT, "-1"), "refused");
	CHECK_STR(as(WEB_COUNT, "99999999999999999999"), "refused");
	CHECK_STR(as(WEB_SECONDS, "86400"), "86400");
	CHECK_STR(as(WEB_SECONDS, "86401"), "refused");
}

TEST(a_word_is_one_of_a_list)
{
	CHECK_STR(as(WEB_ORDER, "harm"), "harm");
	CHECK_STR(as(WEB_ORDER, "app"), "refused");
	CHECK_STR(as(WEB_SERIES, "app"), "app");
	CHECK_STR(as(WEB_SERIES, "ap"), "refused");
}

TEST(a_text_is_utf8_without_zeros)
{
	CHECK_STR(as(WEB_TEXT, "it's \"\xe4\xb8\x8a\xf0\x9f\x99\x82"),
		  "it's \"\xe4\xb8\x8a\xf0\x9f\x99\x82");
	CHECK_STR(as(WEB_TEXT, ""), "refused");
	CHECK_STR(as(WEB_TEXT, "\xff"), "refused");
	CHECK_STR(as(WEB_TEXT, "\xc0\x80"), "refused");
	CHECK_STR(as(WEB_TEXT, "\xe0\x80\x80"), "refused");
	CHECK_STR(as(WEB_TEXT, "\xed\xa0\x80"), "refused"); /* half a surrogate pair */
	CHECK_STR(as(WEB_TEXT, "\xf4\x90\x80\x80"), "refused"); /* beyond the last rune */
	CHECK_STR(as(WEB_TEXT, "a\xe4\xb8"), "refused");
	CHECK_STR(read_as(WEB_TEXT, "a\0b", 3), "refused");
}

TEST(an_id_is_hex_of_bounded_length)
{
	CHECK_STR(as(WEB_ID, "660c2fec26271-00000000000f4241"), "660c2fec26271-00000000000f4241");
	CHECK_STR(as(WEB_ID, "1-00000000000f4241"), "1-00000000000f4241");
	CHECK_STR(as(WEB_ID, "660c2fec262710-00000000000f4241"), "refused");
	CHECK_STR(as(WEB_ID, "-00000000000f4241"), "refused");
	CHECK_STR(as(WEB_ID, "1-f4241"), "refused");
	CHECK_STR(as(WEB_ID, "1-00000000000F4241"), "refused");
	CHECK_STR(as(WEB_ID, "1-00000000000f4241x"), "refused");
}

TEST(only_loopback_names_with_our_port_are_served)
{
	const struct web_http h = { .own = { "127.0.0.2", 8080 } };
	const struct web_http plain = { .own = { "127.0.0.1", 80 } };

	CHECK(web_host_ok(&h, "127.0.0.1:8080"));
	CHECK(web_host_ok(&h, "127.0.0.2:8080"));
	CHECK(web_host_ok(&h, "LocalHost:8080"));
	CHECK(web_host_ok(&h, "[::1]:8080"));
	CHECK(web_host_ok(&plain, "localhost"));
	CHECK(web_host_ok(&plain, "[::1]"));
	CHECK(!web_host_ok(&h, NULL));
	CHECK(!web_host_ok(&h, ""));
	CHECK(!web_host_ok(&h, "localhost"));
	CHECK(!web_host_ok(&h, "localhost:80800"));
	CHECK(!web_host_ok(&h, "localhost:08080"));
	CHECK(!web_host_ok(&h, "localhost.evil.example:8080"));
	CHECK(!web_host_ok(&h, "evil.example:8080"));
	CHECK(!web_host_ok(&h, "localhost:8080:8080"));
	CHECK(!web_host_ok(&h, "[::1]x:8080"));
}

TEST(an_error_that_quotes_an_invalid_name_is_utf8)
{
	const struct web_arg arg = { .name = "a\xbd\"", .text = "1", .len = 1 };
	struct web_call c = { 0 };
	const char *rest;

	c.route = web_route_find("/api/v1/nodes", &rest);
	CHECK(web_call_read(&c, rest, &arg, 1) < 0);
	CHECK_EQ(c.status, 400);
	buf_put(&c.body, "", 1);
	CHECK(strstr((char *)c.body.data, "parameter a\\\\xbd\\\"; allowed"));
	web_call_free(&c);
}

TEST(a_path_after_an_id_is_not_part_of_the_id)
{
	static const char path[] = "/api/v1/requests/", id[] = "65a9f0c3b1d20-00000000000003e8";
	static const char *const not [] = { "/trace",
					    "x/trace",
					    "trace",
					    "65a9f0c3b1d20-00000000000003e8/trace/",
					    "65a9f0c3b1d20-00000000000003e8/Trace",
					    "65a9f0c3b1d20-00000000000003e8//trace",
					    "65a9f0c3b1d20-00000000000003e8/trace/trace",
					    "65a9f0c3b1d20-/trace" };
	char url[512];
	const char *rest;
	struct web_call far;

	for (size_t i = 0; i < ARRAY_SIZE(not ) + 2; i++) {
		struct web_call c = { 0 };
		bool good = i >= ARRAY_SIZE(not );

		snprintf(url, sizeof(url), "%s%s%s", path, good ? id : not [i],
			 i == ARRAY_SIZE(not ) ? "/trace" : "");
		c.route = web_route_find(url, &rest);
		CHECK_STR(c.route->one, "request");
		if (good)
			CHECK_EQ(c.route->tail != NULL, i == ARRAY_SIZE(not ));
		CHECK_EQ(web_call_read(&c, rest, NULL, 0), good ? 0 : -EINVAL);
		if (good)
			CHECK_STR(c.bound[0], id);
		web_call_free(&c);
	}
	snprintf(url, sizeof(url), "%s%0400d/trace", path, 0);
	far = (struct web_call){ .route = web_route_find(url, &rest) };
	CHECK(web_call_read(&far, rest, NULL, 0) < 0);
	web_call_free(&far);
}

static struct web_blob *blob(void)
{
	return web_blob_new("x", 1);
}

TEST(a_stream_resumes_after_its_last_mark_even_within_a_commit)
{
	struct web_hub *h = web_hub_new();
	struct web_mark at = { 50, 9 }, upto;
	uint64_t next = 99;

	CHECK_EQ(web_hub_find(h, &at, &next, &upto), -EAGAIN);
	CHECK_EQ(web_hub_find(h, NULL, &next, &upto), 0);
	CHECK_EQ(next, 0);
	web_hub_begin(h, at);
	for (uint64_t i = 0; i < 10; i++) /* commits of two rows: 100 100 101 101 ... */
		web_hub_publish(h, (struct web_mark){ 100 + i / 2, 7 + i % 2 }, blob());
	CHECK_EQ(web_hub_find(h, &at, &next, &upto), 0);
	CHECK_EQ(next, 0);
	CHECK_EQ(web_hub_find(h, &(struct web_mark){ 100, 7 }, &next, &upto), 0);
	CHECK_EQ(next, 1);
	CHECK_EQ(web_hub_find(h, &(struct web_mark){ 102, 8 }, &next, &upto), 0);
	CHECK_EQ(next, 6);
	CHECK_EQ(web_hub_find(h, &(struct web_mark){ 104, 8 }, &next, &upto), 0);
	CHECK_EQ(next, 10);
	CHECK_EQ(web_hub_find(h, &(struct web_mark){ 50, 8 }, &next, &upto), -ENODATA);
	CHECK_EQ(upto.stored_us, 104);
	CHECK_EQ(upto.number, 8);
	web_hub_free(h);
}

TEST(only_events_that_fell_out_of_the_ring_are_fetched)
{
	struct web_hub *h = web_hub_new();
	struct web_mark upto;
	uint64_t next;

	web_hub_begin(h, (struct web_mark){ 0, 0 });
	for (uint64_t i = 1; i <= 5000; i++)
		web_hub_publish(h, (struct web_mark){ i, 1 }, blob());
	CHECK_EQ(web_hub_find(h, &(struct web_mark){ 5000 - 2048, 1 }, &next, &upto), 0);
	CHECK_EQ(next, 5000 - 2048);
	CHECK_EQ(web_hub_find(h, &(struct web_mark){ 5000 - 2049, 1 }, &next, &upto), -ENODATA);
	CHECK_EQ(next, 5000);
	CHECK_EQ(upto.stored_us, 5000);
	CHECK_EQ(web_hub_stats(h).published, 5000);
	web_hub_free(h);
}

TEST(a_page_of_another_site_cannot_send_commands)
{
	struct web_http h = { .own = { "127.0.0.1", 8080 } };

	CHECK(web_origin_ok(&h, NULL, NULL, "127.0.0.1:8080"));
	CHECK(web_origin_ok(&h, "http://127.0.0.1:8080", "same-origin", "127.0.0.1:8080"));
	CHECK(web_origin_ok(&h, "http://localhost:8080", NULL, "127.0.0.1:8080"));
	CHECK(!web_origin_ok(&h, "http://127.0.0.1:8081", NULL, "127.0.0.1:8080"));
	CHECK(!web_origin_ok(&h, "http://evil.example", NULL, "127.0.0.1:8080"));
	CHECK(!web_origin_ok(&h, "null", NULL, "127.0.0.1:8080"));
	CHECK(!web_origin_ok(&h, NULL, "cross-site", "127.0.0.1:8080"));
	CHECK(!web_origin_ok(&h, "http://127.0.0.1:8080", "same-site", "127.0.0.1:8080"));
}

TEST(on_a_unix_socket_any_loopback_name_is_served_and_the_origin_must_be_the_same)
{
	const struct web_http h = { 0 };

	CHECK(web_host_ok(&h, "localhost"));
	CHECK(web_host_ok(&h, "localhost:9000"));
	CHECK(web_host_ok(&h, "[::1]:9000"));
	CHECK(!web_host_ok(&h, ""));
	CHECK(!web_host_ok(&h, ":80"));
	CHECK(!web_host_ok(&h, "evil.example"));
	CHECK(web_origin_ok(&h, NULL, NULL, "localhost"));
	CHECK(web_origin_ok(&h, "http://localhost:9000", "same-origin", "localhost:9000"));
	CHECK(!web_origin_ok(&h, "http://localhost:9001", NULL, "localhost:9000"));
	CHECK(!web_origin_ok(&h, "http://localhost:9000", NULL, NULL));
}

TEST(a_command_has_an_incident_and_a_known_verb)
{
	struct incident_command c = { 0 };

	CHECK(web_command_read("/api/v1/incidents/660ea6eac7a6e-62ee6f2c84aabca0/close", &c));
	CHECK_STR(c.verb, "close");
	CHECK_STR(c.id, "660ea6eac7a6e-62ee6f2c84aabca0");
	c = (struct incident_command){ 0 };
	CHECK(!web_command_read("/api/v1/incidents/660ea6eac7a6e-62ee6f2c84aabca0/open", &c));
	CHECK(!web_command_read("/api/v1/incidents/660ea6eac7a6e-62ee6f2c84aabca0", &c));
	CHECK(!web_command_read("/api/v1/incidents/x/close", &c));
	CHECK(!web_command_read("/api/v1/requests/660ea6eac7a6e-62ee6f2c84aabca0/close", &c));
}
