// SPDX-License-Identifier: Apache-2.0
/* A source with kernel programs of a given cost, in virtual time: throttling and its reports. */
#include <math.h>

#include "lib/wire/reason.h"
#include "probe/overhead/source_throttle.h"
#include "tests/fake/clock.h"
#include "tests/lib/test.h"

#define SECOND 1000000000ull

enum { LOOK_S = 20, WINDOW_S = 10, NCPU = 4 };

static uint32_t asked_step;

static void sample(void *self, uint32_t step)
{
	CHECK(self == &asked_step);
	asked_step = step;
}

static const struct source can = {
	.name = "s", .period_ms = 1000, .sampled = "calls", .sample = sample
};
static const struct source cannot = { .name = "t", .period_ms = 1000 };

struct scene {
	struct source_throttle t;
	struct meter_runs runs;
	uint64_t now_ns;
	struct sink out;
};

/* A window of half a second each time, in which they take that share of all processors. */
static int play(struct scene *s, const struct source *of, int seconds, double share)
{
	int changes = 0;

	for (int i = 0; i < seconds / WINDOW_S; i++) {
		s->now_ns += WINDOW_S * SECOND;
		clock_set_ns(s->now_ns);
		s->runs.counted_ns += SECOND / 2;
		s->runs.ns += (uint64_t)(share * NCPU * (double)SECOND / 2) >> asked_step;
		changes += source_throttle_programs(&s->t, of, &asked_step, 1, &s->runs, NCPU,
						    &s->out);
	}
	return changes;
}

static struct scene begin(void)
{
	struct scene s = { .now_ns = SECOND };

	asked_step = 0;
	clock_set_ns(s.now_ns);
	source_throttle_begin(&s.t, LOOK_S);
	return s;
}

static struct wire_body seal(struct scene *s, struct arena *a)
{
	struct wire_body b;

	CHECK_EQ(wire_body_decode(a, s->out.event.data, s->out.event.len, &b), 0);
	buf_free(&s->out.event);
	return b;
}

static double number(const struct event_item *e, const char *key)
{
	for (uint32_t i = 0; i < e->nparams; i++)
		if (strcmp(e->params[i].key, key) == 0)
			return e->params[i].number;
	return -1;
}

TEST(programs_over_their_share_of_all_processors_look_at_less_and_an_event_says_so)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct scene s = begin();
	char why[WHY_LEN] = "";
	struct wire_body b;

	CHECK_EQ(play(&s, &can, 60, 0.009), 0); /* 3.6 % of one processor */
	CHECK(!source_throttle_why(&s.t, &can, 1, why));
	CHECK_EQ(play(&s, &can, 50, 0.017), 1);
	CHECK_EQ(asked_step, 1);
	CHECK(source_throttle_why(&s.t, &can, 1, why));
	CHECK(strstr(why, "1 % of all CPUs: they process 1 in 2 of calls") != NULL);
	b = seal(&s, a);
	CHECK_EQ(b.nevents, 1);
	CHECK_EQ(strcmp(b.events[0].kind, "probe.budget"), 0);
	CHECK_EQ(b.events[0].reason, R_PROBE_SAMPLED);
	CHECK_EQ(number(&b.events[0], "of"), 2);
	CHECK(fabs(number(&b.events[0], "percent") - 1.7) < 0.001);
	CHECK_EQ(number(&b.events[0], "budget"), 1);
	CHECK(b.events[0].going_on);
}

TEST(they_look_at_all_again_when_the_load_is_over_and_the_event_ends)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct scene s = begin();
	char why[WHY_LEN] = "";
	struct wire_body b;

	play(&s, &can, 200, 0.03);
	CHECK_EQ(asked_step, 2);
	CHECK_EQ(play(&s, &can, 800, 0.0001), 2);
	CHECK_EQ(asked_step, 0);
	CHECK(!source_throttle_why(&s.t, &can, 1, why));
	b = seal(&s, a);
	CHECK(b.nevents >= 4);
	for (uint32_t i = 0; i < b.nevents; i++) {
		CHECK_EQ(b.events[i].id, b.events[0].id);
		CHECK_EQ(b.events[i].going_on, i + 1 < b.nevents);
	}
	CHECK_EQ(number(&b.events[b.nevents - 1], "of"), 1);
}

TEST(a_source_without_sampling_is_never_throttled)
{
	struct scene s = begin();

	CHECK_EQ(play(&s, &cannot, 600, 0.5), 0);
	CHECK_EQ(s.out.event.len, 0);
}

TEST(throttled_reads_and_throttled_programs_are_two_events_and_one_state)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct scene s = begin();
	char why[WHY_LEN] = "";
	struct wire_body b;

	play(&s, &can, 50, 0.017);
	for (int i = 0; i < 30 && !s.t.reads.step; i++) {
		clock_set_ns(s.now_ns += SECOND);
		source_throttle_read(&s.t, &can, 1, SECOND / 50, &s.out);
	}
	CHECK_EQ(s.t.reads.step, 1);
	CHECK(source_throttle_why(&s.t, &can, 1, why));
	CHECK(strstr(why, "read every 2000 ms, not 1000; its kernel programs") != NULL);
	b = seal(&s, a);
	CHECK_EQ(b.nevents, 2);
	CHECK_EQ(b.events[1].reason, R_PROBE_BUDGET);
	CHECK_EQ(number(&b.events[1], "every_ms"), 2000);
	CHECK(b.events[0].id != b.events[1].id);
}
