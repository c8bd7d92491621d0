// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "probe/request/record/request_event.h"
#include "tests/lib/test.h"

static const struct request_context clock_at = { .wall_minus_mono_ns = 1000000,
						 .jiffy_ns = 4000000 };
static struct request_text text;

static struct req_event event(const char *line)
{
	struct req_event e = { .head = { .kind = REQ_KIND_REQUEST,
					 .read_ns = 5000000,
					 .last_ns = 7500000,
					 .tgid = 12,
					 .tid = 13,
					 .comm = "nginx",
					 .status = 200 } };

	e.head.line_len = (uint16_t)strlen(line);
	memcpy(e.line, line, strlen(line));
	return e;
}

static size_t length(const struct req_event *e)
{
	return e->head.ncalls ? sizeof(*e) : sizeof(e->head) + e->head.line_len;
}

static struct request_item read_all(const struct req_event *e)
{
	struct request_item r;

	CHECK_EQ(request_event_read(e, length(e), &clock_at, &text, &r), 0);
	return r;
}

TEST(a_record_becomes_an_item_in_wall_time_and_microseconds)
{
	struct req_event e = event("GET /a/17?secret=1 HTTP/1.1\r\n");
	struct request_item r = read_all(&e);

	CHECK_EQ(r.start_ns, 6000000);
	CHECK_EQ(r.request_us, 2500);
	CHECK_STR(r.method, "GET");
	CHECK_STR(r.path, "/a/17");
	CHECK_STR(r.route, "GET /a/:id");
	CHECK_STR(r.comm, "nginx");
}

TEST(a_reported_request_has_the_ids_of_its_headers)
{
	struct req_event e = event("GET / HTTP/1.1\r\nX-Request-Id: 17\r\n");
	struct request_item r = read_all(&e);

	CHECK(!r.trace && !r.sent_id);
	request_names_read(&e, &text, &r);
	CHECK(!r.trace);
	CHECK_STR(r.sent_id, "17");
}

TEST(a_query_string_leaves_the_node_only_when_asked_for)
{
	struct req_event e = event("GET /a?secret=1 HTTP/1.1\r\n");
	struct request_context with = clock_at;
	struct request_item r = read_all(&e);

	CHECK(!strstr(r.path, "secret"));
	with.query_string = true;
	CHECK_EQ(request_event_read(&e, length(&e), &with, &text, &r), 0);
	CHECK_STR(r.path, "/a?secret=1");
	CHECK_STR(r.route, "GET /a");
}

TEST(the_query_of_a_url_without_a_path_leaves_the_node_only_when_asked_for)
{
	struct req_event e = event("GET http://host?token=a/b HTTP/1.1\r\n");
	struct request_context with = clock_at;
	struct request_item r = read_all(&e);

	CHECK_STR(r.path, "/");
	with.query_string = true;
	CHECK_EQ(request_event_read(&e, length(&e), &with, &text, &r), 0);
	CHECK_STR(r.path, "/?token=a/b");
}

TEST(one_jiffy_of_waiting_is_within_the_error)
{
	struct req_event e = event("GET / HTTP/1.1\r\n");

	e.head.queue_jiffies = 1;
	CHECK_EQ(read_all(&e).queue_us, 0);
	e.head.queue_jiffies = 63;
	CHECK_EQ(read_all(&e).queue_us, 252000);
	e.head.queue_jiffies = (uint32_t)-3; /* the packet arrived while the queue was read */
	CHECK_EQ(read_all(&e).queue_us, 0);
}

TEST(a_record_shorter_than_it_claims_is_refused)
{
	struct req_event e = event("GET / HTTP/1.1\r\n");
	struct request_item r;

	CHECK_EQ(request_event_read(&e, length(&e) - 1, &clock_at, &text, &r), -EBADMSG);
	e.head.line_len = REQ_LINE + 1;
	CHECK_EQ(request_event_read(&e, sizeof(e), &clock_at, &text, &r), -EBADMSG);
	e = event("GET / HTTP/1.1\r\n");
	e.head.ncalls = 1;
	CHECK_EQ(request_event_read(&e, sizeof(e) - 1, &clock_at, &text, &r), -EBADMSG);
}

TEST(calls_that_were_not_http_are_left_out)
{
	struct req_event e = event("GET / HTTP/1.1\r\n");
	struct request_item r;

	e.head.ncalls = 3;
	e.call[0] = (struct req_call){ .start_ns = 5100000, .last_ns = 5200000 };
	e.call[1] = (struct req_call){ .start_ns = 5300000,
				       .connect_ns = 5400000,
				       .last_ns = 6300000,
				       .flags = CALL_SENT,
				       .status = 200 };
	e.call[2] = (struct req_call){ .start_ns = 6400000, .flags = CALL_FAILED | CALL_NO_ANSWER };
	r = read_all(&e);
	CHECK_EQ(r.nups, 2);
	CHECK_EQ(r.ups[0].start_us, 300);
	CHECK_EQ(r.ups[0].connect_us, 100);
	CHECK_EQ(r.ups[0].response_us, 1000);
	CHECK(r.ups[1].flags & UP_NO_CONNECT);
	CHECK_EQ(r.ups[1].response_us, 1100); /* still open when the request ended */
}

TEST(a_peer_by_another_protocol_is_only_in_records_with_calls)
{
	struct req_event e = event("GET /a HTTP/1.1\r\n");
	const struct request_context x = { 0 };
	char addr[ADDR_TEXT], path[UNIX_TEXT];
	struct up_item peer;

	CHECK(!request_peer_read(&e, sizeof(e), &x, path, &peer));
	e.peer = (struct req_peer){ .addr = { .ip = { 10, 0, 0, 3 }, .port = 5432, .len = 4 },
				    .wait_ns = 1500000 };
	CHECK(!request_peer_read(&e, length(&e), &x, path, &peer));
	CHECK(request_peer_read(&e, sizeof(e), &x, path, &peer));
	CHECK_STR(up_addr_text(&peer, addr), "10.0.0.3:5432");
	CHECK_EQ(peer.response_us, 1500);
}

static const char *name_of(void *arg, const struct req_addr *a, char path[static UNIX_TEXT])
{
	snprintf(path, UNIX_TEXT, "unix:%s%u", (const char *)arg, a->ip[0]);
	return path;
}

TEST(each_upstream_on_an_af_unix_socket_has_its_own_path)
{
	struct request_context x = clock_at;
	struct req_event e = event("GET /a HTTP/1.1");
	char name[] = "/run/", none[ADDR_TEXT];
	struct request_item r;

	x.unix_name = name_of;
	x.arg = name;
	e.head.ncalls = 2;
	for (uint8_t i = 0; i < 2; i++) {
		e.call[i].flags = CALL_SENT;
		e.call[i].addr = (struct req_addr){ .ip = { i }, .len = REQ_ADDR_UNIX };
	}
	CHECK_EQ(request_event_read(&e, sizeof(e), &x, &text, &r), 0);
	CHECK_STR(up_addr_text(&r.ups[0], none), "unix:/run/0");
	CHECK_STR(up_addr_text(&r.ups[1], none), "unix:/run/1");
}

TEST(a_client_that_closes_first_is_a_499)
{
	struct req_event e = event("GET / HTTP/1.1\r\n");

	e.head.flags = REQ_CLIENT_CLOSED;
	e.head.status = 0;
	CHECK_EQ(read_all(&e).status, 499);
}

TEST(a_path_longer_than_the_record_is_marked_as_cut)
{
	char line[REQ_LINE + 1];
	struct req_event e;
	struct request_item r;

	memset(line, 'a', sizeof(line));
	memcpy(line, "GET /", 5);
	line[REQ_LINE] = 0;
	e = event(line);
	r = read_all(&e);
	CHECK_EQ(strlen(r.path), ITEM_MAX_PATH);
	CHECK(r.flags & REQUEST_PATH_CUT);
}

TEST(an_event_stream_and_a_large_body_are_judged_by_their_first_byte_and_shown_to_their_last)
{
	struct req_event e = event("GET /events HTTP/1.1\r\n");
	struct request_item r;

	e.head.first_ns = 5300000;
	e.head.bytes_out = 1000000;
	CHECK(!(read_all(&e).flags & REQUEST_BY_FIRST));
	e.head.bytes_out = 1000001;
	CHECK(read_all(&e).flags & REQUEST_BY_FIRST);
	e.head.bytes_out = 0;
	e.head.flags = REQ_STREAM;
	r = read_all(&e);
	CHECK(r.flags & REQUEST_BY_FIRST);
	CHECK_EQ(r.first_us, 300);
	CHECK_EQ(r.request_us, 2500);
	e.head.first_ns = 0;
	CHECK(!(read_all(&e).flags & REQUEST_BY_FIRST));
}
