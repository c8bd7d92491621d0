// SPDX-License-Identifier: Apache-2.0
#include "probe/source/pmu.h"

#include <math.h>

#include "probe/core/source.h"
#include "tests/lib/test.h"

TEST(what_a_group_counted_since_the_last_look_is_added)
{
	const uint64_t first[PMU_WORDS] = { 3, 1000, 1000, 500, 700, 10 },
		       then[PMU_WORDS] = { 3, 3000, 3000, 1500, 2700, 15 };
	double sum[PMU_COUNTERS] = { 1, 1, 1 };
	struct pmu_cpu c = { 0 };

	CHECK(!pmu_take(&c, first,
			sum)); /* counted since the machine began, or somebody else did */
	CHECK_EQ(sum[PMU_CYCLES], 1);
	CHECK(pmu_take(&c, then, sum));
	CHECK_EQ(sum[PMU_CYCLES], 1001);
	CHECK_EQ(sum[PMU_INSTRUCTIONS], 2001);
	CHECK_EQ(sum[PMU_MISSES], 6);
}

TEST(a_group_that_shared_its_counters_is_taken_to_have_gone_on_alike)
{
	const uint64_t first[PMU_WORDS] = { 3, 0, 0, 0, 0, 0 },
		       then[PMU_WORDS] = { 3, 4000, 1000, 100, 200, 3 };
	double sum[PMU_COUNTERS] = { 0 };
	struct pmu_cpu c = { 0 };

	pmu_take(&c, first, sum);
	CHECK(pmu_take(&c, then, sum));
	CHECK_EQ(sum[PMU_CYCLES], 400);
	CHECK_EQ(sum[PMU_INSTRUCTIONS], 800);
	CHECK_EQ(sum[PMU_MISSES], 12);
	CHECK(!pmu_take(&c, then, sum)); /* others had the counters all the time */
	CHECK_EQ(sum[PMU_CYCLES], 400);
}

TEST(where_there_are_no_counters_it_says_so_and_where_there_are_nothing_is_made_up)
{
	AUTO(pmu_close) struct pmu *p = NULL;
	char why[WHY_LEN] = "";
	double v[PMU_COUNTERS];
	int r = pmu_open(&p, why);

	CHECK_EQ(r < 0, p == NULL);
	CHECK_EQ(r < 0, why[0] != 0);
	if (r < 0)
		return;
	CHECK_EQ(pmu_read(p, v), 0);
	for (int i = 0; i < PMU_COUNTERS; i++)
		CHECK(isnan(v[i])); /* since when would it be? */
}
