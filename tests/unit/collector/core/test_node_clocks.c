// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/core/node_clocks.h"

#define SEC 1000000000ull

static const uint64_t NOW = 1800000000 * SEC;

TEST(without_nodes_no_time_is_known)
{
	AUTO(node_clocks_free) struct node_clocks *c = node_clocks_new();

	CHECK_EQ(node_clocks_median(c, SEC), 0);
}

TEST(the_median_of_the_nodes_runs_on)
{
	AUTO(node_clocks_free) struct node_clocks *c = node_clocks_new();

	node_clocks_hear(c, 1, NOW, 100 * SEC, true);
	CHECK_EQ(node_clocks_median(c, 100 * SEC), NOW);
	node_clocks_hear(c, 2, NOW + SEC, 100 * SEC, true);
	node_clocks_hear(c, 3, 7, 100 * SEC, true); /* set to 1970 */
	CHECK_EQ(node_clocks_median(c, 100 * SEC), NOW);
	CHECK_EQ(node_clocks_median(c, 160 * SEC), NOW + 60 * SEC);
	CHECK_EQ(node_clocks_median(c, 701 * SEC), 0); /* long not heard */
}

TEST(batches_that_waited_do_not_set_a_clock_back)
{
	AUTO(node_clocks_free) struct node_clocks *c = node_clocks_new();

	node_clocks_hear(c, 1, NOW, 100 * SEC, true);
	node_clocks_hear(c, 1, NOW - 86400 * SEC, 101 * SEC, false);
	CHECK_EQ(node_clocks_median(c, 101 * SEC), NOW + SEC);
}

TEST(a_clock_that_is_set_counts_within_ten_minutes_and_at_once_by_a_hello)
{
	AUTO(node_clocks_free) struct node_clocks *c = node_clocks_new();
	const uint64_t ahead = 86400 * SEC;

	node_clocks_hear(c, 1, NOW, 0, true);
	node_clocks_hear(c, 1, NOW + ahead, SEC, false);
	CHECK_EQ(node_clocks_median(c, 2 * SEC), NOW + ahead + SEC);
	for (uint64_t s = 10; s <= 620; s += 10)
		node_clocks_hear(c, 1, NOW + s * SEC, s * SEC, false);
	CHECK_EQ(node_clocks_median(c, 620 * SEC), NOW + 620 * SEC);
	node_clocks_hear(c, 1, NOW - ahead, 630 * SEC, true);
	CHECK_EQ(node_clocks_median(c, 630 * SEC), NOW - ahead);
}
