// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "probe/request/nginx/nginx_join.h"
#include "tests/lib/test.h"

#define MS 1000000ull
#define NOW (100000 * MS)

static char outcome[512]; /* of the records: "both:1 alone:2 plain:3" */
static struct nginx_join *join;

static void on_done(void *arg UNUSED, const struct req_event *e, size_t len UNUSED,
		    const struct nginx_event *w)
{
	size_t used = strlen(outcome);

	snprintf(outcome + used, sizeof(outcome) - used, "%s%s:%lld", used ? " " : "",
		 !e  ? "alone"
		 : w ? "both"
		     : "plain",
		 (long long)(e ? e->head.id : w->status));
	if (e && w)
		CHECK_EQ(e->head.id, w->status);
}

static void begin(void)
{
	nginx_join_free(join);
	join = nginx_join_new(on_done, NULL);
	outcome[0] = 0;
}

static struct req_addr client(uint16_t port)
{
	return (struct req_addr){ .ip = { 10, 0, 0, 1 }, .port = port, .len = 4 };
}

/* Request n of a client that ends at the given ms. */
static void word_at(uint16_t port, int n, uint64_t end_ms)
{
	struct nginx_event w = {
		.head = { .tgid = 7, .remote = client(port), .now_ns = end_ms * MS },
		.status = (uint64_t)n
	};

	w.head.line_len = (uint16_t)snprintf(w.line, sizeof(w.line), "GET /%d HTTP/1.1", n);
	nginx_join_event(join, &w, 0, NOW);
}

typedef void take_record(struct nginx_join *j, const struct req_event *e, size_t len,
			 uint64_t now_ns);

static void give_record(take_record *take, uint16_t port, int n, uint64_t read_ms, uint32_t flags)
{
	struct req_event e = { .head = { .tgid = 7,
					 .id = (uint64_t)n,
					 .remote = client(port),
					 .read_ns = read_ms * MS,
					 .flags = flags } };

	e.head.line_len =
		(uint16_t)snprintf(e.line, sizeof(e.line), "GET /%d HTTP/1.1\r\nHost: a", n);
	take(join, &e, offsetof(struct req_event, line[e.head.line_len]), NOW);
}

static void record_at(uint16_t port, int n, uint64_t read_ms, uint32_t flags)
{
	give_record(nginx_join_request, port, n, read_ms, flags);
}

TEST(a_socket_record_joins_an_earlier_nginx_record)
{
	begin();
	word_at(1, 1, 20);
	CHECK_STR(outcome, "");
	record_at(1, 1, 10, 0);
	CHECK_STR(outcome, "both:1");
	nginx_join_tick(join, NOW + 100 * NGINX_ALONE_NS);
	CHECK_STR(outcome, "both:1");
}

TEST(a_socket_record_waits_for_its_nginx_record)
{
	begin();
	record_at(1, 1, 10, 0);
	nginx_join_tick(join, NOW + NGINX_WAIT_NS - 1);
	CHECK_STR(outcome, "");
	word_at(1, 1, 20);
	CHECK_STR(outcome, "both:1");
}

TEST(a_socket_record_does_not_wait_for_ever)
{
	begin();
	record_at(1, 1, 10, 0);
	nginx_join_tick(join, NOW + NGINX_WAIT_NS);
	CHECK_STR(outcome, "plain:1");
}

TEST(connections_do_not_mix)
{
	begin();
	word_at(1, 1, 20);
	word_at(2, 2, 21);
	record_at(2, 2, 10, 0);
	record_at(1, 1, 11, 0);
	CHECK_STR(outcome, "both:2 both:1");
}

TEST(successive_requests_of_a_connection_do_not_mix)
{
	begin();
	word_at(1, 1, 20);
	record_at(1, 1, 10, 0);
	word_at(1, 1, 40);
	record_at(1, 1, 30, 0);
	CHECK_STR(outcome, "both:1 both:1");
}

TEST(nginx_records_of_a_pipeline_replace_its_socket_record)
{
	begin();
	word_at(1, 1, 20);
	word_at(1, 2, 21);
	word_at(1, 3, 22);
	record_at(1, 1, 10, REQ_PIPELINED);
	CHECK_STR(outcome, "alone:1 alone:2 alone:3");
	nginx_join_tick(join, NOW + 100 * NGINX_ALONE_NS);
	CHECK_STR(outcome, "alone:1 alone:2 alone:3");
}

TEST(two_nginx_records_for_one_socket_record_are_a_pipeline)
{
	begin();
	word_at(1, 1, 20);
	word_at(1, 2, 21);
	record_at(1, 1, 10, 0);
	CHECK_STR(outcome, "alone:1 alone:2");
}

TEST(a_pipelined_socket_record_that_came_first_is_replaced_too)
{
	begin();
	record_at(1, 1, 10, REQ_PIPELINED);
	word_at(1, 1, 20);
	word_at(1, 2, 21);
	nginx_join_tick(join, NOW + NGINX_ALONE_NS);
	CHECK_STR(outcome, "alone:1 alone:2");
}

TEST(a_pipelined_socket_record_without_nginx_records_is_reported_unchanged)
{
	begin();
	record_at(1, 1, 10, REQ_PIPELINED);
	nginx_join_tick(join, NOW + NGINX_WAIT_NS);
	CHECK_STR(outcome, "plain:1");
}

TEST(an_nginx_record_of_an_unread_connection_is_a_request_after_a_while)
{
	begin();
	word_at(1, 1, 20);
	nginx_join_tick(join, NOW + NGINX_ALONE_NS - 1);
	CHECK_STR(outcome, "");
	nginx_join_tick(join, NOW + NGINX_ALONE_NS);
	CHECK_STR(outcome, "alone:1");
}

TEST(a_late_socket_record_is_not_a_second_request)
{
	begin();
	word_at(1, 1, 20);
	nginx_join_tick(join, NOW + NGINX_ALONE_NS);
	record_at(1, 1, 10, 0);
	CHECK_STR(outcome, "alone:1");
}

TEST(a_late_nginx_record_is_not_a_second_request)
{
	begin();
	record_at(1, 1, 10, 0);
	nginx_join_tick(join, NOW + NGINX_WAIT_NS);
	CHECK_STR(outcome, "plain:1");
	word_at(1, 1, 5000);
	nginx_join_tick(join, NOW + 100 * NGINX_ALONE_NS);
	CHECK_STR(outcome, "plain:1");
	word_at(1, 1, 6000);
	nginx_join_tick(join, NOW + 100 * NGINX_ALONE_NS);
	CHECK_STR(outcome, "plain:1 alone:1");
}

TEST(a_request_that_others_reported_is_not_reported_from_nginx)
{
	begin();
	give_record(nginx_join_reported, 1, 1, 10, 0);
	word_at(1, 1, 20);
	word_at(1, 2, 30);
	nginx_join_tick(join, NOW + 100 * NGINX_ALONE_NS);
	CHECK_STR(outcome, "alone:2");
}

TEST(the_latest_reported_records_are_kept)
{
	begin();
	for (int i = 0; i < 5000; i++)
		give_record(nginx_join_reported, 1, i, 10, 0);
	word_at(1, 4999, 20);
	word_at(1, 0, 20);
	nginx_join_tick(join, NOW + NGINX_ALONE_NS);
	CHECK_STR(outcome, "alone:0");
}

TEST(a_connection_is_walked_whole_when_too_many_records_are_reported)
{
	begin();
	word_at(1, 1, 20);
	give_record(nginx_join_reported, 1, 2, 10, 0);
	for (int i = 0; i < 4095; i++)
		give_record(nginx_join_reported, (uint16_t)(2 + i), 1, 10, 0);
	record_at(1, 3, 30, 0);
	CHECK_STR(outcome, "alone:1");
}

TEST(another_line_is_another_request)
{
	begin();
	word_at(1, 2, 20);
	record_at(1, 1, 10, 0);
	CHECK_STR(outcome, "plain:1");
	nginx_join_tick(join, NOW + NGINX_ALONE_NS);
	CHECK_STR(outcome, "plain:1 alone:2");
}

TEST(an_nginx_record_from_before_the_read_does_not_match)
{
	begin();
	word_at(1, 1, 5);
	record_at(1, 2, 10, 0);
	CHECK_STR(outcome, "alone:1");
	word_at(1, 2, 20);
	CHECK_STR(outcome, "alone:1 both:2");
}

TEST(a_later_nginx_record_does_not_match_a_record_that_lost_its_own)
{
	struct nginx_event w = { .head = { .tgid = 7, .remote = client(1), .now_ns = 90 * MS },
				 .status = 1,
				 .start_msec = 80 };

	begin();
	record_at(1, 1, 10, 0);
	w.head.line_len = (uint16_t)snprintf(w.line, sizeof(w.line), "GET /1 HTTP/1.1");
	nginx_join_event(join, &w, 0, NOW);
	CHECK_STR(outcome, "");
	record_at(1, 1, 80, 0);
	CHECK_STR(outcome, "both:1");
	nginx_join_tick(join, NOW + NGINX_WAIT_NS);
	CHECK_STR(outcome, "both:1 plain:1");
}

TEST(memory_is_bounded_and_displaced_socket_records_are_reported)
{
	int plain = 0;

	begin();
	for (int i = 0; i < 20000; i++) {
		record_at((uint16_t)i, i, 10, 0);
		plain += outcome[0] != 0;
		outcome[0] = 0;
	}
	CHECK_EQ(plain, 20000 - 16384);
	nginx_join_free(join);
	join = NULL;
}
