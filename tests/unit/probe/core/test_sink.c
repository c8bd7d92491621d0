// SPDX-License-Identifier: Apache-2.0
#include "probe/core/sink.h"
#include "tests/lib/test.h"

static const struct stack_item stack = { 7, 0, 1, { "do_fsync+0x1a" } };
static const struct event_item event = { .kind = "io.slow", .comm = "c" };
static unsigned full;

static void on_full(void *arg, enum wire_stream stream)
{
	struct sink *s = arg;

	CHECK_EQ(stream, STREAM_EVENT);
	CHECK(s->event.len >= SINK_FULL && s->event.len < WIRE_MAX_FRAME);
	buf_reset(&s->event);
	full++;
}

TEST(a_stack_and_an_event_go_into_the_event_stream_in_order)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 16);
	struct sink s = { 0 };
	struct wire_body b = { 0 };

	sink_stack(&s, &stack);
	sink_event(&s, &event);
	CHECK_EQ(s.metric.len, 0);
	CHECK_EQ(s.requests, 0);
	CHECK_EQ(wire_body_decode(a, s.event.data, s.event.len, &b), 0);
	CHECK_EQ(b.nstacks, 1);
	CHECK_STR(b.stacks[0].frame[0], "do_fsync+0x1a");
	CHECK_EQ(b.nevents, 1);
	CHECK_STR(b.events[0].kind, "io.slow");
	buf_free(&s.event);
}

TEST(a_body_full_of_stacks_or_events_goes_to_on_full_in_time)
{
	struct sink s = { .on_full = on_full };

	s.arg = &s;
	full = 0;
	for (int i = 0; i < 20000 && full == 0; i++)
		sink_stack(&s, &stack);
	for (int i = 0; i < 20000 && full == 1; i++)
		sink_event(&s, &event);
	CHECK_EQ(full, 2);
	buf_free(&s.event);
}
