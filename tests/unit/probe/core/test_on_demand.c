// SPDX-License-Identifier: Apache-2.0
#include "probe/core/on_demand.h"
#include "probe/source/sources.h"
#include "tests/lib/test.h"

TEST(a_list_names_what_is_asked_for)
{
	CHECK(on_demand_asked("vfs", "vfs"));
	CHECK(on_demand_asked("locks, vfs", "vfs"));
	CHECK(on_demand_asked("all", "vfs"));
	CHECK(!on_demand_asked("", "vfs"));
	CHECK(!on_demand_asked("vfsx,vf", "vfs"));
}

TEST(what_is_always_measured_is_not_among_them)
{
	CHECK(on_demand_is("vfs"));
	CHECK(!on_demand_is("proc"));
	CHECK(!on_demand_is("all"));
	CHECK(!on_demand_is(""));
}

TEST(a_list_of_anything_else_is_refused)
{
	CHECK(on_demand_known(""));
	CHECK(on_demand_known("all"));
	CHECK(on_demand_known("vfs,vfs,"));
	CHECK(!on_demand_known("proc"));
	CHECK(!on_demand_known("vfs,nothing"));
}

TEST(all_of_them_are_a_list_that_is_known)
{
	char all[256], little[6];

	on_demand_names(all, sizeof(all));
	CHECK(all[0] && on_demand_known(all));
	for (size_t i = 0; i < sources_count(); i++)
		CHECK_EQ(on_demand_asked(all, sources_at(i)->name),
			 on_demand_is(sources_at(i)->name));
	on_demand_names(little, sizeof(little));
	CHECK(memchr(little, 0, sizeof(little)));
}

/* Of a source's own line: why it is off, and that nobody minds. */
TEST(what_nobody_asked_for_is_off_and_says_how_to_ask)
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
		CHECK_EQ(sources_required(i, &all), !sources_at(i)->of_hardware);
	}
}
