// SPDX-License-Identifier: Apache-2.0
#include "tests/fake/play.h"

#define MS 1000000ull

/* A batch that is under way for so long, and its ACK at once. */
static void exchange(struct play *s, uint64_t under_way_ns)
{
	uint32_t sent = play_count(&s->c, WIRE_BATCH), left;

	play_append(s, STREAM_EVENT, 1, 10);
	uplink_send(s->u);
	UNTIL(s, play_count(&s->c, WIRE_BATCH) == sent + 1);
	clock_set_ns(clock_mono_ns() + under_way_ns);
	left = spool_batches(s->spool);
	play_mark(s, WIRE_ACK, STREAM_EVENT, s->c.seen[s->c.n - 1].seq);
	UNTIL(s, spool_batches(s->spool) < left);
}

TEST(a_batch_says_when_it_was_sent)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_EVENT, 1, 10);
	play_meet(&s);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 1);
	CHECK_EQ(s.c.seen[s.c.n - 1].sent_ns, clock_wall_ns());
	play_close(&s);
}

TEST(the_first_ack_with_times_reports_the_clock)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_meet(&s);
	s.sends_times = true;
	s.ahead_ns = -5 * (int64_t)SEC;
	exchange(&s, 4 * MS);
	CHECK_EQ(s.clocks, 1);
	CHECK(s.clock.offset_us >= -5002001 && s.clock.offset_us <= -4997999);
	CHECK(s.clock.uncertainty_us >= 2000 && s.clock.uncertainty_us < 2100);
	CHECK_EQ(s.clock.since_ns, 1000 * SEC); /* since there is a probe */
	exchange(&s, 4 * MS);
	CHECK_EQ(s.clocks, 1);
	play_close(&s);
}

TEST(an_older_collector_sends_no_times_and_no_clock_is_reported)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_meet(&s);
	exchange(&s, 4 * MS);
	CHECK_EQ(s.clocks, 0);
	CHECK_EQ(uplink_stat(s.u).ignored, 0);
	play_close(&s);
}

TEST(a_clock_step_is_reported_with_the_next_ack)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_meet(&s);
	s.sends_times = true;
	exchange(&s, 4 * MS);
	s.ahead_ns = -65 * (int64_t)SEC;
	exchange(&s, 4 * MS);
	CHECK_EQ(s.clocks, 2);
	CHECK(s.clock.offset_us >= -65002001 && s.clock.offset_us <= -64997999);
	play_close(&s);
}

TEST(a_collector_that_lost_its_state_gets_the_clock_again)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_meet(&s);
	s.sends_times = true;
	exchange(&s, 4 * MS);
	CHECK_EQ(s.clocks, 1);
	uplink_close(s.u);
	play_again(&s);
	s.c.hellos = 0;
	play_meet(&s);
	CHECK_EQ(s.fresh, 1);
	exchange(&s, 4 * MS);
	CHECK_EQ(s.clocks, 2);
	play_close(&s);
}
