// SPDX-License-Identifier: Apache-2.0
#include "probe/request/judge/part_baseline.h"
#include "tests/lib/test.h"

#define SECOND 1000000000ull

static void learn(struct part_baseline *u, enum part p, uint64_t us, uint64_t now)
{
	struct breakdown s = { 0 };

	s.us[p] = us;
	part_baseline_learn(u, &s, now);
}

static bool is_about(uint64_t a, uint64_t b)
{
	return a * 100 >= b * 93 && a * 100 <= b * 107;
}

TEST(the_median_of_a_part_is_within_a_few_percent)
{
	static const uint64_t times[] = { 1, 7, 8, 100, 999, 4711, 150000, 60000000, 3600000000 };

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct part_baseline u = { 0 };

		for (int n = 0; n < 10; n++)
			learn(&u, PART_IO, times[i], SECOND);
		CHECK(is_about(part_baseline_parts(&u)[PART_IO].p50_us, times[i]));
		CHECK_EQ(part_baseline_parts(&u)[PART_IO].iqr_us, 0);
		CHECK_EQ(part_baseline_parts(&u)[PART_LOCK].p50_us, 0);
	}
}

TEST(the_spread_of_a_part_is_known)
{
	struct part_baseline u = { 0 };

	for (uint64_t n = 0; n < 60; n++)
		learn(&u, PART_UPSTREAM, 10000 + n * 1000, SECOND);
	CHECK(is_about(part_baseline_parts(&u)[PART_UPSTREAM].p50_us, 39000));
	CHECK(part_baseline_parts(&u)[PART_UPSTREAM].iqr_us > 24000);
	CHECK(part_baseline_parts(&u)[PART_UPSTREAM].iqr_us < 36000);
}

TEST(a_few_requests_are_not_enough)
{
	struct part_baseline u = { 0 };

	for (int n = 0; n < 4; n++)
		learn(&u, PART_CPU, 5000, SECOND);
	CHECK_EQ(part_baseline_parts(&u)[PART_CPU].p50_us, 0);
	learn(&u, PART_CPU, 5000, SECOND);
	CHECK(is_about(part_baseline_parts(&u)[PART_CPU].p50_us, 5000));
}

TEST(it_follows_a_change_over_two_minutes_and_not_a_burst)
{
	struct part_baseline u = { 0 };
	uint64_t now = SECOND;

	for (int n = 0; n < 64; n++)
		learn(&u, PART_CPU, 5000, now);
	for (int n = 0; n < 100000; n++)
		learn(&u, PART_CPU, 9000, now += SECOND / 100000);
	CHECK(is_about(part_baseline_parts(&u)[PART_CPU].p50_us, 5000));
	for (int n = 0; n < 40; n++)
		learn(&u, PART_CPU, 9000, now += USUAL_EVERY_NS);
	CHECK(is_about(part_baseline_parts(&u)[PART_CPU].p50_us, 9000));
}

TEST(saved_samples_are_restored)
{
	struct part_baseline u = { 0 }, back;
	struct buf b = { 0 };

	for (uint64_t n = 0; n < 30; n++)
		learn(&u, PART_OTHER, n * 100, SECOND);
	part_baseline_put(&b, &u);
	CHECK(part_baseline_take(&back, b.data, b.len));
	CHECK_EQ(part_baseline_parts(&back)[PART_OTHER].p50_us,
		 part_baseline_parts(&u)[PART_OTHER].p50_us);
	CHECK(!part_baseline_take(&back, b.data, b.len - 1));
	CHECK(!part_baseline_take(&back, b.data, 0));
	b.data[0]++; /* from a version with one more part */
	CHECK(part_baseline_take(&back, b.data, b.len));
	CHECK_EQ(back.n, 0);
	buf_free(&b);
}

TEST(a_route_costs_little_memory)
{
	CHECK(sizeof(struct part_baseline) <= 1280);
}
