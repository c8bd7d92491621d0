// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "probe/request/nginx/nginx_record.h"
#include "tests/lib/test.h"

#define NEVER (~0ull)
#define A "10.0.0.1:80"
#define B "10.0.0.2:81"
#define GATE "[fd00::1]:9000"

static struct nginx_text text;
static uint32_t unseen;

static struct nginx_event nginx_event(void)
{
	struct nginx_event w = { .head = { .kind = REQ_KIND_NGINX,
					   .tgid = 7,
					   .tid = 7,
					   .comm = "nginx",
					   .now_ns = 9000000000ull,
					   .sent = 300,
					   .line_len = 14 },
				 .status = 200,
				 .start_sec = 1000,
				 .start_msec = 990,
				 .end_sec = 1001,
				 .end_msec = 3,
				 .line = "GET /a HTTP/1." };

	return w;
}

static void add(struct nginx_event *w, const char *peer, uint64_t status, uint64_t ms)
{
	struct nginx_try *t = &w->tries[w->head.ntries++];

	*t = (struct nginx_try){ status, ms, 0, ms, strlen(peer), "" };
	memcpy(t->peer, peer, strlen(peer));
	w->nstates++;
}

static struct request_item item(void)
{
	return (struct request_item){ .request_us = 13000, .first_us = 12500, .status = 200 };
}

static void call(struct request_item *r, const char *peer, uint64_t start_us, uint64_t us)
{
	struct nginx_try t = { .peer_len = strlen(peer) };
	char path[UNIX_TEXT];
	struct up_item u;

	memcpy(t.peer, peer, strlen(peer));
	CHECK(nginx_peer(&t, path, &u));
	u.start_us = start_us;
	u.response_us = us;
	u.status = 200;
	u.local_port = 40000;
	u.srtt_us = 77;
	r->ups[r->nups++] = u;
}

static const char *peers(const struct request_item *r)
{
	static char all[512];
	char one[ADDR_TEXT];

	all[0] = 0;
	for (uint32_t i = 0; i < r->nups; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? " " : "",
			 up_addr_text(&r->ups[i], one));
	return all;
}

TEST(a_call_seen_by_both_has_the_finer_time)
{
	struct nginx_event w = nginx_event();
	struct request_item r = item();

	add(&w, A, 200, 12);
	call(&r, A, 100, 12345);
	unseen = nginx_apply(&w, 0, &text, &r);
	CHECK_EQ(r.nups, 1);
	CHECK_EQ(r.ups[0].response_us, 12345);
	CHECK_EQ(r.ups[0].start_us, 100);
	CHECK_EQ(r.ups[0].srtt_us, 77);
	CHECK_EQ(unseen, 0);
}

TEST(a_time_outside_the_logs_millisecond_is_replaced)
{
	struct nginx_event w = nginx_event();
	struct request_item r = item();

	add(&w, A, 200, 12);
	call(&r, A, 100, 13000);
	nginx_apply(&w, 0, &text, &r);
	CHECK_EQ(r.ups[0].response_us, 12000);
}

TEST(tries_that_the_sockets_could_not_assign_are_added)
{
	struct nginx_event w = nginx_event();
	struct request_item r = item();

	r.flags = REQUEST_UPSTREAM_UNKNOWN | REQUEST_PATH_CUT;
	add(&w, A, 502, 4);
	add(&w, B, 200, 5);
	unseen = nginx_apply(&w, 0, &text, &r);
	CHECK_STR(peers(&r), A " " B);
	CHECK_EQ(r.ups[1].start_us, 7500); /* its header went to the client after 12.5 ms */
	CHECK_EQ(r.ups[0].start_us, 3500);
	CHECK_EQ(r.ups[0].status, 502);
	CHECK_EQ(r.flags, REQUEST_PATH_CUT);
	CHECK_EQ(unseen, 3);
}

TEST(calls_of_a_subrequest_stay)
{
	struct nginx_event w = nginx_event();
	struct request_item r = item();

	add(&w, A, 200, 5);
	call(&r, GATE, 50, 2000);
	call(&r, A, 2100, 5100);
	unseen = nginx_apply(&w, 0, &text, &r);
	CHECK_STR(peers(&r), GATE " " A);
	CHECK_EQ(unseen, 0);
	r = item();
	call(&r, GATE, 50, 2000);
	unseen = nginx_apply(&w, 0, &text, &r);
	CHECK_STR(peers(&r), GATE " " A);
	CHECK_EQ(unseen, 2);
}

/* Pipelined requests were read together: the sockets assign the second one's call to the first.
 */
TEST(a_call_that_began_after_nginx_freed_the_request_is_dropped)
{
	struct nginx_event w = nginx_event();
	struct request_item r = item();

	add(&w, A, 200, 5);
	call(&r, A, 100, 5100);
	call(&r, B, 13050, 2000);
	w.head.now_ns = 2000000000ull + 13010000;
	unseen = nginx_apply(&w, 2000000000ull, &text, &r);
	CHECK_STR(peers(&r), A);
	CHECK_EQ(unseen, 0);
}

TEST(a_subrequest_to_the_same_server_is_not_mistaken_for_the_try)
{
	struct nginx_event w = nginx_event();
	struct request_item r = item();

	add(&w, A, 200, 9);
	call(&r, A, 50, 2000);
	call(&r, A, 2100, 9100);
	nginx_apply(&w, 0, &text, &r);
	CHECK_EQ(r.nups, 2);
	CHECK_EQ(r.ups[0].response_us, 2000);
	CHECK_EQ(r.ups[1].response_us, 9100);
}

TEST(a_try_that_never_connected_is_marked)
{
	struct nginx_event w = nginx_event();
	struct request_item r = item();

	add(&w, A, 502, 0);
	w.tries[0].connect_ms = w.tries[0].header_ms = NEVER;
	add(&w, B, 504, 60);
	w.tries[1].header_ms = NEVER;
	nginx_apply(&w, 0, &text, &r);
	CHECK_EQ(r.ups[0].flags, UP_NO_CONNECT);
	CHECK_EQ(r.ups[1].flags, UP_NO_ANSWER);
}

TEST(a_separator_between_groups_is_no_try)
{
	struct nginx_event w = nginx_event();
	struct request_item r = item();

	add(&w, A, 404, 3);
	add(&w, "", 0, 0);
	add(&w, B, 200, 5);
	nginx_apply(&w, 0, &text, &r);
	CHECK_STR(peers(&r), A " " B);
}

TEST(a_name_or_a_path_stays_a_text)
{
	struct nginx_event w = nginx_event();
	struct request_item r = item();

	add(&w, "unix:/run/app.sock", 200, 3);
	add(&w, "backend", 502, 0);
	add(&w, "1.2.3.4:99999", 200, 1);
	nginx_apply(&w, 0, &text, &r);
	CHECK_STR(r.ups[0].path, "unix:/run/app.sock");
	CHECK_STR(r.ups[1].path, "backend");
	CHECK_STR(r.ups[2].path, "1.2.3.4:99999");
}

TEST(tries_beyond_the_limit_set_the_cut_flag)
{
	struct nginx_event w = nginx_event();
	struct request_item r = item();

	for (int i = 0; i < NGINX_TRIES; i++)
		add(&w, A, 502, 1);
	w.nstates = 9;
	call(&r, GATE, 0, 10);
	nginx_apply(&w, 0, &text, &r);
	CHECK_EQ(r.nups, ITEM_MAX_UPS);
	CHECK(r.flags & REQUEST_UPS_CUT);
}

TEST(the_status_is_that_of_the_log)
{
	struct nginx_event w = nginx_event();

	CHECK_EQ(nginx_status(&w), 200);
	w.head.rc = 499;
	CHECK_EQ(nginx_status(&w), 200); /* part of it had been sent */
	w.head.sent = 0;
	CHECK_EQ(nginx_status(&w), 499);
	w.head.rc = 0;
	w.status = 0;
	CHECK_EQ(nginx_status(&w), 0);
	w.status = 77777;
	CHECK_EQ(nginx_status(&w), 0);
}

TEST(a_request_that_only_nginx_reports_has_the_logs_times)
{
	const struct request_context at = { .wall_minus_mono_ns = 995000000000ll };
	struct nginx_event w = nginx_event();
	struct request_text t;
	struct request_item r;
	struct req_event e;
	size_t len = nginx_make_request(&w, at.wall_minus_mono_ns, &e);

	CHECK_EQ(request_event_read(&e, len, &at, &t, &r), 0);
	CHECK_EQ(r.request_us, 13000);
	CHECK_EQ(r.start_ns, 1000990000000ll);
	CHECK_STR(r.path, "/a");
	CHECK_EQ(r.status, 200);
	CHECK_EQ(r.nshares, 0);
}

TEST(an_http_2_stream_is_a_request_like_others)
{
	const struct request_context at = { 0 };
	struct nginx_event w = nginx_event();
	struct request_text t;
	struct request_item r;
	struct req_event e;

	w.head.line_len = (uint16_t)snprintf(w.line, sizeof(w.line), "GET /two HTTP/2.0");
	CHECK_EQ(request_event_read(&e, nginx_make_request(&w, 0, &e), &at, &t, &r), 0);
	CHECK_STR(r.path, "/two");
	w.head.line_len = (uint16_t)snprintf(w.line, sizeof(w.line), "HTTP/2.0");
	CHECK_EQ(request_event_read(&e, nginx_make_request(&w, 0, &e), &at, &t, &r), -EBADMSG);
}

TEST(lines_are_compared_up_to_the_shorter_one)
{
	struct nginx_event w = nginx_event();
	struct req_event e = { .head.line_len = 20, .line = "GET /a HTTP/1.1\r\nHos" };

	CHECK(nginx_same_line(&w, &e));
	e.head.line_len = 6;
	CHECK(nginx_same_line(&w, &e));
	e.line[5] = 'b';
	CHECK(!nginx_same_line(&w, &e));
	e.head.line_len = 0;
	CHECK(!nginx_same_line(&w, &e));
}

TEST(a_truncated_record_is_refused)
{
	struct nginx_event w = nginx_event();
	size_t whole = offsetof(struct nginx_event, line[14]);

	CHECK(nginx_event_complete(&w, whole));
	CHECK(!nginx_event_complete(&w, whole - 1));
	add(&w, A, 200, 1);
	whole = offsetof(struct nginx_event, tries[1]);
	CHECK(nginx_event_complete(&w, whole));
	CHECK(!nginx_event_complete(&w, whole - 1));
	w.head.ntries = NGINX_TRIES + 1;
	CHECK(!nginx_event_complete(&w, sizeof(w)));
}
