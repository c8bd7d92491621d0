// SPDX-License-Identifier: Apache-2.0
#include "probe/request/judge/detect.h"
#include "probe/request/judge/item_time.h"
#include "probe/request/explain/verdict.h"
#include "tests/fake/clock.h"
#include "tests/lib/test.h"

/* A breakdown without measured parts. */
static bool judge(struct detect *d, struct request_item *r)
{
	static const struct req_head none;
	struct breakdown split;
	struct judged j;

	breakdown_of(&none, NULL, r, &split);
	return detect_judge(d, r, &split, &j);
}

static bool judged(struct detect *d, uint16_t status, uint64_t us, struct request_item *out)
{
	*out = (struct request_item){
		.app = "nginx", .route = "GET /", .status = status, .request_us = us, .first_us = us
	};
	return judge(d, out);
}

static bool abnormal(struct detect *d, uint16_t status, uint64_t us)
{
	struct request_item r;

	return judged(d, status, us, &r);
}

TEST(errors_and_aborts_are_abnormal_at_any_speed)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);

	CHECK(abnormal(d, 500, 10));
	CHECK(abnormal(d, 503, 10));
	CHECK(abnormal(d, 499, 10));
	CHECK(!abnormal(d, 404, 10));
	CHECK(!abnormal(d, 200, 10));
}

TEST(a_new_route_is_judged_by_300_ms)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);

	CHECK(!abnormal(d, 200, 299000));
	CHECK(abnormal(d, 200, 301000));
}

TEST(a_known_route_is_judged_by_itself)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);
	struct request_item r;

	for (int i = 0; i < 200; i++)
		CHECK(!abnormal(d, 200, 5000 + (uint64_t)i));
	CHECK(!abnormal(d, 200, 20000)); /* four times slower, but only by 15 ms */
	CHECK(judged(d, 200, 60000, &r));
	CHECK(r.normal_us > 4500 && r.normal_us < 5800);
	CHECK(r.limit_us > 24500 && r.limit_us < 26000);
}

TEST(a_fixed_limit_of_zero_makes_every_request_a_row)
{
	AUTO(detect_free) struct detect *d = detect_new(0);

	CHECK(abnormal(d, 200, 0));
	CHECK(abnormal(d, 200, 5));
}

TEST(time_in_the_queue_counts)
{
	AUTO(detect_free) struct detect *d = detect_new(100);
	struct request_item r = {
		.app = "a", .route = "GET /", .status = 200, .request_us = 1000, .queue_us = 252000
	};

	CHECK(judge(d, &r));
	CHECK_EQ(item_judged_us(&r), 253000);
}

TEST(a_failed_try_makes_a_good_answer_abnormal)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);
	struct request_item r = {
		.app = "a", .route = "GET /", .status = 200, .request_us = 1000, .nups = 2
	};

	r.ups[0].flags = UP_NO_CONNECT;
	r.ups[1].status = 200;
	CHECK(judge(d, &r));
}

static bool streamed(struct detect *d, uint64_t first_us, uint64_t all_us, uint32_t flags,
		     struct request_item *out)
{
	*out = (struct request_item){ .app = "a",
				      .route = "GET /s",
				      .status = 200,
				      .first_us = first_us,
				      .request_us = all_us,
				      .flags = flags };
	return judge(d, out);
}

static void scan(struct detect *d)
{
	char route[32];

	for (int i = 0; i < 5000; i++) {
		struct request_item r = { .app = "a", .route = route, .status = 200 };

		snprintf(route, sizeof(route), "GET /%d", i);
		clock_set_ns((uint64_t)i * 1000000);
		CHECK(!judge(d, &r));
	}
}

TEST(more_routes_than_fit_are_still_judged)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);

	scan(d);
	CHECK(abnormal(d, 500, 1));
}

TEST(a_scan_of_paths_neither_displaces_known_routes_nor_blocks_new_ones)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);
	struct request_item r;

	for (int i = 0; i < 200; i++)
		abnormal(d, 200, 5000);
	scan(d);
	judged(d, 200, 5000, &r);
	CHECK(r.normal_us >= 5000 && r.normal_us < 5400);
	for (int i = 0; i < 200; i++)
		streamed(d, 2000, 2100, 0, &r);
	CHECK(r.normal_us >= 2000 && r.normal_us < 2250);
}

TEST(an_event_stream_is_judged_by_its_first_byte)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);
	struct request_item r;

	CHECK(!streamed(d, 2000, 600000000, REQUEST_BY_FIRST, &r));
	CHECK(streamed(d, 400000, 600000000, REQUEST_BY_FIRST, &r));
	CHECK_EQ(item_judged_us(&r), 400000);
	for (int i = 0; i < 150; i++)
		streamed(d, 2000, 600000000, REQUEST_BY_FIRST, &r);
	CHECK(r.normal_us >= 2000 && r.normal_us < 2200);
	CHECK(streamed(d, 30000, 31000, REQUEST_BY_FIRST, &r));
}

TEST(a_route_whose_bodies_are_waited_for_is_judged_by_the_first_byte)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);
	struct request_item r;

	for (int i = 0; i < 150; i++)
		CHECK(!streamed(d, 2000, 25000000, 0, &r));
	CHECK(r.flags & REQUEST_BY_FIRST);
	CHECK(streamed(d, 60000, 25000000, 0, &r));
	CHECK(!streamed(d, 2000, 3000, 0, &r)); /* the event came at once */
}

TEST(a_late_body_is_slow_if_other_bodies_are_not_late)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);
	struct request_item r;

	for (int i = 0; i < 150; i++)
		CHECK(!streamed(d, 2000, 3000, 0, &r));
	for (int i = 0; i < 150; i++) /* even if all bodies become late */
		CHECK(streamed(d, 2000, 2000000, 0, &r));
}

static bool left(struct detect *d, uint64_t us)
{
	struct request_item r = { .app = "nginx",
				  .route = "GET /",
				  .status = 499,
				  .request_us = us,
				  .flags = REQUEST_CLIENT_CLOSED };

	return judge(d, &r);
}

TEST(leaving_a_long_poll_within_its_limit_is_normal)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);

	CHECK(left(d, 3000000)); /* not known as a long poll yet */
	for (uint64_t i = 0; i < 20; i++)
		abnormal(d, 200, 20000000 + i * 500000);
	CHECK(!left(d, 3000000));
	CHECK(left(d, 60000000)); /* longer than the limit */
}

TEST(leaving_a_slow_route_that_is_no_long_poll_is_abnormal)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);

	for (uint64_t i = 0; i < 200; i++)
		abnormal(d, 200, 4000000 + i * 1000);
	CHECK(left(d, 1000000));
}

TEST(judging_by_the_first_byte_is_saved)
{
	AUTO(detect_free) struct detect *d = detect_new(-1), *later = detect_new(-1);
	struct buf bytes = { 0 };
	struct request_item r;

	for (int i = 0; i < 150; i++)
		streamed(d, 2000, 25000000, 0, &r);
	detect_save(d, &bytes, 1);
	CHECK_EQ(detect_load(later, bytes.data, bytes.len, 1), 0);
	buf_free(&bytes);
	CHECK(!streamed(later, 2000, 25000000, 0, &r));
	CHECK(r.flags & REQUEST_BY_FIRST);
}

/* A request that spent lock_us on a lock. */
static const struct part_baseline_part *with_lock(struct detect *d, uint64_t us, uint64_t lock_us)
{
	static struct judged j;
	struct breakdown s = { .measured = true };
	struct request_item r = {
		.app = "a", .route = "GET /", .status = 200, .request_us = us, .first_us = us
	};

	s.us[PART_LOCK] = lock_us;
	s.us[PART_CPU] = us - lock_us;
	return detect_judge(d, &r, &s, &j) ? &j.usual[PART_LOCK] : NULL;
}

TEST(usual_parts_are_learnt_from_requests_that_are_not_slow)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);
	const struct part_baseline_part *lock;

	for (int i = 0; i < 200; i++) {
		clock_set_ns((uint64_t)i * 3000000000);
		CHECK(!with_lock(d, 5000, 1000));
	}
	for (int i = 0; i < 200; i++) {
		clock_set_ns((uint64_t)(i + 200) * 3000000000);
		lock = with_lock(d, 305000, 301000);
		CHECK(lock && lock->p50_us >= 930 && lock->p50_us <= 1070 && !lock->iqr_us);
	}
}

TEST(usual_parts_are_learnt_under_a_fixed_limit_too)
{
	AUTO(detect_free) struct detect *d = detect_new(0);

	for (int i = 0; i < 200; i++)
		with_lock(d, 5000, 1000);
	CHECK(with_lock(d, 5000, 1000)->p50_us >= 930);
}

TEST(usual_parts_are_saved)
{
	AUTO(detect_free) struct detect *d = detect_new(-1), *later = detect_new(-1);
	struct buf bytes = { 0 };

	for (int i = 0; i < 150; i++)
		with_lock(d, 5000, 1000);
	detect_save(d, &bytes, 1);
	CHECK_EQ(detect_load(later, bytes.data, bytes.len, 1), 0);
	buf_free(&bytes);
	CHECK(with_lock(later, 305000, 301000)->p50_us >= 930);
}
