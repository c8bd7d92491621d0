// SPDX-License-Identifier: Apache-2.0
#include "../../lib/reason.h"
#include "../../probe/detect.h"
#include "../../probe/verdict.h"
#include "../test.h"

static bool judged(struct detect *d, uint16_t status, uint64_t us, struct request_item *out)
{
	*out = (struct request_item){
		.app = "nginx", .route = "GET /", .status = status, .request_us = us
	};
	return detect_judge(d, out);
}

static bool abnormal(struct detect *d, uint16_t status, uint64_t us)
{
	struct request_item r;

	return judged(d, status, us, &r);
}

TEST(errors_and_aborts_are_abnormal_however_fast)
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
	CHECK(!abnormal(d, 200, 20000)); /* four times slower, but by 15 ms */
	CHECK(judged(d, 200, 60000, &r));
	CHECK(r.normal_us > 4500 && r.normal_us < 5800);
	CHECK(r.limit_us > 24500 && r.limit_us < 26000);
	CHECK_EQ(r.reason, R_UNKNOWN);
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

	CHECK(detect_judge(d, &r));
	CHECK_EQ(item_total_us(&r), 253000);
}

TEST(a_failed_try_makes_a_good_answer_abnormal)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);
	struct request_item r = {
		.app = "a", .route = "GET /", .status = 200, .request_us = 1000, .nups = 2
	};

	r.ups[0].flags = UP_NO_CONNECT;
	r.ups[1].status = 200;
	CHECK(detect_judge(d, &r));
	CHECK_EQ(r.reason, R_UP_RETRY);
}

TEST(more_routes_than_fit_are_still_judged)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);
	char route[32];

	for (int i = 0; i < 5000; i++) {
		struct request_item r = { .app = "a", .route = route, .status = 200 };

		snprintf(route, sizeof(route), "GET /%d", i);
		CHECK(!detect_judge(d, &r));
	}
	CHECK(abnormal(d, 500, 1));
}
