// SPDX-License-Identifier: Apache-2.0
#include <zmq.h>

#include "lib/base/hash.h"
#include "tests/fake/play.h"

TEST(nothing_but_hello_is_sent_before_welcome)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_EVENT, 3, 10);
	UNTIL(&s, s.c.hellos == 1);
	uplink_send(s.u);
	play_settle(&s);
	CHECK_EQ(s.c.n, 1);
	CHECK_EQ(s.c.seen[0].epoch, spool_epoch(s.spool));
	CHECK(!uplink_up(s.u));
	play_close(&s);
}

TEST(after_welcome_each_stream_goes_on_behind_its_mark)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_METRIC, 3, 10);
	play_append(&s, STREAM_EVENT, 2, 20);
	UNTIL(&s, s.c.hellos == 1);
	play_welcome(&s, 1, 2);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 2);
	CHECK(s.c.seen[1].stream == STREAM_EVENT && s.c.seen[1].seq == 2);
	CHECK(s.c.seen[1].base == 2 && s.c.seen[1].len == 20);
	CHECK(s.c.seen[2].stream == STREAM_METRIC && s.c.seen[2].seq == 3);
	CHECK_EQ(spool_batches(s.spool), 2);
	play_close(&s);
}

TEST(no_more_than_64_batches_are_under_way)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_EVENT, 100, 10);
	play_meet(&s);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 64);
	play_settle(&s);
	CHECK_EQ(play_count(&s.c, WIRE_BATCH), 64);
	play_mark(&s, WIRE_ACK, STREAM_EVENT, 10);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 74);
	play_settle(&s);
	CHECK_EQ(play_count(&s.c, WIRE_BATCH), 74);
	CHECK_EQ(s.c.seen[s.c.n - 1].seq, 74);
	CHECK_EQ(s.c.seen[s.c.n - 1].base, 11);
	play_close(&s);
}

TEST(no_more_than_4_megabytes_and_a_batch_are_under_way)
{
	static struct play s;

	play_open(&s, 64 << 20);
	play_append(&s, STREAM_METRIC, 20, WIRE_MAX_FRAME - 100);
	play_meet(&s);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 5);
	play_settle(&s);
	CHECK_EQ(play_count(&s.c, WIRE_BATCH), 5);
	play_close(&s);
}

TEST(a_nack_brings_all_behind_its_mark_again_and_a_storm_of_them_only_once)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_EVENT, 20, 10);
	play_meet(&s);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 20);
	for (int i = 0; i < 15; i++)
		play_mark(&s, WIRE_NACK, STREAM_EVENT, 5);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 35);
	play_settle(&s);
	CHECK_EQ(play_count(&s.c, WIRE_BATCH), 35);
	CHECK_EQ(s.c.seen[s.c.n - 15].seq, 6);
	CHECK_EQ(uplink_stat(s.u).nacks, 15);
	CHECK_EQ(uplink_stat(s.u).rewinds, 1);
	clock_set_ns(1001 * SEC);
	play_mark(&s, WIRE_NACK, STREAM_EVENT, 5); /* the second try was lost as well */
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 50);
	play_close(&s);
}

TEST(a_layout_that_is_asked_for_is_announced_before_its_batches_come_again)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_METRIC, 2, 10);
	play_meet(&s);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 2);
	play_need_dict(&s, play_dict[1].layout);
	play_need_dict(&s, play_dict[1].layout);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 4);
	play_settle(&s);
	CHECK_EQ(play_count(&s.c, WIRE_DICT), 1);
	CHECK_EQ(s.c.seen[3].layout, play_dict[1].layout);
	CHECK_EQ(s.c.seen[4].seq, 1);
	CHECK_EQ(play_count(&s.c, WIRE_BATCH), 4);
	play_need_dict(&s, 12345);
	UNTIL(&s, uplink_stat(s.u).ignored == 1);
	CHECK(uplink_up(s.u));
	play_close(&s);
}

TEST(answers_for_another_node_or_epoch_are_ignored)
{
	static struct play s;
	struct wire_welcome w = { .node_id = hash_node_id("n2") };
	struct wire_mark m = { .node_id = hash_node_id(NODE), .stream = STREAM_EVENT, .mark = 1 };

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_EVENT, 1, 10);
	UNTIL(&s, s.c.hellos == 1);
	w.epoch = spool_epoch(s.spool);
	wire_welcome_encode(&s.c.frame, &w);
	play_say(&s.c);
	UNTIL(&s, uplink_stat(s.u).ignored == 1);
	CHECK(!uplink_up(s.u));
	play_mark(&s, WIRE_ACK, STREAM_EVENT, 1); /* nobody has been greeted yet */
	UNTIL(&s, uplink_stat(s.u).ignored == 2);
	play_welcome(&s, 0, 0);
	UNTIL(&s, uplink_up(s.u));
	m.epoch = spool_epoch(s.spool) + 1;
	wire_mark_encode(&s.c.frame, WIRE_ACK, &m);
	play_say(&s.c);
	UNTIL(&s, uplink_stat(s.u).ignored == 3);
	CHECK_EQ(spool_batches(s.spool), 1);
	play_close(&s);
}

TEST(what_is_no_answer_does_no_harm)
{
	static const char *const junk[] = { "", "\x01", "\x96\x01\x06", "\xdd\x10",
					    "GET / HTTP/1.1" };
	static struct play s;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_EVENT, 1, 10);
	play_meet(&s);
	for (size_t i = 0; i < ARRAY_SIZE(junk); i++) {
		zmq_send(s.c.router, s.c.peer, s.c.peer_len, ZMQ_SNDMORE);
		zmq_send(s.c.router, junk[i], strlen(junk[i]), 0);
	}
	UNTIL(&s, uplink_stat(s.u).ignored == ARRAY_SIZE(junk));
	wire_mark_encode(&s.c.frame, WIRE_ACK,
			 &(struct wire_mark){ hash_node_id(NODE), spool_epoch(s.spool),
					      STREAM_EVENT, 1, 0, 0, 0 });
	zmq_send(s.c.router, s.c.peer, s.c.peer_len, ZMQ_SNDMORE);
	zmq_send(s.c.router, s.c.frame.data, s.c.frame.len, ZMQ_SNDMORE);
	zmq_send(s.c.router, s.c.frame.data, s.c.frame.len, 0); /* an answer has one frame */
	UNTIL(&s, uplink_stat(s.u).ignored == ARRAY_SIZE(junk) + 2);
	CHECK_EQ(spool_batches(s.spool), 1);
	CHECK(uplink_up(s.u));
	play_close(&s);
}

/* How often what is logged between two calls says so. */
