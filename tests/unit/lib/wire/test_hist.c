// SPDX-License-Identifier: Apache-2.0
#include "lib/wire/hist.h"
#include "lib/wire/item.h"
#include "tests/lib/test.h"

TEST(a_value_at_a_power_of_two_belongs_to_the_slot_below)
{
	CHECK_EQ(hist_slot(0), 0);
	CHECK_EQ(hist_slot(1), 0);
	CHECK_EQ(hist_slot(2), 1);
	for (uint32_t i = 1; i < ITEM_MAX_SLOTS - 1; i++) {
		uint64_t edge = UINT64_C(1) << i;

		CHECK_EQ(hist_slot(edge), i);
		CHECK_EQ(hist_slot(edge + 1), i + 1);
		CHECK_EQ(hist_slot(edge / 2 + 1), i);
	}
}

TEST(the_last_slot_takes_everything_above)
{
	CHECK_EQ(hist_slot(UINT64_C(1) << 39), ITEM_MAX_SLOTS - 1);
	CHECK_EQ(hist_slot((UINT64_C(1) << 39) + 1), ITEM_MAX_SLOTS - 1);
	CHECK_EQ(hist_slot(UINT64_MAX), ITEM_MAX_SLOTS - 1);
}

TEST(an_empty_histogram_has_no_quantile)
{
	static struct hist h;

	CHECK_EQ(hist_quantile(&h, 0.5), 0);
}

TEST(a_quantile_is_not_below_the_value_and_at_most_a_sixteenth_above)
{
	uint64_t v = 0;

	while (v < UINT64_C(1) << 40) {
		struct hist h = { 0 };
		uint64_t q;

		hist_add(&h, v);
		q = hist_quantile(&h, 0.5);
		CHECK(q >= v && q <= v + v / 16);
		CHECK_EQ(hist_quantile(&h, 0), q);
		CHECK_EQ(hist_quantile(&h, 1), q);
		v = v < 100 ? v + 1 : v + v / 7 + 1;
	}
}

TEST(what_is_above_its_range_counts_as_its_largest)
{
	struct hist h = { 0 };

	hist_add(&h, UINT64_MAX);
	CHECK_EQ(hist_quantile(&h, 0.5), (UINT64_C(1) << 40) - 1);
}

TEST(small_values_are_exact_and_ranks_are_right)
{
	struct hist h = { 0 };

	for (uint64_t v = 1; v <= 20; v++)
		hist_add(&h, v);
	CHECK_EQ(hist_quantile(&h, 0), 1);
	CHECK_EQ(hist_quantile(&h, 0.05), 1);
	CHECK_EQ(hist_quantile(&h, 0.5), 10);
	CHECK_EQ(hist_quantile(&h, 0.51), 11);
	CHECK_EQ(hist_quantile(&h, 0.95), 19);
	CHECK_EQ(hist_quantile(&h, 1), 20);
}

TEST(halving_keeps_the_quantiles_and_even_a_thin_tail)
{
	struct hist h = { 0 };

	/* 2 % of them spread thinly: about one in each of many slots */
	for (uint32_t i = 0; i < HIST_WINDOW - 1; i++)
		hist_add(&h, i % 50 ? 1000 : 100000 + i * 1000ull);
	CHECK_EQ(h.count, HIST_WINDOW - 1);
	hist_add(&h, 1000);
	CHECK_EQ(h.count, HIST_WINDOW / 2);
	CHECK_EQ(hist_quantile(&h, 0.5) / 100, 10);
	CHECK(hist_quantile(&h, 0.99) > 20000000 && hist_quantile(&h, 0.99) < 50000000);
}

TEST(a_histogram_follows_a_change)
{
	struct hist h = { 0 };

	for (int i = 0; i < 10 * HIST_WINDOW; i++)
		hist_add(&h, 100);
	for (int i = 0; i < HIST_WINDOW; i++)
		hist_add(&h, 10000);
	CHECK(hist_quantile(&h, 0.5) >= 10000);
}

TEST(what_a_histogram_counts_is_what_its_slots_hold)
{
	struct hist h = { 0 };
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 3 * HIST_WINDOW; i++)
		hist_add(&h, i * 977ull % 100003);
	for (uint32_t i = 0; i < HIST_SLOTS; i++)
		sum += h.b[i];
	CHECK_EQ(sum, h.count);
}

TEST(what_is_merged_and_above_a_limit_counts_as_the_limit)
{
	static struct hist h, from;

	hist_add(&from, 10);
	hist_add(&from, 5000);
	hist_add(&from, 900000);
	hist_merge(&h, &from, 8000);
	CHECK_EQ(h.count, 3);
	CHECK_EQ(hist_quantile(&h, 0.3), 10);
	CHECK(hist_quantile(&h, 0.6) < 5400);
	CHECK(hist_quantile(&h, 1) >= 8000 && hist_quantile(&h, 1) <= 8500);
}
