// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/core/clock_check.h"
#include "collector/core/counters.h"

enum { NOW = 1800000000, H = 3600, DAY = 86400, YEAR = 365 * DAY };

/* Times in seconds after NOW; NONE: not known. */
enum { NONE = -NOW };

static struct clock_times of(int collector, int database, int nodes, int past, int newest)
{
	return (struct clock_times){ NOW + collector, NOW + database, NOW + nodes, NOW + past,
				     NOW + newest };
}

TEST(retention_is_held_while_clocks_or_rows_are_more_than_an_hour_apart)
{
	static const struct {
		int collector, database, nodes, past, newest;
		enum clock_fault fault;
	} cases[] = {
		{ 0, 0, 0, -10, -10, CLOCK_OK },
		{ 0, 0, NONE, -10, -10, CLOCK_OK },
		{ 0, 0, NONE, NONE, NONE, CLOCK_OK }, /* nothing is stored */
		{ H, 0, 0, 0, 0, CLOCK_OK },
		{ H + 1, 0, 0, 0, 0, CLOCK_DATABASE },
		{ 0, H + 1, 0, 0, 0, CLOCK_DATABASE },
		{ -40 * DAY, 0, 0, 0, 0, CLOCK_DATABASE },
		{ 40 * DAY, 40 * DAY, 0, 0, 0, CLOCK_NODES },
		{ -40 * DAY, -40 * DAY, 0, -41 * DAY, 0, CLOCK_NODES },
		{ YEAR, YEAR, 0, 0, 0, CLOCK_NODES },
		{ 0, 0, 2 * H, 0, 0, CLOCK_NODES },
		/* at a start no node was heard yet */
		{ 40 * DAY, 40 * DAY, NONE, 0, 0, CLOCK_AHEAD },
		{ YEAR, YEAR, NONE, 0, 0, CLOCK_AHEAD },
		{ -40 * DAY, -40 * DAY, NONE, -40 * DAY, 0, CLOCK_BEHIND },
		{ -40 * DAY, -40 * DAY, NONE, NONE, 0, CLOCK_BEHIND },
		{ 0, 0, NONE, -H, -H, CLOCK_OK },
		{ 0, 0, NONE, -H - 1, -H - 1, CLOCK_AHEAD },
		/* nodes are heard, and their rows wait */
		{ 0, 0, 0, -40 * DAY, -40 * DAY, CLOCK_AHEAD },
		/* rows of a time when a clock was ahead do not hold it for as long */
		{ 0, 0, 0, -10, 40 * DAY, CLOCK_OK },
		{ 0, 0, NONE, -10, 40 * DAY, CLOCK_BEHIND },
		{ 0, 0, 0, NONE, 40 * DAY, CLOCK_BEHIND },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct clock_times t = of(cases[i].collector, cases[i].database, cases[i].nodes,
					  cases[i].past, cases[i].newest);

		if (clock_check(&t) != cases[i].fault)
			printf("    case %zu: %s\n", i, clock_fault_name(clock_check(&t)));
		CHECK_EQ(clock_check(&t), cases[i].fault);
	}
}

TEST(days_are_counted_from_the_earliest_clock)
{
	struct clock_times t = of(40 * DAY, 0, 5, -10, 90);

	CHECK_EQ(clock_earliest(&t), NOW - 10);
	t = of(-DAY, 0, 5, -10, 90);
	CHECK_EQ(clock_earliest(&t), NOW - DAY);
	t = of(NONE, 0, NONE, NONE, NONE);
	CHECK_EQ(clock_earliest(&t), NOW);
	CHECK_EQ(clock_apart_s(&t), 0);
	t = of(0, 40 * DAY, 0, -10, -10);
	CHECK_EQ(clock_apart_s(&t), 40 * DAY + 10);
}

TEST(rows_go_by_another_time_where_the_clock_of_the_database_is_far_off)
{
	static const struct {
		int collector, database, nodes, newest, other;
	} cases[] = {
		{ 0, 0, 0, 0, NONE },
		{ 0, DAY, 0, 0, NONE }, /* its days have partitions */
		{ -40 * DAY, -40 * DAY, 0, -10, 0 },
		{ YEAR, YEAR, 0, -10, 0 },
		{ 0, 40 * DAY, 0, -10, 0 },
		{ 40 * DAY, 40 * DAY, NONE, -10, -10 }, /* no node was heard yet */
		{ 0, 0, 0, -40 * DAY, NONE }, /* nothing was stored for 40 days */
		{ 0, 0, -40 * DAY, -10, NONE }, /* the node is wrong */
		{ 0, 0, 40 * DAY, -10, NONE },
		{ 0, -40 * DAY, 0, NONE, 0 }, /* no rows: two of three */
		{ -40 * DAY, -40 * DAY, 0, NONE, NONE },
		{ 0, 0, NONE, NONE, NONE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct clock_times t = of(cases[i].collector, cases[i].database, cases[i].nodes,
					  cases[i].newest, cases[i].newest);

		CHECK_EQ(clock_other(&t) - NOW, cases[i].other);
	}
}

TEST(retention_goes_on_an_hour_after_the_clocks_agree)
{
	struct clock_hold h = { 0 };

	CHECK(clock_hold_drops(&h, 1));
	CHECK(!clock_hold_step(&h, CLOCK_OK, 1));
	CHECK(clock_hold_drops(&h, 1));
	CHECK(clock_hold_step(&h, CLOCK_NODES, 10));
	CHECK(!clock_hold_drops(&h, 10));
	CHECK(!clock_hold_step(&h, CLOCK_NODES, 20));
	CHECK(clock_hold_step(&h, CLOCK_DATABASE, 30));
	CHECK(clock_hold_step(&h, CLOCK_OK, 40));
	CHECK(!clock_hold_drops(&h, 40 + CLOCK_SETTLE_S - 1));
	CHECK(clock_hold_drops(&h, 40 + CLOCK_SETTLE_S));
}

TEST(no_hold_lasts_longer_than_a_day)
{
	struct clock_hold h = { 0 };

	clock_hold_step(&h, CLOCK_BEHIND, 5);
	clock_hold_step(&h, CLOCK_NODES, CLOCK_HOLD_S);
	CHECK(!clock_hold_drops(&h, 4 + CLOCK_HOLD_S));
	CHECK(clock_hold_drops(&h, 5 + CLOCK_HOLD_S));
}

TEST(a_hold_is_published_with_its_cause)
{
	CHECK_EQ(clock_published(), CLOCK_OK);
	clock_publish(CLOCK_NODES);
	CHECK_STR(clock_fault_name(clock_published()), "nodes");
	clock_publish(CLOCK_OK);
	CHECK_EQ(clock_published(), CLOCK_OK);
}

TEST(a_hold_is_a_member_of_json_with_its_size)
{
	struct buf out = { 0 };

	clock_put_hold(&out);
	CHECK_EQ(out.len, 0);
	counter_set(C_CLOCK_APART, 7200);
	clock_publish(CLOCK_DATABASE);
	clock_put_hold(&out);
	buf_put(&out, "", 1);
	CHECK_STR((const char *)out.data,
		  ",\"retention\":{\"held\":\"database\",\"apartSeconds\":7200}");
	clock_publish(CLOCK_OK);
	buf_free(&out);
}
