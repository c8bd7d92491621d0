// SPDX-License-Identifier: Apache-2.0
/* A source with reads of a given cost, in virtual time, read on its period. */
#include "probe/overhead/budget.h"
#include "tests/lib/test.h"

#define SECOND 1000000000ull

enum { PERIOD_S = 2 };

struct scene {
	struct budget b;
	uint64_t now_ns;
	double cost; /* seconds of a processor for a read */
	int reads, rarer, oftener;
};

static void play(struct scene *s, int seconds)
{
	for (int i = 0; i < seconds / PERIOD_S; i++) {
		s->now_ns += PERIOD_S * SECOND;
		if (!budget_due(&s->b))
			continue;
		s->reads++;
		switch (budget_took(&s->b, s->now_ns, (uint64_t)(s->cost * SECOND), 0.01)) {
		case BUDGET_RARER:
			s->rarer++;
			break;
		case BUDGET_OFTENER:
			s->oftener++;
			break;
		case BUDGET_SAME:
			break;
		}
	}
}

TEST(a_cheap_source_is_read_at_each_period)
{
	struct scene s = { .cost = 0.019 };

	play(&s, 600);
	CHECK_EQ(s.reads, 300);
	CHECK_EQ(s.b.step, 0);
}

TEST(a_source_over_its_share_is_read_less_often_until_it_is_within)
{
	struct scene s = { .cost = 0.07 }; /* 3.5 %, so each fourth time is within 1 % */

	play(&s, 200);
	CHECK_EQ(s.b.step, 2);
	CHECK_EQ(s.rarer, 2);
	s.reads = 0;
	play(&s, 80);
	CHECK_EQ(s.reads, 10);
	CHECK_EQ(s.b.step, 2);
}

TEST(a_single_dear_read_does_not_count_for_longer_than_a_look)
{
	struct scene s = { .cost = 0.001 };

	play(&s, 100);
	s.cost = 0.15; /* within 20 s 0.75 % */
	play(&s, PERIOD_S);
	s.cost = 0.001;
	play(&s, 100);
	CHECK_EQ(s.b.step, 0);
	CHECK_EQ(s.rarer, 0);
}

TEST(it_is_read_oftener_again_a_step_at_a_time_after_five_calm_minutes_each)
{
	struct scene s = { .cost = 0.07 };

	play(&s, 200);
	s.cost = 0.001;
	play(&s, BUDGET_CALM_S - 2 * BUDGET_LOOK_S);
	CHECK_EQ(s.b.step, 2);
	play(&s, 4 * BUDGET_LOOK_S);
	CHECK_EQ(s.b.step, 1);
	play(&s, BUDGET_CALM_S + 2 * BUDGET_LOOK_S);
	CHECK_EQ(s.b.step, 0);
	CHECK_EQ(s.oftener, 2);
}

TEST(it_does_not_swing_when_the_step_before_would_cost_too_much)
{
	struct scene s = { .cost = 0.03 }; /* 1.5 %: each second time is 0.75 % */

	play(&s, 4 * 3600);
	CHECK_EQ(s.b.step, 1);
	CHECK_EQ(s.rarer, 1);
	CHECK_EQ(s.oftener, 0);
}

TEST(there_is_a_last_step)
{
	struct scene s = { .cost = 1.9 };

	play(&s, 3600);
	CHECK_EQ(s.b.step, BUDGET_STEPS);
	CHECK_EQ(s.rarer, BUDGET_STEPS);
}

/* Its kernel programs, which cost this share of two processors, counted in a 20th of the time. */
static void run(struct scene *s, int seconds, double cost)
{
	for (int i = 0; i < seconds / 10; i++) {
		const uint64_t of_ns = SECOND / 2 * 2;

		s->now_ns += 10 * SECOND;
		switch (budget_counted(&s->b, s->now_ns,
				       (uint64_t)(cost * (double)of_ns) >> s->b.step, of_ns,
				       0.01)) {
		case BUDGET_RARER:
			s->rarer++;
			break;
		case BUDGET_OFTENER:
			s->oftener++;
			break;
		case BUDGET_SAME:
			break;
		}
	}
}

TEST(programs_that_cost_too_much_twice_in_a_row_look_at_half)
{
	struct scene s = { .b = { .patience = 1 } };

	run(&s, 30, 0.001);
	run(&s, 20, 0.3); /* once */
	run(&s, 100, 0.001);
	CHECK_EQ(s.b.step, 0);
	run(&s, 60, 0.015);
	CHECK_EQ(s.b.step, 1);
	CHECK_EQ(s.rarer, 1);
	run(&s, 3600, 0.015); /* 0.75 % now: it does not swing */
	CHECK_EQ(s.b.step, 1);
	CHECK_EQ(s.oftener, 0);
}

TEST(a_look_without_counts_decides_nothing)
{
	struct scene s = { .b = { .patience = 1 } };

	run(&s, 60, 0.03);
	CHECK_EQ(s.b.step, 1);
	for (int i = 0; i < 1000; i++)
		CHECK_EQ(budget_counted(&s.b, s.now_ns += 10 * SECOND, 0, 0, 0.01), BUDGET_SAME);
	CHECK_EQ(s.b.step, 1);
}

TEST(programs_process_all_again_when_the_load_is_over)
{
	struct scene s = { .b = { .patience = 1 } };

	run(&s, 600, 0.1);
	CHECK_EQ(s.b.step, 4); /* 10 % / 16 */
	run(&s, 4 * (BUDGET_CALM_S + 2 * BUDGET_LOOK_S), 0.0001);
	CHECK_EQ(s.b.step, 0);
	CHECK_EQ(s.oftener, 4);
}

TEST(a_look_has_the_configured_length)
{
	struct scene s = { .b = { .look_s = 4 }, .cost = 0.07 };

	play(&s, 20);
	CHECK_EQ(s.b.step, 2);
	s.cost = 0.001;
	play(&s, 2 * (BUDGET_CALM_LOOKS + 2) * 4 + 8);
	CHECK_EQ(s.b.step, 0);
}

TEST(no_limit_is_no_limit)
{
	struct budget b = { 0 };

	for (uint64_t t = 1; t < 200; t++)
		CHECK_EQ(budget_took(&b, t * 2 * SECOND, SECOND, 0), BUDGET_SAME);
	CHECK_EQ(b.step, 0);
}
