// SPDX-License-Identifier: Apache-2.0
#include "probe/source/profile/profile_window.h"

#include <stdio.h>

#include "tests/lib/test.h"

#define MIN (60 * 1000000000ull)

static struct wire_body told;
static struct arena *arena;
static struct sink out;

/* What it has told since the last call. */
static uint32_t tell(struct profile_window *m, bool all)
{
	arena = arena ? arena : arena_new(1 << 24);
	arena_reset(arena);
	buf_reset(&out.metric);
	profile_window_tell(m, MIN, 52631, all, &out);
	CHECK_EQ(wire_body_decode(arena, out.metric.data, out.metric.len, &told), 0);
	return told.nprofiles;
}

static uint64_t samples(void)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < told.nprofiles; i++)
		for (uint32_t k = 0; k < told.profiles[i].n; k++)
			n += told.profiles[i].seen[k].n;
	return n;
}

static void done(void)
{
	buf_free(&out.metric);
	arena_free(arena);
	arena = NULL;
}

TEST(samples_of_one_app_and_pair_are_one_entry)
{
	AUTO(profile_window_free) struct profile_window *m = profile_window_new();

	profile_window_add(m, "a", 1, 2, 1);
	profile_window_add(m, "b", 1, 2, 1);
	profile_window_add(m, "a", 1, 2, 1);
	profile_window_add(m, "a", 2, 1, 1);
	CHECK_EQ(tell(m, true), 2);
	CHECK_STR(told.profiles[0].app, "a");
	CHECK_EQ(told.profiles[0].start_ns, MIN);
	CHECK_EQ(told.profiles[0].period_us, 52631);
	CHECK_EQ(told.profiles[0].n, 2);
	CHECK_EQ(told.profiles[0].seen[0].kernel, 1);
	CHECK_EQ(told.profiles[0].seen[0].user, 2);
	CHECK_EQ(told.profiles[0].seen[0].n, 2);
	CHECK_EQ(told.profiles[0].seen[1].n, 1);
	CHECK_EQ(told.profiles[1].n, 1);
	CHECK_EQ(tell(m, true), 0);
	done();
}

TEST(an_app_that_is_new_is_told_before_the_minute_ends_and_then_with_it)
{
	AUTO(profile_window_free) struct profile_window *m = profile_window_new();

	profile_window_add(m, "a", 0, 2, 1);
	CHECK_EQ(tell(m, false), 1);
	profile_window_add(m, "a", 0, 2, 1);
	profile_window_add(m, "b", 0, 2, 1);
	CHECK_EQ(tell(m, false), 1);
	CHECK_STR(told.profiles[0].app, "b");
	CHECK_EQ(tell(m, true), 1);
	CHECK_STR(told.profiles[0].app, "a");
	CHECK_EQ(samples(), 1);
	profile_window_add(m, "a", 0, 2, 1);
	CHECK_EQ(tell(m, false), 0); /* it was told of in the minute before */
	CHECK_EQ(tell(m, true), 1);
	CHECK_EQ(tell(m, true), 0);
	CHECK_EQ(tell(m, true), 0);
	profile_window_add(m, "a", 0, 2, 1);
	CHECK_EQ(tell(m, false), 1); /* it was away */
	done();
}

TEST(who_waits_for_its_id_is_told_when_it_has_it)
{
	AUTO(profile_window_free) struct profile_window *m = profile_window_new();

	profile_window_add(m, "a", 0, 7 | MINUTE_WAITS, 1);
	profile_window_add(m, "a", 0, 7 | MINUTE_WAITS, 1);
	profile_window_add(m, "a", 0, 5, 1);
	CHECK_EQ(tell(m, true), 1);
	CHECK_EQ(samples(), 1);
	profile_window_named(m, 7 | MINUTE_WAITS, 5);
	profile_window_add(m, "a", 0, 5, 1);
	CHECK_EQ(tell(m, true), 1);
	CHECK_EQ(samples(), 3);
	CHECK_EQ(told.profiles[0].seen[0].user, 5);
	CHECK_EQ(profile_window_over(m), 0);
	done();
}

TEST(what_finds_no_room_is_counted_without_its_stacks)
{
	AUTO(profile_window_free) struct profile_window *m = profile_window_new();
	char name[16];

	for (uint32_t i = 0; i < 2 * MINUTE_PAIRS; i++)
		profile_window_add(m, "a", 1, i + 1, 1);
	CHECK_EQ(profile_window_over(m), MINUTE_PAIRS);
	profile_window_add(m, "a", 1, 1, 1);
	CHECK_EQ(profile_window_over(m), MINUTE_PAIRS);
	for (uint32_t i = 0; i < 3 * MINUTE_APPS; i++) {
		snprintf(name, sizeof(name), "app%u", i);
		profile_window_add(m, name, 0, 0, 1);
	}
	tell(m, true);
	CHECK_EQ(samples(), 2 * MINUTE_PAIRS + 1 + 3 * MINUTE_APPS);
	CHECK_STR(told.profiles[told.nprofiles - 1].app, "(others)");
	CHECK_EQ(told.profiles[told.nprofiles - 1].seen[0].n, 2 * MINUTE_APPS + 2);
	CHECK_EQ(tell(m, true), 0);
	done();
}
