// SPDX-License-Identifier: Apache-2.0
/* Reads of sources that rest, with a clock set by hand. */
#include <sys/eventfd.h>

#include "probe/core/source_scheduler.h"
#include "tests/fake/clock.h"
#include "tests/lib/test.h"

enum { MS = 1000000 };

static const struct source lazy = { .period_ms = 50, .rest_ms = 500 };

struct scene {
	struct loop *loop;
	int wakes, reads, busy; /* busy: the number of further reads that find something */
	uint64_t until_ns, at[64];
};

static enum source_pace read_one(void *arg, size_t source)
{
	struct scene *s = arg;
	uint64_t n;

	CHECK_EQ(source, 7);
	s->at[s->reads++ % ARRAY_SIZE(s->at)] = clock_mono_ns();
	if (eventfd_read(s->wakes, &n) == 0)
		s->busy = 3;
	return s->busy-- <= 0 ? SOURCE_RESTS : SOURCE_ON_TIME;
}

static int turn(void *arg)
{
	struct scene *s = arg;

	clock_set_ns(clock_mono_ns() + 10 * MS);
	if (clock_mono_ns() >= s->until_ns)
		loop_stop(s->loop);
	return 0;
}

static void play(struct scene *s, uint64_t until_ms)
{
	s->reads = 0;
	s->until_ns = until_ms * MS;
	CHECK_EQ(loop_run(s->loop), 0);
}

TEST(a_resting_source_is_read_less_often_and_at_once_when_woken)
{
	AUTO(loop_free) struct loop *l = loop_new();
	AUTO_CLOSE int hand = eventfd(1, 0), wakes = eventfd(0, EFD_NONBLOCK);
	struct scene s = { .loop = l, .wakes = wakes, .busy = 4 };
	struct source_scheduler *r;

	clock_set_ns(0);
	loop_add_fd(l, hand, turn, &s);
	r = source_scheduler_begin(l, read_one, &s);
	source_scheduler_add(r, 7, &lazy, wakes);
	play(&s, 2000);
	CHECK_EQ(s.at[4], 250ull * MS); /* four reads found something, this one nothing */
	CHECK_EQ(s.at[5], 500ull * MS);
	CHECK_EQ(s.at[6], 1000ull * MS);
	clock_set_ns(2110 * MS);
	CHECK_EQ(eventfd_write(wakes, 1), 0);
	play(&s, 2490);
	CHECK(s.at[0] <= 2120ull * MS);
	CHECK_EQ(s.at[1], 2150ull * MS);
	CHECK_EQ(s.reads, 4); /* awake, until nothing was found; then it rests to 2500 */
	source_scheduler_free(r);
}

TEST(a_source_without_rest_ms_keeps_its_period)
{
	static const struct source eager = { .period_ms = 50 };
	AUTO(loop_free) struct loop *l = loop_new();
	AUTO_CLOSE int hand = eventfd(1, 0);
	struct scene s = { .loop = l, .wakes = -1 };
	struct source_scheduler *r;

	clock_set_ns(0);
	loop_add_fd(l, hand, turn, &s);
	r = source_scheduler_begin(l, read_one, &s);
	source_scheduler_add(r, 7, &eager, -1);
	play(&s, 500);
	CHECK_EQ(s.reads, 10);
	source_scheduler_free(r);
}

TEST(a_source_that_does_not_rest_is_not_woken)
{
	AUTO(loop_free) struct loop *l = loop_new();
	AUTO_CLOSE int hand = eventfd(1, 0), wakes = eventfd(0, EFD_NONBLOCK);
	struct scene s = { .loop = l, .wakes = wakes, .busy = 1000 };
	struct source_scheduler *r;

	clock_set_ns(0);
	loop_add_fd(l, hand, turn, &s);
	r = source_scheduler_begin(l, read_one, &s);
	source_scheduler_add(r, 7, &lazy, wakes);
	play(&s, 110);
	CHECK_EQ(eventfd_write(wakes, 1), 0);
	play(&s, 140);
	CHECK_EQ(s.reads, 0);
	source_scheduler_free(r);
}

static enum source_pace read_in_steps(void *arg, size_t source UNUSED)
{
	struct scene *s = arg;

	s->at[s->reads++ % ARRAY_SIZE(s->at)] = clock_mono_ns();
	return s->busy-- > 0 ? SOURCE_GOES_ON : SOURCE_ON_TIME;
}

TEST(a_read_that_goes_on_is_continued_soon)
{
	static const struct source stepping = { .period_ms = 500, .step_ms = 50 };
	AUTO(loop_free) struct loop *l = loop_new();
	AUTO_CLOSE int hand = eventfd(1, 0);
	struct scene s = { .loop = l, .wakes = -1, .busy = 2 };
	struct source_scheduler *r;

	clock_set_ns(0);
	loop_add_fd(l, hand, turn, &s);
	r = source_scheduler_begin(l, read_in_steps, &s);
	source_scheduler_add(r, 7, &stepping, -1);
	play(&s, 1200);
	CHECK_EQ(s.reads, 4);
	CHECK_EQ(s.at[0], 500ull * MS);
	CHECK_EQ(s.at[1], 550ull * MS);
	CHECK_EQ(s.at[2], 600ull * MS);
	CHECK_EQ(s.at[3], 1000ull * MS);
	source_scheduler_free(r);
}
