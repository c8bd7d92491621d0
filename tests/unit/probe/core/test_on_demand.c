// SPDX-License-Identifier: Apache-2.0
#include "probe/core/on_demand.h"
#include "probe/source/sources.h"
#include "tests/lib/test.h"

TEST(a_source_is_enabled_by_its_name_or_by_all)
{
	CHECK(on_demand_enabled("vfs", "vfs"));
	CHECK(on_demand_enabled("locks, vfs", "vfs"));
	CHECK(on_demand_enabled("all", "vfs"));
	CHECK(!on_demand_enabled("", "vfs"));
	CHECK(!on_demand_enabled("vfsx,vf", "vfs"));
}

TEST(sources_that_always_run_are_not_on_demand)
{
	CHECK(on_demand_is("vfs"));
	CHECK(!on_demand_is("proc"));
	CHECK(!on_demand_is("all"));
	CHECK(!on_demand_is(""));
}

TEST(a_list_with_an_unknown_word_is_refused)
{
	CHECK(on_demand_known(""));
	CHECK(on_demand_known("all"));
	CHECK(on_demand_known("vfs,vfs,"));
	CHECK(!on_demand_known("proc"));
	CHECK(!on_demand_known("vfs,nothing"));
}

TEST(the_list_of_all_names_is_valid)
{
	char all[256], little[6];

	on_demand_names(all, sizeof(all));
	CHECK(all[0] && on_demand_known(all));
	for (size_t i = 0; i < sources_count(); i++)
		CHECK_EQ(on_demand_enabled(all, sources_at(i)->name),
			 on_demand_is(sources_at(i)->name));
	on_demand_names(little, sizeof(little));
	CHECK(memchr(little, 0, sizeof(little)));
}

/* The reason is the source's own, and a source that is not enabled is not a problem. */
TEST(a_source_that_is_not_enabled_is_off_and_names_the_option)
{
	static const struct probe_config none, all = { .on_demand = "all" };
	char why[WHY_LEN];
	const struct probe_env env = {
		.procfs = "/proc", .sysfs = "/sys", .config = &none, .why = why
	};

	for (size_t i = 0; i < sources_count(); i++) {
		const char *name = sources_at(i)->name;
		char want[WHY_LEN];

		if (!on_demand_is(name))
			continue;
		snprintf(want, sizeof(want), "not asked for: on_demand = %s in probe.conf", name);
		CHECK(sources_try(i, &env, NULL) < 0);
		CHECK_STR(why, want);
		CHECK(!sources_required(i, &none));
		CHECK_EQ(sources_required(i, &all), !sources_at(i)->needs_hardware);
	}
}
