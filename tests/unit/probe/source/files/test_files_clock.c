// SPDX-License-Identifier: Apache-2.0
/* Selection of the clock for slow file operations, by what the kernel has. */
#include <stdlib.h>
#include <sys/stat.h>

#include "probe/source/files/files_clock.h"
#include "probe/core/source.h"
#include "tests/lib/test.h"

#define MS 1000000ull

static struct files_clock c;
static char why[WHY_LEN];

static int choose(const char *wish, uint64_t tick_ns)
{
	return files_clock_choose(wish, tick_ns, "/nowhere", &c, why);
}

TEST(the_tick_is_used_if_it_is_frequent_enough)
{
	CHECK_EQ(choose("auto", 4 * MS), 0);
	CHECK(c.ticks);
	CHECK_EQ(c.period_ns, 4 * MS);
	CHECK_EQ(c.least_ns, 2 * MS);
}

TEST(a_fast_tick_is_not_used_every_time)
{
	CHECK_EQ(choose("auto", 1 * MS), 0);
	CHECK_EQ(c.period_ns, 5 * MS);
	CHECK_EQ(c.least_ns, 4500000);
	CHECK_EQ(choose("auto", 3333333), 0);
	CHECK_EQ(c.period_ns, 3333333);
}

TEST(a_slow_tick_is_only_used_on_request)
{
	CHECK_EQ(choose("auto", 10 * MS), 0);
	CHECK(!c.ticks);
	CHECK_EQ(c.period_ns, 5 * MS);
	CHECK_EQ(choose("tick", 10 * MS), 0);
	CHECK(c.ticks);
	CHECK_EQ(c.period_ns, 10 * MS);
}

TEST(a_timer_can_be_requested)
{
	CHECK_EQ(choose("timer", 4 * MS), 0);
	CHECK(!c.ticks);
}

TEST(without_high_resolution_timers_the_tick_cannot_be_observed)
{
	CHECK_EQ(choose("auto", 0), 0);
	CHECK(!c.ticks);
	CHECK(choose("tick", 0) < 0);
	CHECK(strstr(why, "slow_file_clock = timer") != NULL);
}

TEST(an_unknown_clock_is_refused)
{
	CHECK(choose("fast", 4 * MS) < 0);
	CHECK(strstr(why, "\"fast\"; give tick, timer or auto") != NULL);
}

TEST(cpus_whose_tick_may_stop_have_a_timer)
{
	char root[] = "/tmp/seismo-clock.XXXXXX", path[128];
	FILE *f;

	CHECK(mkdtemp(root) != NULL);
	snprintf(path, sizeof(path), "mkdir -p %s/devices/system/cpu", root);
	CHECK_EQ(system(path), 0);
	snprintf(path, sizeof(path), "%s/devices/system/cpu/nohz_full", root);
	for (int some = 0; some < 2; some++) {
		f = fopen(path, "w");
		fputs(some ? "2-7\n" : "(null)\n", f);
		fclose(f);
		CHECK_EQ(files_clock_choose("auto", 4 * MS, root, &c, why), 0);
		CHECK_EQ(c.ticks, !some);
	}
	snprintf(path, sizeof(path), "rm -r %s", root);
	CHECK_EQ(system(path), 0);
}
