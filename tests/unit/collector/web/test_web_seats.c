// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/web/web_gate.h"

#define S 1000000000ull

enum { FD = 1 << 20 }; /* no descriptors of this process */

static const struct web_client a = { { 1 } }, b = { { 2 } };

static const struct web_limits few = {
	.seats = 8,
	.held_back = 2,
	.client_seats = 6,
	.queries = 3,
	.client_queries = 2,
	.streams = 3,
	.client_streams = 2,
	.heads = 4,
	.client_heads = 3,
};

static struct web_seat *sit(struct web_seats *s, int fd, const struct web_client *c, uint64_t now)
{
	return web_seats_enter(s, FD + fd, c, false, now) ? NULL : web_seats_open(s, FD + fd, now);
}

/* A client with n seats that all send an answer, from descriptor fd on. */
static void fill(struct web_seats *s, int fd, int n, const struct web_client *c)
{
	for (int i = 0; i < n; i++)
		web_seats_use(s, sit(s, fd + i, c, S), WEB_USE_SENDING, S);
}

TEST(a_client_cannot_take_all_seats)
{
	struct web_seats *s = web_seats_new(few);

	fill(s, 0, 6, &a);
	CHECK_EQ(web_seats_enter(s, FD + 6, &a, false, S), WEB_CLIENT_SEATS);
	CHECK(sit(s, 7, &b, S));
	CHECK(sit(s, 8, &b, S));
	CHECK_EQ(web_seats_refused(s, WEB_CLIENT_SEATS), 1);
	CHECK_EQ(web_seats_taken(s), 8);
	web_seats_free(s);
}

TEST(a_connection_that_waits_makes_room_for_one_with_a_request)
{
	struct web_seats *s = web_seats_new(few);
	struct web_seat *idle;

	fill(s, 0, 5, &a);
	idle = sit(s, 5, &a, S);
	fill(s, 10, 2, &b);
	CHECK(sit(s, 20, &b, 2 * S));
	CHECK_EQ(web_seats_refused(s, WEB_IDLE), 1);
	web_seats_leave(s, idle);
	web_seats_free(s);
}

TEST(a_page_gets_a_seat_that_is_held_back_and_a_query_does_not)
{
	struct web_seats *s = web_seats_new(few);

	fill(s, 0, 6, &a);
	fill(s, 10, 2, &b);
	CHECK_EQ(web_seats_enter(s, FD + 20, &b, false, 2 * S), WEB_ALL_SEATS);
	for (int i = 0; i < 2; i++) {
		struct web_seat *seat;

		CHECK_EQ(web_seats_enter(s, FD + 30 + i, &b, true, 2 * S), WEB_ADMITTED);
		seat = web_seats_open(s, FD + 30 + i, 2 * S);
		CHECK(web_seats_is_held_back(s, seat));
		web_seats_use(s, seat, WEB_USE_SENDING, 2 * S);
	}
	CHECK_EQ(web_seats_enter(s, FD + 40, &b, true, 2 * S), WEB_ALL_SEATS);
	CHECK_EQ(web_seats_enter(s, FD + 40, &b, true, 5 * S), WEB_ADMITTED); /* the oldest goes */
	CHECK_EQ(web_seats_refused(s, WEB_SLOW_READER), 1);
	web_seats_free(s);
}

TEST(queries_and_streams_have_limits_of_their_own)
{
	static const struct {
		enum web_use use;
		enum web_refusal client, all;
	} cases[] = { { WEB_USE_QUERY, WEB_CLIENT_QUERIES, WEB_ALL_QUERIES },
		      { WEB_USE_STREAM, WEB_CLIENT_STREAMS, WEB_ALL_STREAMS } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct web_seats *s = web_seats_new(few);
		struct web_seat *first = sit(s, 0, &a, S);

		CHECK_EQ(web_seats_use(s, first, cases[i].use, S), WEB_ADMITTED);
		CHECK_EQ(web_seats_use(s, sit(s, 1, &a, S), cases[i].use, S), WEB_ADMITTED);
		CHECK_EQ(web_seats_use(s, sit(s, 2, &a, S), cases[i].use, S), cases[i].client);
		CHECK_EQ(web_seats_use(s, sit(s, 3, &b, S), cases[i].use, S), WEB_ADMITTED);
		CHECK_EQ(web_seats_use(s, sit(s, 4, &b, S), cases[i].use, S), cases[i].all);
		web_seats_leave(s, first);
		CHECK_EQ(web_seats_use(s, sit(s, 5, &a, S), cases[i].use, S), WEB_ADMITTED);
		web_seats_free(s);
	}
}

TEST(only_waiting_connections_and_slow_readers_are_ended_by_time)
{
	struct web_seats *s = web_seats_new(few);
	struct web_seat *query = sit(s, 0, &a, S), *stream = sit(s, 1, &a, S);

	web_seats_use(s, query, WEB_USE_QUERY, S);
	web_seats_use(s, stream, WEB_USE_STREAM, S);
	web_seats_use(s, sit(s, 2, &a, S), WEB_USE_SENDING, S);
	web_seats_sweep(s, 100 * S);
	CHECK_EQ(web_seats_refused(s, WEB_SLOW_READER), 0);
	web_seats_sweep(s, 1000 * S);
	CHECK_EQ(web_seats_refused(s, WEB_SLOW_READER), 1);
	CHECK_EQ(web_seats_taken(s), 3); /* until the server closes it */
	web_seats_leave(s, query);
	web_seats_leave(s, stream);
	web_seats_free(s);
}

TEST(a_connection_that_the_server_did_not_take_leaves_no_seat)
{
	struct web_seats *s = web_seats_new(few);

	CHECK_EQ(web_seats_enter(s, FD, &a, false, S), WEB_ADMITTED);
	web_seats_withdraw(s, FD);
	CHECK(!web_seats_open(s, FD, S));
	CHECK_EQ(web_seats_enter(s, FD, &a, false, S), WEB_ADMITTED);
	web_seats_sweep(s, 100 * S);
	CHECK_EQ(web_seats_taken(s), 0);
	web_seats_free(s);
}

TEST(limits_fit_into_the_descriptors)
{
	for (uint64_t n = 512; n <= 1 << 20; n *= 2) {
		struct web_limits l = web_limits_for(n);

		CHECK(l.seats + l.held_back + l.heads <= n / 2);
		CHECK(l.client_seats < l.seats && l.streams < l.seats);
		CHECK(l.client_streams < l.streams && l.client_heads < l.heads);
	}
	CHECK_EQ(web_limits_for(20000).seats, 1000);
	CHECK(web_limits_for(64).seats >= 16);
}

TEST(the_gate_knows_a_whole_head_and_a_page)
{
	static const struct {
		const char *text;
		enum web_head head;
	} cases[] = {
		{ "", WEB_HEAD_PART },
		{ "GET / HTTP/1.1\r\nHost: a\r\n", WEB_HEAD_PART },
		{ "GET / HTTP/1.1\r\nHost: a\r\n\r\n", WEB_HEAD_PAGE },
		{ "HEAD /healthz HTTP/1.1\r\n\r\n", WEB_HEAD_PAGE },
		{ "GET /?from=1 HTTP/1.1\r\n\r\n", WEB_HEAD_PAGE },
		{ "GET /fleet HTTP/1.1\n\n", WEB_HEAD_PAGE },
		{ "POST / HTTP/1.1\r\n\r\n", WEB_HEAD_WHOLE },
		{ "GET /api/v1/requests HTTP/1.1\r\n\r\n", WEB_HEAD_WHOLE },
		{ "GET /api/v1/stream HTTP/1.1\r\n\r\n", WEB_HEAD_WHOLE },
		{ "\r\n\r\n", WEB_HEAD_WHOLE },
		{ "GET ", WEB_HEAD_PART },
		{ "GET \r\n\r\n", WEB_HEAD_WHOLE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK_EQ(web_head_look(cases[i].text, strlen(cases[i].text)), cases[i].head);
}

TEST(each_refusal_has_a_name_a_status_and_a_sentence)
{
	for (int why = WEB_ADMITTED + 1; why < WEB_REFUSALS; why++) {
		CHECK(strlen(web_refusal_name(why)) > 2);
		CHECK(web_refusal_status(why) >= 400);
		CHECK(strlen(web_refusal_text(why)) > 20 &&
		      !strpbrk(web_refusal_text(why), "\"\\"));
	}
}
