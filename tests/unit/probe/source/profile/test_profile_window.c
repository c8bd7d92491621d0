// SPDX-License-Identifier: Apache-2.0
#include "probe/source/profile/profile_window.h"

#include <stdio.h>

#include "tests/lib/test.h"

#define MIN (60 * 1000000000ull)

static struct wire_body sent;
static struct arena *arena;
static struct sink out;

/* Decodes what was sent since the last call; returns the number of profiles. */
static uint32_t send_window(struct profile_window *m, bool all)
{
	arena = arena ? arena : arena_new(1 << 24);
	arena_reset(arena);
	buf_reset(&out.metric);
	profile_window_send(m, MIN, 52631, all, &out);
	CHECK_EQ(wire_body_decode(arena, out.metric.data, out.metric.len, &sent), 0);
	return sent.nprofiles;
}

static uint64_t samples(void)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < sent.nprofiles; i++)
		for (uint32_t k = 0; k < sent.profiles[i].n; k++)
			n += sent.profiles[i].seen[k].n;
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
	CHECK_EQ(send_window(m, true), 2);
	CHECK_STR(sent.profiles[0].app, "a");
	CHECK_EQ(sent.profiles[0].start_ns, MIN);
	CHECK_EQ(sent.profiles[0].period_us, 52631);
	CHECK_EQ(sent.profiles[0].n, 2);
	CHECK_EQ(sent.profiles[0].seen[0].kernel, 1);
	CHECK_EQ(sent.profiles[0].seen[0].user, 2);
	CHECK_EQ(sent.profiles[0].seen[0].n, 2);
	CHECK_EQ(sent.profiles[0].seen[1].n, 1);
	CHECK_EQ(sent.profiles[1].n, 1);
	CHECK_EQ(send_window(m, true), 0);
	done();
}

TEST(a_new_app_is_sent_early_and_then_with_the_minute)
{
	AUTO(profile_window_free) struct profile_window *m = profile_window_new();

	profile_window_add(m, "a", 0, 2, 1);
	CHECK_EQ(send_window(m, false), 1);
	profile_window_add(m, "a", 0, 2, 1);
	profile_window_add(m, "b", 0, 2, 1);
	CHECK_EQ(send_window(m, false), 1);
	CHECK_STR(sent.profiles[0].app, "b");
	CHECK_EQ(send_window(m, true), 1);
	CHECK_STR(sent.profiles[0].app, "a");
	CHECK_EQ(samples(), 1);
	profile_window_add(m, "a", 0, 2, 1);
	CHECK_EQ(send_window(m, false), 0); /* it was sent in the previous minute */
	CHECK_EQ(send_window(m, true), 1);
	CHECK_EQ(send_window(m, true), 0);
	CHECK_EQ(send_window(m, true), 0);
	profile_window_add(m, "a", 0, 2, 1);
	CHECK_EQ(send_window(m, false), 1); /* it was absent for a minute */
	done();
}

TEST(an_entry_with_a_pending_id_is_sent_once_it_has_it)
{
	AUTO(profile_window_free) struct profile_window *m = profile_window_new();

	profile_window_add(m, "a", 0, 7 | STACK_PENDING, 1);
	profile_window_add(m, "a", 0, 7 | STACK_PENDING, 1);
	profile_window_add(m, "a", 0, 5, 1);
	CHECK_EQ(send_window(m, true), 1);
	CHECK_EQ(samples(), 1);
	profile_window_named(m, 7 | STACK_PENDING, 5);
	profile_window_add(m, "a", 0, 5, 1);
	CHECK_EQ(send_window(m, true), 1);
	CHECK_EQ(samples(), 3);
	CHECK_EQ(sent.profiles[0].seen[0].user, 5);
	CHECK_EQ(profile_window_over(m), 0);
	done();
}

TEST(pairs_beyond_the_limit_are_counted_without_their_stacks)
{
	AUTO(profile_window_free) struct profile_window *m = profile_window_new();
	char name[16];

	for (uint32_t i = 0; i < 2 * WINDOW_PAIRS; i++)
		profile_window_add(m, "a", 1, i + 1, 1);
	CHECK_EQ(profile_window_over(m), WINDOW_PAIRS);
	profile_window_add(m, "a", 1, 1, 1);
	CHECK_EQ(profile_window_over(m), WINDOW_PAIRS);
	for (uint32_t i = 0; i < 3 * WINDOW_APPS; i++) {
		snprintf(name, sizeof(name), "app%u", i);
		profile_window_add(m, name, 0, 0, 1);
	}
	send_window(m, true);
	CHECK_EQ(samples(), 2 * WINDOW_PAIRS + 1 + 3 * WINDOW_APPS);
	CHECK_STR(sent.profiles[sent.nprofiles - 1].app, "(others)");
	CHECK_EQ(sent.profiles[sent.nprofiles - 1].seen[0].n, 2 * WINDOW_APPS + 2);
	CHECK_EQ(send_window(m, true), 0);
	done();
}
