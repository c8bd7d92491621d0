// SPDX-License-Identifier: Apache-2.0
#include "probe/request/judge/baseline.h"
#include "tests/lib/test.h"

#define SECOND 1000000000ull

static struct baseline b;
static uint64_t now, seed;

static uint64_t chance(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* 4 to 6 ms, now and then 9. */
static uint64_t usual_us(void)
{
	return 4000 + chance(2000) + (chance(200) == 0 ? 3000 : 0);
}

struct tally {
	uint32_t delayed, caught, good, flagged;
};

/* Plays seconds of 100 requests each; per_1000 of them take 60 ms longer. */
static struct tally play(uint32_t seconds, uint32_t per_1000)
{
	struct tally t = { 0 };

	for (uint32_t i = 0; i < seconds * 100; i++) {
		bool delay = chance(1000) < per_1000;
		uint64_t us = usual_us() + (delay ? 60000 : 0);
		bool over = us > baseline_limit_us(&b);

		t.delayed += delay;
		t.caught += delay && over;
		t.good += !delay;
		t.flagged += !delay && over;
		baseline_learn(&b, us, -1, now);
		now += SECOND / 100;
	}
	return t;
}

static void begin(void)
{
	b = (struct baseline){ 0 };
	now = 1000 * SECOND;
	seed = 42;
	play(60, 0);
}

TEST(ten_minutes_without_a_fault_flag_almost_nothing)
{
	struct tally t;

	begin();
	t = play(600, 0);
	CHECK(t.flagged * 1000ull <= t.good * 3ull);
}

static void still_caught(uint32_t per_1000)
{
	struct tally t;

	begin();
	play(600, per_1000);
	t = play(60, per_1000);
	CHECK(t.delayed > 20);
	CHECK(t.caught * 100ull >= t.delayed * 95ull);
	CHECK(t.flagged * 1000ull <= t.good * 3ull);
}

TEST(one_percent_delayed_is_still_caught_after_ten_minutes)
{
	still_caught(10);
}

TEST(five_percent_delayed_is_still_caught_after_ten_minutes)
{
	still_caught(50);
}

TEST(half_of_all_delayed_is_still_caught_after_ten_minutes)
{
	still_caught(500);
}

TEST(a_rare_outlier_does_not_raise_the_limit)
{
	uint64_t before;

	begin();
	before = baseline_limit_us(&b);
	for (int i = 0; i < 200; i++) {
		play(1, 0);
		if (i % 20 == 0)
			baseline_learn(&b, 900000, -1, now);
	}
	CHECK_EQ(baseline_limit_us(&b), before);
}

TEST(a_route_is_judged_by_300_ms_until_it_is_known)
{
	struct baseline fresh = { 0 };

	for (int i = 0; i < BASELINE_FIRST; i++) {
		CHECK_EQ(baseline_limit_us(&fresh), BASELINE_FIRST_LIMIT_US);
		baseline_learn(&fresh, 1000, -1, 1);
	}
	CHECK(baseline_limit_us(&fresh) < 22000);
}
