// SPDX-License-Identifier: Apache-2.0
#include "probe/source/pmu.h"

#include <math.h>

#include "probe/core/source.h"
#include "tests/lib/test.h"

TEST(counts_since_the_last_read_are_added)
{
	const uint64_t first[PMU_WORDS] = { 3, 1000, 1000, 500, 700, 10 },
		       then[PMU_WORDS] = { 3, 3000, 3000, 1500, 2700, 15 };
	double sum[PMU_COUNTERS] = { 1, 1, 1 };
	struct pmu_cpu c = { 0 };

	CHECK(!pmu_add(&c, first, sum)); /* counted since boot, or by another user */
	CHECK_EQ(sum[PMU_CYCLES], 1);
	CHECK(pmu_add(&c, then, sum));
	CHECK_EQ(sum[PMU_CYCLES], 1001);
	CHECK_EQ(sum[PMU_INSTRUCTIONS], 2001);
	CHECK_EQ(sum[PMU_MISSES], 6);
}

TEST(counts_of_a_shared_group_are_scaled)
{
	const uint64_t first[PMU_WORDS] = { 3, 0, 0, 0, 0, 0 },
		       then[PMU_WORDS] = { 3, 4000, 1000, 100, 200, 3 };
	double sum[PMU_COUNTERS] = { 0 };
	struct pmu_cpu c = { 0 };

	pmu_add(&c, first, sum);
	CHECK(pmu_add(&c, then, sum));
	CHECK_EQ(sum[PMU_CYCLES], 400);
	CHECK_EQ(sum[PMU_INSTRUCTIONS], 800);
	CHECK_EQ(sum[PMU_MISSES], 12);
	CHECK(!pmu_add(&c, then, sum)); /* other users had the counters all the time */
	CHECK_EQ(sum[PMU_CYCLES], 400);
}

TEST(missing_counters_are_reported_and_nothing_is_made_up)
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
		CHECK(isnan(v[i])); /* the first read has no interval */
}
