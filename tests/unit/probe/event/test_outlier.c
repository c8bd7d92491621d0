// SPDX-License-Identifier: Apache-2.0
#include "probe/event/outlier.h"
#include "tests/lib/test.h"

#define SEC 1000000000ull

static uint64_t now;

/* n of them, one each 100 ms, evenly from low to high. */
static void learn(struct outlier *e, uint32_t n, uint64_t low, uint64_t high)
{
	for (uint32_t i = 0; i < n; i++) {
		now += SEC / 10;
		outlier_learn(e, low + (high - low) * (i * 7919 % 1000) / 1000, now);
	}
}

static uint64_t over(const struct outlier *e, uint64_t us)
{
	uint64_t over_us = 12345;

	return outlier_judge(e, us, &over_us) ? over_us : UINT64_MAX;
}

/* Of 1,000 to 2,000 us: p50 is 1,500, the quartiles are 500 apart. */
static bool is_near(uint64_t us, uint64_t want)
{
	return us + want / 25 >= want && us <= want + want / 25;
}

TEST(nothing_is_judged_before_a_hundred_are_learnt)
{
	struct outlier e = { 0 };

	learn(&e, 99, 1000, 2000);
	CHECK_EQ(over(&e, 1000000), UINT64_MAX);
	learn(&e, 1, 1000, 2000);
	CHECK(over(&e, 1000000) < 1000000);
}

TEST(what_is_over_the_median_and_three_times_the_quartiles_is_excess)
{
	struct outlier e = { 0 };

	learn(&e, 5000, 1000, 2000);
	CHECK(is_near(e.p50_us, 1500));
	CHECK(is_near(e.limit_us, 3000));
	CHECK_EQ(over(&e, 2000), 0);
	CHECK_EQ(over(&e, e.limit_us), 0);
	CHECK_EQ(over(&e, e.limit_us + 7), 7);
	CHECK_EQ(over(&e, 1ull << 40), (1ull << 40) - e.limit_us);
}

TEST(durations_of_every_order_are_learnt)
{
	for (uint64_t us = 0; us < 1ull << 32; us = us * 3 + 1) {
		struct outlier e = { 0 };

		learn(&e, 300, us, us);
		CHECK(e.p50_us <= us + us / 8 && us <= e.p50_us + e.p50_us / 8 + 1);
		CHECK(e.limit_us >= us && e.limit_us <= us + us / 2);
	}
}

TEST(a_first_one_that_is_far_off_moves_nothing)
{
	struct outlier e = { 0 };

	learn(&e, 1, 5000000, 5000000);
	learn(&e, 500, 1000, 2000);
	CHECK(is_near(e.p50_us, 1500));
}

TEST(a_fault_that_goes_on_is_not_learnt_and_stays_excess)
{
	struct outlier e = { 0 };
	uint64_t limit;

	learn(&e, 2000, 1000, 2000);
	limit = e.limit_us;
	learn(&e, 6000, 10000, 11000); /* ten minutes */
	CHECK_EQ(e.limit_us, limit);
	for (int i = 0; i < 100; i++) { /* one in five is slow */
		learn(&e, 40, 1000, 2000);
		learn(&e, 10, 10000, 11000);
	}
	CHECK_EQ(e.limit_us, limit);
	learn(&e, 2000, 1000, 2000);
	CHECK(is_near(e.limit_us, 3000));
}

TEST(what_lasts_for_more_than_a_day_is_usual)
{
	struct outlier e = { 0 };

	learn(&e, 2000, 1000, 2000);
	learn(&e, 23 * 36000, 10000, 20000);
	CHECK(over(&e, 15000) > 0);
	learn(&e, 2 * 36000, 10000, 20000);
	CHECK(is_near(e.p50_us, 15000));
	CHECK_EQ(over(&e, 15000), 0);
}

TEST(drift_is_followed)
{
	struct outlier e = { 0 };

	for (uint64_t low = 1000; low < 5000; low += low / 100)
		learn(&e, 1000, low, 2 * low);
	CHECK(e.p50_us > 6000);
	for (uint64_t low = 5000; low > 20; low -= low / 20) /* as far down, beyond the slots */
		learn(&e, 4000, low, 2 * low);
	learn(&e, 40000, 20, 40);
	CHECK(e.p50_us < 60);
}
