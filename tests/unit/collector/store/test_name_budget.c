// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/store/row/name_budget.h"

static bool take(struct name_counts *c, const char *kind, const char *name)
{
	return name_budget_take(c, name_budget_of(kind, name));
}

static uint32_t churn(struct name_counts *c, const char *before, const char *after, uint32_t n)
{
	char name[160];
	uint32_t taken = 0;

	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s%064x%s", before, i, after);
		taken += take(c, "cgroup", name);
	}
	return taken;
}

TEST(ten_thousand_cgroups_a_day_all_have_names)
{
	struct name_counts c = { 0 };

	CHECK_EQ(churn(&c, "/system.slice/docker-", ".scope", 10000), 10000);
}

TEST(cgroups_that_come_and_go_leave_services_programs_and_disks_theirs)
{
	struct name_counts c = { 0 };

	CHECK_EQ(churn(&c, "/system.slice/docker-", ".scope", 30000),
		 name_budget_most(NAMES_CGROUP));
	CHECK_EQ(churn(&c, "/user.slice/run-r", ".scope", 100), 0);
	CHECK_EQ(churn(&c, "/churn/", "", 100), 0);
	CHECK(take(&c, "cgroup", "/system.slice/new.service"));
	CHECK(take(&c, "app", "new"));
	CHECK(take(&c, "program", "new"));
	CHECK(take(&c, "disk", "nvme7n1"));
	CHECK(take(&c, "files", "new"));
	CHECK(name_budget_take(&c, NAMES_KEY));
}

TEST(each_budget_ends)
{
	struct name_counts c = { 0 };

	for (int of = 0; of < NAMES_END; of++) {
		uint32_t taken = 0;

		while (taken < 100000 && name_budget_take(&c, (enum name_budget)of))
			taken++;
		CHECK_EQ(taken, name_budget_most((enum name_budget)of));
		CHECK(*name_budget_text((enum name_budget)of));
	}
}
