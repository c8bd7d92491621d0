// SPDX-License-Identifier: Apache-2.0
#include "probe/event/token_bucket.h"
#include "tests/lib/test.h"

#define SEC 1000000000ull

static uint32_t taken(struct token_bucket *a, double per_minute, uint32_t tries, uint64_t now_ns)
{
	uint32_t n = 0;

	while (tries--)
		n += token_bucket_take(a, per_minute, now_ns);
	return n;
}

TEST(after_a_quiet_time_ten_minutes_worth_is_allowed_at_once)
{
	struct token_bucket a = { 0 };

	CHECK_EQ(taken(&a, 60, 10000, 5 * SEC), 600);
	CHECK_EQ(taken(&a, 60, 10000, 5 * SEC), 0);
	CHECK_EQ(taken(&a, 60, 10000, 10000 * SEC), 600);
}

TEST(a_lasting_flood_is_limited_to_the_rate)
{
	struct token_bucket a = { 0 };
	uint32_t n = 0;

	taken(&a, 60, 10000, SEC);
	for (uint64_t ms = 1000; ms < 61000; ms += 10)
		n += token_bucket_take(&a, 60, ms * 1000000);
	CHECK_EQ(n, 59);
}

TEST(a_clock_that_stands_still_or_goes_back_adds_no_tokens)
{
	struct token_bucket a = { 0 };

	taken(&a, 60, 10000, 100 * SEC);
	CHECK_EQ(taken(&a, 60, 10, 100 * SEC), 0);
	CHECK_EQ(taken(&a, 60, 10, 50 * SEC), 0);
}

TEST(a_rate_of_0_is_no_limit)
{
	struct token_bucket a = { 0 };

	CHECK_EQ(taken(&a, 0, 10000, SEC), 10000);
}
