// SPDX-License-Identifier: Apache-2.0
#include "probe/request/judge/breakdown.h"
#include "tests/lib/test.h"

#define MS 1000000ull /* ns */

static uint64_t seed = 88172645463325252u;

static struct req_split help;
static bool helped;

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static uint64_t sum_of(const struct breakdown *s)
{
	uint64_t sum = 0;

	for (int p = 1; p < PART_END; p++)
		sum += s->us[p];
	return sum;
}

/* A request of 100 ms, with the first byte after 90. */
static struct req_head head(void)
{
	return (struct req_head){ .read_ns = 1000 * MS,
				  .body_ns = 1000 * MS,
				  .first_ns = 1090 * MS,
				  .last_ns = 1100 * MS };
}

static struct request_item item(void)
{
	return (struct request_item){ .request_us = 100000, .first_us = 90000 };
}

static struct breakdown split(const struct req_head *h, const struct request_item *r)
{
	struct breakdown s;

	breakdown_of(h, helped ? &help : NULL, r, &s);
	CHECK_EQ(sum_of(&s), r->queue_us + r->request_us);
	CHECK_EQ(s.us[0], 0);
	return s;
}

static void call(struct request_item *r, uint64_t start_ms, uint64_t ms)
{
	r->ups[r->nups++] =
		(struct up_item){ .start_us = start_ms * 1000, .response_us = ms * 1000 };
}

TEST(a_blocking_thread_has_its_waits_and_the_rest_on_a_cpu)
{
	struct req_head h = head();
	struct request_item r = item();
	struct breakdown s;

	h.split.own_ns = 100 * MS;
	h.split.wait_ns[WAIT_IO] = 50 * MS;
	h.split.wait_ns[WAIT_RUNQ] = 10 * MS;
	h.split.wait_ns[WAIT_SEND] = 5 * MS;
	h.split.wait_ns[WAIT_OTHER] = 3 * MS;
	s = split(&h, &r);
	CHECK(s.measured);
	CHECK_EQ(s.us[PART_IO], 50000);
	CHECK_EQ(s.us[PART_RUNQ], 10000);
	CHECK_EQ(s.us[PART_CLIENT], 5000);
	CHECK_EQ(s.us[PART_OTHER], 3000);
	CHECK_EQ(s.us[PART_CPU], 32000);
}

TEST(each_wait_is_a_part_of_its_own)
{
	static const int part[WAIT_END] = { PART_RUNQ,	   PART_THROTTLED, PART_IO,	PART_DIRTY,
					    PART_FAULT,	   PART_RECLAIM,   PART_LOCK,	PART_SLEEP,
					    PART_STOPPED,  PART_NET,	   PART_CLIENT, PART_NET,
					    PART_UPSTREAM, PART_OTHER,	   PART_LOOP };

	for (int w = 0; w < WAIT_END; w++) {
		struct req_head h = head();
		struct request_item r = item();
		struct breakdown s;

		h.split.own_ns = 100 * MS;
		h.split.wait_ns[w] = 70 * MS;
		s = split(&h, &r);
		CHECK_EQ(s.us[part[w]], 70000);
		CHECK_EQ(s.us[PART_CPU], 30000);
	}
}

TEST(before_the_read_run_queue_time_is_not_queue_time)
{
	struct req_head h = head();
	struct request_item r = item();
	struct breakdown s;

	r.queue_us = 50000;
	h.split.own_ns = 100 * MS;
	h.split.runq_ns = 20 * MS;
	h.split.throttled_ns = 12 * MS;
	s = split(&h, &r);
	CHECK_EQ(s.us[PART_QUEUE], 18000);
	CHECK_EQ(s.us[PART_RUNQ], 20000);
	CHECK_EQ(s.us[PART_THROTTLED], 12000);
}

TEST(the_wait_for_a_pool_thread_is_separate_from_its_work)
{
	struct req_head h = head();
	struct request_item r = item();
	struct breakdown s;

	h.split.pool_ns = 60 * MS;
	h.split.own_ns = 40 * MS;
	s = split(&h, &r);
	CHECK_EQ(s.us[PART_POOL], 60000);
	CHECK_EQ(s.us[PART_CPU], 40000);
}

TEST(a_loop_with_an_open_call_waits_for_the_upstream)
{
	struct req_head h = head();
	struct request_item r = item();
	struct breakdown s;

	h.split.own_ns = 4 * MS;
	h.split.own_first_ns = 4 * MS;
	call(&r, 1, 80);
	s = split(&h, &r);
	CHECK_EQ(s.us[PART_UPSTREAM], 80000);
	CHECK_EQ(s.us[PART_CPU], 4000);
	CHECK_EQ(s.us[PART_OTHER], 16000); /* unknown: a timer, a file, another protocol */
}

TEST(calls_at_the_same_time_count_once)
{
	struct req_head h = head();
	struct request_item r = item();

	h.split.own_ns = 4 * MS;
	call(&r, 50, 30);
	call(&r, 10, 30);
	call(&r, 20, 40);
	call(&r, 95, 500); /* goes on after the answer */
	CHECK_EQ(split(&h, &r).us[PART_UPSTREAM], 75000);
}

TEST(an_unread_upstream_answer_is_loop_time)
{
	struct req_head h = head();
	struct request_item r = item();
	struct breakdown s;

	h.split.own_ns = 4 * MS;
	h.split.loop_ns = 60 * MS;
	call(&r, 1, 80);
	s = split(&h, &r);
	CHECK_EQ(s.us[PART_LOOP], 60000);
	CHECK_EQ(s.us[PART_UPSTREAM], 20000);
}

TEST(a_thread_that_polls_while_its_call_is_open_waits_for_the_upstream)
{
	struct req_head h = head();
	struct request_item r = item();
	struct breakdown s;

	h.split.own_ns = 100 * MS;
	h.split.wait_ns[WAIT_POLL] = 90 * MS;
	call(&r, 0, 80);
	s = split(&h, &r);
	CHECK_EQ(s.us[PART_UPSTREAM], 80000);
	CHECK_EQ(s.us[PART_NET], 10000);
	CHECK_EQ(s.us[PART_CPU], 10000);
}

TEST(a_thread_that_waits_for_a_call_by_reading_is_not_counted_twice)
{
	struct req_head h = head();
	struct request_item r = item();
	struct breakdown s;

	h.split.own_ns = 100 * MS;
	h.split.wait_ns[WAIT_UPSTREAM] = 78 * MS;
	call(&r, 0, 80);
	s = split(&h, &r);
	CHECK_EQ(s.us[PART_UPSTREAM], 78000);
	CHECK_EQ(s.us[PART_CPU], 22000);
}

TEST(a_loop_that_waits_for_the_rest_of_a_request_waits_for_the_client)
{
	struct req_head h = head();
	struct request_item r = item();
	struct breakdown s;

	h.body_ns = h.read_ns + 70 * MS;
	h.split.own_ns = 10 * MS;
	h.split.own_body_ns = h.split.own_first_ns = 6 * MS;
	s = split(&h, &r);
	CHECK_EQ(s.us[PART_CLIENT], 64000);
	CHECK_EQ(s.us[PART_OTHER], 26000);
}

TEST(after_the_first_byte_a_loop_waits_for_the_client_only_while_its_socket_is_busy)
{
	struct req_head h = head();
	struct request_item r = item();

	h.first_ns = h.read_ns + 10 * MS;
	r.first_us = 10000;
	h.split.own_ns = 10 * MS;
	h.split.own_first_ns = 8 * MS;
	CHECK_EQ(split(&h, &r).us[PART_CLIENT], 0); /* a late body */
	h.net.busy_us = 50000;
	CHECK_EQ(split(&h, &r).us[PART_CLIENT], 50000);
	h.net.busy_us = 5000000;
	CHECK_EQ(split(&h, &r).us[PART_CLIENT], 88000);
}

TEST(unmeasured_time_is_not_attributed)
{
	struct req_head h = head();
	struct request_item r = item();
	struct breakdown s;

	r.queue_us = 8000;
	call(&r, 10, 30);
	s = split(&h, &r);
	CHECK(!s.measured);
	CHECK_EQ(s.us[PART_QUEUE], 8000);
	CHECK_EQ(s.us[PART_UPSTREAM], 30000);
	CHECK_EQ(s.us[PART_OTHER], 70000);
}

TEST(several_threads_on_one_request_share_its_time)
{
	struct req_head h = head();
	struct request_item r = item();
	struct breakdown s;

	h.split.own_ns = 200 * MS;
	h.split.wait_ns[WAIT_IO] = 100 * MS;
	s = split(&h, &r);
	CHECK_EQ(s.us[PART_IO], 50000);
	CHECK_EQ(s.us[PART_CPU], 50000);
}

TEST(helper_threads_fill_at_most_the_loops_waits)
{
	struct req_head h = head();
	struct request_item r = item();
	struct breakdown s;

	helped = true;
	help.own_ns = 80 * MS;
	help.wait_ns[WAIT_IO] = 60 * MS;
	h.split.own_ns = 10 * MS;
	s = split(&h, &r);
	CHECK_EQ(s.us[PART_IO], 60000);
	CHECK_EQ(s.us[PART_CPU], 30000);
	CHECK_EQ(s.us[PART_OTHER], 10000);
	call(&r, 10, 50); /* in parallel: which of the two the loop waited for is unknown */
	s = split(&h, &r);
	CHECK_EQ(s.us[PART_UPSTREAM], 50000);
	CHECK_EQ(s.us[PART_IO], 30000);
	CHECK_EQ(s.us[PART_CPU], 20000);
	CHECK_EQ(s.us[PART_OTHER], 0);
	helped = false;
	memset(&help, 0, sizeof(help));
}

TEST(a_stream_is_judged_without_the_time_after_its_first_byte)
{
	struct req_head h = head();
	struct request_item r = item();
	struct breakdown s, judged;

	r.request_us = 60000000;
	r.flags = REQUEST_BY_FIRST;
	h.last_ns = h.read_ns + 60000 * MS;
	h.split.own_ns = 80 * MS;
	h.split.wait_ns[WAIT_LOCK] = 70 * MS;
	s = split(&h, &r);
	breakdown_judged(&s, &r, &judged);
	CHECK_EQ(sum_of(&judged), 90000);
	CHECK_EQ(judged.us[PART_LOCK], 70000);
	r.flags = 0;
	breakdown_judged(&s, &r, &judged);
	CHECK_EQ(sum_of(&judged), 60000000);
}

static uint64_t hostile(uint64_t usual)
{
	switch (any() % 8) {
	case 0:
		return any();
	case 1:
		return any() >> any() % 64;
	case 2:
		return UINT64_MAX - any() % 3;
	case 3:
		return 0;
	default:
		return any() % (usual + 1);
	}
}

static void fill(struct req_head *h, struct request_item *r)
{
	uint64_t *k = (uint64_t *)&h->split, *also = (uint64_t *)&help;

	r->request_us = hostile(any() % 4 ? 100000 : 10) >> 10;
	r->queue_us = hostile(50000) >> 10;
	r->first_us = any() % 3 ? any() % (r->request_us + 1) : hostile(1000) >> 10;
	h->first_ns = any() % 4 ? 1 : 0;
	h->read_ns = hostile(1000);
	h->body_ns = hostile(100000000);
	for (size_t i = 0; i < sizeof(h->split) / sizeof(*k); i++)
		k[i] = any() % 3 ? hostile(r->request_us * 1000 + 5) : 0;
	helped = any() % 2;
	for (size_t i = 0; i < sizeof(help) / sizeof(*also); i++)
		also[i] = any() % 3 ? hostile(r->request_us * 1000 + 5) : 0;
	h->net.busy_us = (uint32_t)hostile(100000);
	r->flags = any() % 2 ? REQUEST_BY_FIRST : 0;
	r->nups = (uint32_t)(any() % (ITEM_MAX_UPS + 1));
	for (uint32_t i = 0; i < r->nups; i++)
		r->ups[i] = (struct up_item){ .start_us = hostile(r->request_us) >> 10,
					      .response_us = hostile(r->request_us) >> 10 };
}

TEST(the_parts_add_up_for_any_record)
{
	for (int i = 0; i < 2000000 && !test_failed; i++) {
		struct req_head h = { 0 };
		struct request_item r = { 0 };
		struct breakdown s, judged;
		uint64_t total;

		fill(&h, &r);
		s = split(&h, &r);
		total = r.queue_us + r.request_us;
		for (int p = 1; p < PART_END; p++)
			CHECK(s.us[p] <= total);
		breakdown_judged(&s, &r, &judged);
		if (r.flags && r.first_us < r.request_us)
			CHECK_EQ(sum_of(&judged), r.queue_us + r.first_us);
		else
			CHECK_EQ(sum_of(&judged), total);
	}
}

TEST(losses_cost_what_their_timers_take)
{
	struct req_net n = { 0 };

	CHECK_EQ(breakdown_loss_us(&n, 100), 0);
	n.lost[REQ_LOSS_SYN] = 2;
	CHECK_EQ(breakdown_loss_us(&n, 0), 3000000); /* one second, then two */
	n.lost[REQ_LOSS_SYN] = 0;
	n.lost[REQ_LOSS_RTO] = 1;
	CHECK_EQ(breakdown_loss_us(&n, 0), 200000);
	n.lost[REQ_LOSS_RTO] = 0;
	n.lost[REQ_LOSS_FAST] = 1;
	CHECK(breakdown_loss_us(&n, 1000) < 20000);
}
