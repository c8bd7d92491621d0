// SPDX-License-Identifier: Apache-2.0
/* Episodes of waiting in virtual time: their start, their end, and the learnt limit. */
#include <math.h>

#include "probe/event/episode.h"
#include "tests/lib/test.h"

#define S 1000000000ull
#define MINUTE 60
#define HOUR 3600
#define DAY (24 * HOUR)

struct play {
	struct episode e;
	uint64_t now_ns;
	int seen[EPISODE_ENDS + 1];
	double opened_s, ended_s; /* the last time */
};

static struct play with_floor(double floor)
{
	struct play p = { .now_ns = 1000 * S };

	episode_init(&p.e, floor);
	episode_step(&p.e, 0, p.now_ns);
	return p;
}

static double clock_s(const struct play *p)
{
	return (double)p->now_ns / 1e9;
}

static void step(struct play *p, double share)
{
	enum episode_is is;

	p->now_ns += S / 2;
	is = episode_step(&p->e, share, p->now_ns);
	p->seen[is]++;
	if (is == EPISODE_OPENS || is == EPISODE_REOPENS)
		p->opened_s = clock_s(p);
	if (is == EPISODE_ENDS)
		p->ended_s = clock_s(p);
}

static void last(struct play *p, double share, double seconds)
{
	for (double s = 0; s < seconds; s += 0.5)
		step(p, share);
}

TEST(a_fault_opens_within_two_seconds_and_ends_some_seconds_after_it)
{
	struct play p = with_floor(0.3);
	double began, over;

	last(&p, 0.02, 10 * MINUTE);
	began = clock_s(&p);
	last(&p, 0.9, 20);
	over = clock_s(&p);
	CHECK_EQ(p.seen[EPISODE_OPENS], 1);
	CHECK(p.opened_s - began <= 2);
	last(&p, 0.02, MINUTE);
	CHECK_EQ(p.seen[EPISODE_ENDS], 1);
	CHECK(p.ended_s - over >= 5 && p.ended_s - over <= 10);
	CHECK(fabs((double)p.e.start_ns / 1e9 - began) < 0.01);
	CHECK(fabs((double)p.e.last_high_ns / 1e9 - over) < 0.01);
	CHECK(fabs(p.e.waited_s / p.e.of_s - 0.9) < 0.1);
	CHECK_EQ(p.e.reports, 2);
}

TEST(a_share_just_above_the_limit_opens_and_one_below_it_never_does)
{
	struct play p = with_floor(0.3), q = with_floor(0.3);

	last(&p, 0.36, 4);
	CHECK_EQ(p.seen[EPISODE_OPENS], 1);
	last(&q, 0.29, 10 * MINUTE);
	CHECK_EQ(q.seen[EPISODE_OPENS], 0);
}

TEST(a_burst_of_a_second_is_no_fault)
{
	struct play p = with_floor(0.3);

	for (int i = 0; i < 100; i++) {
		last(&p, 1, 1);
		last(&p, 0, 4);
	}
	CHECK_EQ(p.seen[EPISODE_OPENS], 0);
}

TEST(an_ongoing_episode_is_reported_at_growing_intervals)
{
	struct play p = with_floor(0.3);

	last(&p, 1, HOUR);
	CHECK_EQ(p.seen[EPISODE_OPENS], 1);
	/* after 30 s, 90, 210, 450, 930, 1530, 2130, 2730, 3330 */
	CHECK_EQ(p.seen[EPISODE_GOES_ON], 9);
	CHECK_EQ(p.e.reports, 10);
	CHECK_EQ(p.seen[EPISODE_ENDS], 0);
}

TEST(flickering_is_one_event_that_ends_when_it_is_quiet)
{
	struct play p = with_floor(0.3);

	for (int i = 0; i < 30 * MINUTE / 16;
	     i++) { /* half an hour of a fault that comes and goes */
		last(&p, 1, 6);
		last(&p, 0, 10);
	}
	CHECK_EQ(p.seen[EPISODE_OPENS], 1);
	CHECK(p.seen[EPISODE_REOPENS] <= 2);
	CHECK(p.e.reports <= 15);
	last(&p, 0, 10 * MINUTE);
	CHECK(!p.e.open);
	CHECK_EQ(p.seen[EPISODE_ENDS], p.seen[EPISODE_OPENS] + p.seen[EPISODE_REOPENS]);
}

TEST(an_episode_that_returns_soon_is_the_same_and_later_a_new_one)
{
	struct play p = with_floor(0.3);
	uint64_t start_ns;

	last(&p, 1, 10);
	start_ns = p.e.start_ns;
	last(&p, 0, 2 * MINUTE);
	last(&p, 1, 10);
	CHECK_EQ(p.seen[EPISODE_REOPENS], 1);
	CHECK(p.e.start_ns == start_ns);
	CHECK_EQ(p.e.times, 2);
	CHECK_EQ(p.e.reports, 3);
	last(&p, 0, 10 * MINUTE);
	last(&p, 1, 10);
	CHECK_EQ(p.seen[EPISODE_OPENS], 2);
	CHECK(p.e.start_ns > start_ns);
	CHECK_EQ(p.e.reports, 1);
}

TEST(the_usual_share_is_learnt_and_forgotten_slowly)
{
	struct play p = with_floor(0.3);

	for (int i = 0; i < 8 * HOUR / 20; i++) { /* a node that is always in and out of it */
		last(&p, 0.28, 15);
		last(&p, 0.1, 5);
	}
	CHECK(episode_limit(&p.e) > 0.42);
	last(&p, 0.35, 10 * MINUTE);
	CHECK_EQ(p.seen[EPISODE_OPENS], 0);
	last(&p, 0.9, 10);
	CHECK_EQ(p.seen[EPISODE_OPENS], 1);
	last(&p, 0, MINUTE);
	last(&p, 0, 2 * DAY);
	CHECK(episode_limit(&p.e) == 0.3);
}

TEST(nothing_is_learnt_during_a_fault)
{
	struct play p = with_floor(0.3);
	double usual;

	last(&p, 0.05, HOUR);
	usual = p.e.usual;
	last(&p, 1, 20 * HOUR);
	CHECK(p.e.open);
	last(&p, 0.05, MINUTE);
	CHECK(!p.e.open);
	CHECK(fabs(p.e.usual - usual) < 0.001);
	CHECK(episode_limit(&p.e) == 0.3);
}

TEST(a_level_that_lasts_for_a_day_becomes_usual)
{
	struct play p = with_floor(0.3);

	last(&p, 0.7, DAY + 10);
	CHECK_EQ(p.seen[EPISODE_ENDS], 1);
	last(&p, 0.7, DAY);
	CHECK_EQ(p.seen[EPISODE_OPENS] + p.seen[EPISODE_REOPENS], 1);
	last(&p, 1, 30);
	CHECK_EQ(p.seen[EPISODE_OPENS], 2);
}

TEST(an_unknown_share_opens_nothing_and_counts_once_it_is_known)
{
	struct play p = with_floor(0.4);
	double began = clock_s(&p);

	last(&p, NAN, 30);
	CHECK_EQ(p.seen[EPISODE_OPENS], 0);
	step(&p, 0);
	CHECK_EQ(p.e.high_ns, 0);
	last(&p, NAN, 1);
	step(&p, 0.9);
	CHECK_EQ(p.seen[EPISODE_OPENS], 1);
	CHECK(clock_s(&p) - began <= 33);
}

TEST(a_long_step_opens_by_the_share_waited_in_it)
{
	struct play p = with_floor(0.3);

	p.now_ns += HOUR * S;
	step(&p, 0.01); /* of that hour */
	CHECK_EQ(p.seen[EPISODE_OPENS], 0);
	p.now_ns += 10 * S;
	step(&p, 1);
	CHECK_EQ(p.seen[EPISODE_OPENS], 1);
}
