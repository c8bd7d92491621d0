// SPDX-License-Identifier: Apache-2.0
/* Traffic of many shapes in virtual time: false positives, and how long a fault is flagged.
 */
#include <math.h>

#include "probe/request/judge/baseline.h"
#include "tests/lib/test.h"

#define SECOND 1000000000ull

enum { MINUTE = 60, HOUR = 3600, DAY = 24 * HOUR };

/* Lognormal durations around a median; a share of requests is always slower. */
struct traffic {
	double rate, median_us, sigma, slow_share, slow_us;
};

static const struct traffic even = { 100, 5000, 0.3, 0, 0 };
static const struct traffic rare = { 1 / 30.0, 5000, 0.3, 0, 0 };
static struct baseline b;
static uint64_t now, seed;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return ((double)(seed >> 33) + 0.5) / 2147483648.0;
}

static uint64_t usual_us(const struct traffic *t)
{
	double normal = sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());

	return (uint64_t)(t->median_us * exp(t->sigma * normal) +
			  (uniform() < t->slow_share ? t->slow_us : 0));
}

struct tally {
	uint32_t delayed, caught, good, flagged;
};

/* Plays some seconds in which a share of the requests takes 60 ms longer. */
static struct tally play(const struct traffic *t, uint32_t seconds, double share)
{
	struct tally y = { 0 };

	for (uint32_t n = (uint32_t)(seconds * t->rate); n; n--) {
		bool delay = uniform() < share;
		uint64_t us = usual_us(t) + (delay ? 60000 : 0);
		bool over = us > baseline_limit_us(&b);

		y.delayed += delay;
		y.caught += delay && over;
		y.good += !delay;
		y.flagged += !delay && over;
		baseline_learn(&b, us, -1, now);
		now += (uint64_t)((double)SECOND / t->rate);
	}
	return y;
}

static void begin(void)
{
	b = (struct baseline){ 0 };
	now = 1000 * SECOND;
	seed = 42;
}

static bool is_quiet(struct tally y)
{
	return y.flagged * 1000ull <= y.good * 3ull;
}

static bool is_caught(struct tally y)
{
	return y.delayed > 20 && y.caught * 100ull >= y.delayed * 95ull;
}

static struct tally ten_minutes_from_nothing(double rate, double median_us, double sigma,
					     double slow_share)
{
	const struct traffic t = { rate, median_us, sigma, slow_share, 80000 };

	begin();
	return play(&t, 10 * MINUTE, 0);
}

TEST(the_first_ten_minutes_are_quiet_for_any_shape_of_traffic)
{
	for (int rate = 10; rate <= 1000; rate *= 10) {
		CHECK(is_quiet(ten_minutes_from_nothing(rate, 5000, 0.2, 0)));
		CHECK(is_quiet(ten_minutes_from_nothing(rate, 5000, 0.6, 0)));
		CHECK(is_quiet(ten_minutes_from_nothing(rate, 1000, 0.3, 0.1)));
		CHECK(is_quiet(ten_minutes_from_nothing(rate, 1000, 0.3, 0.01)));
	}
	CHECK(is_quiet(ten_minutes_from_nothing(100, 20000, 1, 0)));
}

TEST(a_long_tail_is_learnt_within_a_few_thousand_requests)
{
	const struct traffic t = { 10, 20000, 1, 0, 0 };
	struct tally y;

	y = ten_minutes_from_nothing(t.rate, t.median_us, t.sigma, 0);
	CHECK(y.flagged * 1000ull <= y.good * 6ull);
	CHECK(is_quiet(play(&t, HOUR, 0)));
}

TEST(a_fault_is_flagged_as_long_as_it_lasts_and_other_requests_are_not)
{
	static const double shares[] = { 0.01, 0.05, 0.5, 1 };

	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		begin();
		play(&even, 2 * MINUTE, 0);
		for (int h = 0; h < 5; h++) {
			struct tally y = play(&even, HOUR, shares[i]);

			CHECK(is_caught(y));
			CHECK(is_quiet(y));
		}
		CHECK(is_quiet(play(&even, 10 * MINUTE, 0)));
	}
}

TEST(a_fault_is_distinguished_from_the_routes_own_tail)
{
	const struct traffic tailed = { 50, 8000, 0.5, 0, 0 };

	for (int share = 1; share <= 50; share *= 5) {
		struct tally y;

		begin();
		play(&tailed, MINUTE, 0);
		play(&tailed, 10 * MINUTE, share / 100.0);
		y = play(&tailed, 10 * MINUTE, share / 100.0);
		CHECK(is_caught(y));
		CHECK(y.flagged * 1000ull <= y.good * 4ull); /* as low as after the first minute */
	}
}

TEST(a_fault_is_not_learnt_across_a_restart)
{
	struct baseline kept;

	begin();
	play(&even, 2 * MINUTE, 0);
	play(&even, MINUTE, 0.5);
	kept = (struct baseline){ .base = b.base, .up = b.up };
	b = kept;
	baseline_restore(&b, now);
	CHECK(is_caught(play(&even, HOUR, 0.5)));
}

TEST(a_rare_route_does_not_learn_a_fault_of_hours)
{
	begin();
	CHECK(is_quiet(play(&rare, 2 * DAY, 0)));
	CHECK(is_caught(play(&rare, 2 * HOUR, 0.5)));
	CHECK(is_quiet(play(&rare, DAY, 0)));
	CHECK(is_caught(play(&rare, 12 * HOUR, 0.05)));
	CHECK(is_caught(play(&rare, 2 * HOUR, 0.5)));
}

TEST(a_fault_from_the_first_request_on_is_forgotten_within_hours_after_its_end)
{
	const struct traffic slow = { 2, 5000, 0.3, 0, 0 };

	begin();
	play(&slow, 10 * MINUTE, 0.5);
	CHECK(baseline_limit_us(&b) > 60000);
	play(&slow, 8 * HOUR, 0);
	CHECK(is_caught(play(&slow, 10 * MINUTE, 0.05)));
}

TEST(a_change_that_lasts_a_day_becomes_the_baseline)
{
	const struct traffic slow = { 2, 5000, 0.3, 0, 0 };

	begin();
	play(&slow, 2 * HOUR, 0);
	play(&slow, 23 * HOUR, 1);
	CHECK(is_caught(play(&slow, HOUR / 2, 1)));
	play(&slow, HOUR, 1);
	CHECK(b.p50_us > 60000);
	CHECK_EQ(play(&slow, HOUR, 1).caught, 0);
}

TEST(days_without_requests_do_not_count_as_a_fault)
{
	begin();
	play(&even, 10 * MINUTE, 0);
	now += 2 * DAY * SECOND;
	CHECK(is_caught(play(&even, 10 * MINUTE, 0.05)));
}

TEST(slow_drift_over_a_day_is_followed)
{
	struct traffic t = { 20, 20000, 0.6, 0, 0 };
	struct tally all = { 0 };

	begin();
	play(&t, HOUR, 0);
	for (int i = 0; i < 144; i++) { /* 2.4 times the time in six hours, and back */
		struct tally y;

		t.median_us *= i < 72 ? 1.0122 : 1 / 1.0122;
		y = play(&t, 5 * MINUTE, 0);
		all.good += y.good;
		all.flagged += y.flagged;
	}
	CHECK(is_quiet(all));
}

TEST(a_route_that_is_slow_by_design_is_flagged_ten_times_and_then_rarely)
{
	const struct traffic poll = { 1 / 30.0, 12e6, 0.5, 0, 0 };
	struct tally y;

	begin();
	y = play(&poll, 9 * 30, 0);
	CHECK_EQ(y.flagged, 9);
	CHECK_EQ(baseline_limit_us(&b), BASELINE_FIRST_LIMIT_US);
	play(&poll, 30, 0);
	CHECK(b.p50_us > 5000000);
	CHECK(play(&poll, 90 * 30, 0).flagged <= 5); /* each is longer than all before it */
	CHECK(play(&poll, 900 * 30, 0).flagged <= 15);
}
