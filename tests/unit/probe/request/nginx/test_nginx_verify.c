// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "probe/request/nginx/nginx_verify.h"
#include "tests/lib/test.h"

#define MS 1000000ull
#define PEER "10.0.0.9:80"

static const struct request_context at = { 0 };
static struct nginx_verify *verify;
static uint64_t clock_ms = 5000;

static void begin(void)
{
	nginx_verify_free(verify);
	verify = nginx_verify_new();
}

static struct req_addr addr(uint8_t last, uint16_t port)
{
	return (struct req_addr){ .ip = { 10, 0, 0, last }, .port = port, .len = 4 };
}

static struct nginx_event nginx_event(uint64_t status)
{
	struct nginx_event w = { .head = { .tgid = 7,
					   .remote = addr(1, 1),
					   .now_ns = clock_ms * MS,
					   .sent = 1,
					   .line_len = 15 },
				 .status = status,
				 .start_sec = clock_ms / 1000,
				 .start_msec = clock_ms % 1000,
				 .line = "GET /a HTTP/1.1" };

	return w;
}

static struct nginx_event tried(const char *peer)
{
	struct nginx_event w = nginx_event(200);

	w.head.ntries = 1;
	w.tries[0] = (struct nginx_try){ .status = 200, .peer_len = strlen(peer) };
	memcpy(w.tries[0].peer, peer, strlen(peer));
	return w;
}

static struct req_event record(void)
{
	struct req_event e = { .head = { .tgid = 7,
					 .remote = addr(1, 1),
					 .read_ns = clock_ms * MS - MS,
					 .status = 200,
					 .line_len = 17 },
			       .line = "GET /a HTTP/1.1\r\n" };

	return e;
}

static struct req_event calling(uint8_t last)
{
	struct req_event e = record();

	e.head.ncalls = 1;
	e.call[0] = (struct req_call){ .addr = addr(last, 80), .status = 200, .flags = CALL_SENT };
	return e;
}

static void play(const struct nginx_event *w, const struct req_event *e)
{
	nginx_verify_event(verify, w);
	nginx_verify_request(verify, e, &at);
	clock_ms += 3000;
}

TEST(three_matching_requests_are_enough)
{
	begin();
	for (int i = 0; i < 3; i++) {
		struct nginx_event w = nginx_event(200);
		struct req_event e = record();

		CHECK_EQ(nginx_verify_requests(verify), NGINX_OPEN);
		play(&w, &e);
	}
	CHECK_EQ(nginx_verify_requests(verify), NGINX_RIGHT);
	CHECK_EQ(nginx_verify_tries(verify), NGINX_OPEN);
}

TEST(a_wrong_status_line_or_time_is_detected)
{
	for (int kind = 0; kind < 3; kind++) {
		begin();
		for (int i = 0; i < 5; i++) {
			struct nginx_event w = nginx_event(kind == 0 ? 301 : 200);
			struct req_event e = record();

			if (kind == 1)
				w.line[5] = 'b';
			if (kind == 2)
				w.start_sec -= 100;
			play(&w, &e);
		}
		CHECK_EQ(nginx_verify_requests(verify), NGINX_WRONG);
	}
}

TEST(one_odd_request_only_requires_more_matches)
{
	struct nginx_event w = nginx_event(404);
	struct req_event e = record();

	begin();
	play(&w, &e);
	for (int i = 0; i < 6; i++) {
		w = nginx_event(200);
		e = record();
		play(&w, &e);
	}
	CHECK_EQ(nginx_verify_requests(verify), NGINX_OPEN);
	w = nginx_event(200);
	e = record();
	play(&w, &e);
	CHECK_EQ(nginx_verify_requests(verify), NGINX_RIGHT);
}

TEST(uncertain_socket_records_prove_nothing)
{
	static const uint32_t odd[] = { REQ_PIPELINED, REQ_CLIENT_CLOSED, REQ_NO_ANSWER,
					REQ_HEAD_MISSED };

	for (size_t i = 0; i < ARRAY_SIZE(odd) * 8; i++) {
		struct nginx_event w = nginx_event(500);
		struct req_event e = record();

		if (i == 0)
			begin();
		e.head.flags = odd[i % ARRAY_SIZE(odd)];
		play(&w, &e);
	}
	CHECK_EQ(nginx_verify_requests(verify), NGINX_OPEN);
}

TEST(tries_are_verified_when_the_sockets_saw_the_same_calls)
{
	begin();
	for (int i = 0; i < 3; i++) {
		struct nginx_event w = tried(PEER);
		struct req_event e = calling(9);

		play(&w, &e);
	}
	CHECK_EQ(nginx_verify_tries(verify), NGINX_RIGHT);
}

TEST(tries_are_refuted_when_the_sockets_saw_other_calls)
{
	begin();
	for (int i = 0; i < 5; i++) {
		struct nginx_event w = tried(PEER);
		struct req_event e = calling(8);

		play(&w, &e);
	}
	CHECK_EQ(nginx_verify_tries(verify), NGINX_WRONG);
}

TEST(calls_without_a_request_verify_tries_too)
{
	begin();
	for (int i = 0; i < 3; i++) {
		struct nginx_event w = tried(PEER);
		struct req_call_event c = {
			.tgid = 7,
			.call = { .addr = addr(9, 80), .status = 200, .last_ns = clock_ms * MS }
		};

		nginx_verify_event(verify, &w);
		nginx_verify_call(verify, &c, &at);
		nginx_verify_call(verify, &c, &at); /* one call, one finding */
		clock_ms += 3000;
	}
	CHECK_EQ(nginx_verify_tries(verify), NGINX_RIGHT);
	nginx_verify_free(verify);
	verify = NULL;
}

/* Its memory may hold anything; under UBSan an overflow ends the test. */
TEST(times_that_are_none_are_wrong_and_do_not_overflow)
{
	static const uint64_t odd[] = { UINT64_MAX, INT64_MAX, 1ull << 62, 10000000000, 0 };

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		struct nginx_event w = nginx_event(200);
		struct req_event e = record();

		begin();
		w.start_sec = w.end_sec = odd[i];
		w.start_msec = w.end_msec = i & 1 ? odd[i] : 1;
		for (int k = 0; k < 5; k++)
			play(&w, &e);
		CHECK_EQ(nginx_verify_requests(verify), NGINX_WRONG);
		nginx_make_request(&w, 1, &e);
		nginx_make_request(&w, -4000000000000000000, &e);
		nginx_make_request(&w, 4000000000000000000, &e);
	}
}
