// SPDX-License-Identifier: Apache-2.0
#include "lib/uplink/offset.h"
#include "tests/lib/test.h"

#define MS 1000000ull
#define SEC (1000 * MS)

/* Two hosts and what lies between them; true time is ours when our clock is not off. */
struct world {
	struct offset o;
	uint64_t now_ns; /* true */
	int64_t ours_ns, theirs_ns; /* by how much the clocks are ahead */
	uint64_t there_ns, back_ns, stores_ns; /* how long the ways take, and the answer */
	struct exchange last;
	struct clock_item reported;
	int reports;
};

static struct world world(void)
{
	return (struct world){
		.now_ns = 1760000000 * SEC, .there_ns = MS, .back_ns = MS, .stores_ns = 20 * MS
	};
}

static uint64_t by(const struct world *w, int64_t ahead_ns)
{
	return w->now_ns + (uint64_t)ahead_ns;
}

static bool ask(struct world *w)
{
	struct exchange *x = &w->last;

	x->sent_ns = by(w, w->ours_ns);
	w->now_ns += w->there_ns;
	x->received_ns = by(w, w->theirs_ns);
	w->now_ns += w->stores_ns;
	x->answered_ns = by(w, w->theirs_ns);
	w->now_ns += w->back_ns;
	x->heard_ns = by(w, w->ours_ns);
	x->mono_ns = w->now_ns;
	if (!offset_add(&w->o, x))
		return false;
	if (offset_news(&w->o, x, &w->reported))
		w->reports++;
	return true;
}

static void ask_often(struct world *w, int n)
{
	for (int i = 0; i < n; i++) {
		ask(w);
		w->now_ns += 2 * SEC;
	}
}

/* What was reported holds: the truth is within the uncertainty. */
static bool is_true(const struct world *w)
{
	int64_t off = w->reported.offset_us - (w->theirs_ns - w->ours_ns) / 1000;

	return (uint64_t)(off < 0 ? -off : off) <= w->reported.uncertainty_us;
}

TEST(the_offset_is_reported_with_the_first_exchange)
{
	struct world w = world();

	w.ours_ns = 5 * (int64_t)SEC;
	CHECK(ask(&w));
	CHECK_EQ(w.reports, 1);
	CHECK(w.reported.offset_us == -5000000);
	CHECK(w.reported.uncertainty_us >= 1000 && w.reported.uncertainty_us < 1100);
	CHECK_EQ(w.reported.since_ns, w.last.heard_ns);
}

TEST(how_long_the_answer_was_made_makes_nothing_uncertain)
{
	struct world w = world();

	w.stores_ns = 30 * SEC;
	CHECK(ask(&w));
	CHECK(is_true(&w) && w.reported.uncertainty_us < 1100);
}

TEST(however_unlike_both_ways_are_the_truth_is_within_the_uncertainty)
{
	for (uint64_t there = 0; there <= 100; there += 5) {
		struct world w = world();

		w.there_ns = there * MS;
		w.back_ns = (100 - there) * MS;
		w.theirs_ns = -65 * (int64_t)SEC;
		CHECK(ask(&w));
		CHECK(is_true(&w));
		CHECK(w.reported.uncertainty_us >= 50000 && w.reported.uncertainty_us < 50100);
	}
}

TEST(of_the_last_few_the_one_with_the_least_delay_counts)
{
	struct world w = world();

	w.there_ns = 80 * MS;
	ask_often(&w, 3);
	CHECK_EQ(w.reports, 1);
	CHECK(w.reported.uncertainty_us > 40000);
	w.there_ns = MS;
	ask_often(&w, 1);
	CHECK_EQ(w.reports, 2);
	CHECK(is_true(&w) && w.reported.uncertainty_us < 1100);
	w.there_ns = 80 * MS;
	ask_often(&w, 20);
	CHECK_EQ(w.reports, 2);
}

TEST(a_clock_step_is_reported_with_the_next_exchange)
{
	static const int64_t steps[] = { 60, -60, -3600, 1 };

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct world w = world();
		uint64_t before;

		ask_often(&w, 10);
		before = w.last.mono_ns;
		w.ours_ns += steps[i] * (int64_t)SEC;
		CHECK(ask(&w));
		CHECK_EQ(w.reports, 2);
		CHECK(is_true(&w) && w.reported.uncertainty_us < 1100);
		/* by the clock that was set: no later than it was, and not before the last look */
		CHECK_EQ(w.reported.since_ns, w.last.heard_ns - (w.last.mono_ns - before));
		ask_often(&w, 20);
		CHECK_EQ(w.reports, 2);
	}
}

TEST(a_step_of_the_other_clock_is_reported_too)
{
	struct world w = world();

	ask_often(&w, 10);
	w.theirs_ns = -3 * (int64_t)SEC;
	ask_often(&w, 1);
	CHECK_EQ(w.reports, 2);
	CHECK(is_true(&w));
}

TEST(a_clock_step_during_an_exchange_gives_no_wrong_offset)
{
	struct world w = world();
	struct exchange x;

	ask_often(&w, 1);
	x = w.last;
	x.heard_ns -= 60 * SEC;
	CHECK(!offset_add(&w.o, &x));
	x = w.last;
	x.answered_ns -= 60 * SEC;
	CHECK(!offset_add(&w.o, &x));
	x = w.last;
	x.answered_ns += 60 * SEC;
	CHECK(!offset_add(&w.o, &x));
	x = w.last;
	x.heard_ns += 60 * SEC;
	CHECK(offset_add(&w.o, &x));
	CHECK(!offset_news(&w.o, &x, &w.reported));
}

TEST(numbers_that_no_clock_has_do_no_harm)
{
	struct world w = world();
	struct exchange x;

	ask_often(&w, 1);
	x = w.last;
	x.received_ns = 0;
	x.answered_ns = INT64_MAX;
	CHECK(!offset_add(&w.o, &x));
	x = w.last;
	x.received_ns = x.answered_ns = INT64_MAX;
	CHECK(offset_add(&w.o, &x));
	CHECK(offset_news(&w.o, &x, &w.reported));
	CHECK(w.reported.offset_us > 0);
}

TEST(a_drifting_clock_is_reported_when_its_offset_has_changed)
{
	struct world w = world();

	for (int i = 0; i < 1000; i++) { /* 20 ppm, as of 2 s each */
		ask_often(&w, 1);
		w.ours_ns += 40000;
	}
	CHECK(w.reports >= 10 && w.reports <= 50);
	w.reported.uncertainty_us += 3000; /* till it is certain that it is another */
	CHECK(is_true(&w));
}

TEST(an_unchanged_offset_is_reported_once_an_hour)
{
	struct world w = world();

	ask_often(&w, 1750);
	CHECK_EQ(w.reports, 1);
	ask_often(&w, 50);
	CHECK_EQ(w.reports, 2);
	CHECK(w.reported.since_ns > 1760000000 * SEC + 3500 * SEC);
}

TEST(a_forgotten_offset_is_reported_again)
{
	struct world w = world();

	ask_often(&w, 3);
	CHECK_EQ(w.reports, 1);
	offset_forget(&w.o);
	ask_often(&w, 1);
	CHECK_EQ(w.reports, 2);
	CHECK(is_true(&w));
}
