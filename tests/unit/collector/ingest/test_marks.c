// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/ingest/marks.h"

#define MS 1000000ull

enum { NODE = 5, EPOCH = 6 };

static const uint64_t zero[STREAM_END];

static struct wire_batch_head batch(uint64_t seq, uint64_t base)
{
	return (struct wire_batch_head){ NODE, EPOCH, STREAM_EVENT, seq, base, 0, 0 };
}

static struct mark *known(struct marks *m, uint64_t seq)
{
	struct mark *k = marks_get(m, NODE, EPOCH);

	marks_load(m, k, (uint64_t[STREAM_END]){ [STREAM_EVENT] = seq });
	return k;
}

static enum mark_verdict offer(struct marks *m, struct mark *k, uint64_t seq, uint64_t base)
{
	struct wire_batch_head h = batch(seq, base);
	enum mark_verdict v = marks_judge(m, k, &h);

	if (v == MARK_NEXT)
		marks_queued(k, &h, 0);
	return v;
}

TEST(only_the_batch_after_the_last_queued_is_next)
{
	AUTO(marks_free) struct marks *m = marks_new();
	struct mark *k = known(m, 3);

	CHECK_EQ(offer(m, k, 4, 1), MARK_NEXT);
	CHECK_EQ(offer(m, k, 5, 1), MARK_NEXT);
	CHECK_EQ(offer(m, k, 5, 1), MARK_TWICE);
	CHECK_EQ(offer(m, k, 7, 1), MARK_GAP);
	CHECK_EQ(offer(m, k, 6, 1), MARK_NEXT);
}

TEST(a_node_has_room_for_so_many_rows_in_each_second_of_its_own_clock)
{
	AUTO(marks_free) struct marks *m = marks_new();
	struct mark *k = known(m, 0);
	struct wire_batch_head h = { NODE, EPOCH, STREAM_EVENT, 1, 1, 7000 * MS, 0 };

	CHECK_EQ(marks_room(k, &h, 10), 10);
	marks_rows(k, &h, 4);
	h.wall_ns += 999 * MS;
	CHECK_EQ(marks_room(k, &h, 10), 6);
	marks_rows(k, &h, 8);
	CHECK_EQ(marks_room(k, &h, 10), 0);
	h.stream = STREAM_METRIC; /* metrics do not take the room of events */
	CHECK_EQ(marks_room(k, &h, 10), 10);
	h.stream = STREAM_EVENT;
	h.wall_ns += MS;
	CHECK_EQ(marks_room(k, &h, 10), 10);
	marks_rows(k, &h, 3);
	CHECK_EQ(marks_room(k, &h, 10), 7);
	h.wall_ns -= MS; /* a clock that went back begins anew */
	CHECK_EQ(marks_room(k, &h, 10), 10);
}

TEST(a_batch_is_early_while_the_marks_are_not_known)
{
	AUTO(marks_free) struct marks *m = marks_new();
	struct mark *k = marks_get(m, NODE, EPOCH);

	CHECK_EQ(offer(m, k, 1, 1), MARK_EARLY);
	CHECK(!marks_take_nack(k, STREAM_EVENT, 1));
	marks_load(m, k, zero);
	CHECK(marks_next_due(m) == k);
	CHECK(marks_take_nack(k, STREAM_EVENT, 1));
}

TEST(base_seq_lets_the_next_be_farther)
{
	AUTO(marks_free) struct marks *m = marks_new();
	struct mark *k = known(m, 3);

	CHECK_EQ(offer(m, k, 9, 8), MARK_GAP);
	CHECK_EQ(offer(m, k, 9, 9), MARK_NEXT);
	CHECK_EQ(offer(m, k, 10, 9), MARK_NEXT);
}

TEST(an_ack_has_the_times_of_the_last_batch_that_was_taken)
{
	AUTO(marks_free) struct marks *m = marks_new();
	struct mark *k = known(m, 3);
	struct wire_batch_head h = batch(4, 1);

	h.sent_ns = 70;
	CHECK_EQ(marks_judge(m, k, &h), MARK_NEXT);
	marks_queued(k, &h, 90);
	CHECK_EQ(k->sent_ns[STREAM_EVENT], 70);
	CHECK_EQ(k->came_ns[STREAM_EVENT], 90);
	CHECK_EQ(k->sent_ns[STREAM_METRIC], 0);
	h = batch(5, 1);
	marks_queued(k, &h, 99);
	CHECK_EQ(k->sent_ns[STREAM_EVENT], 0);
}

TEST(streams_are_counted_apart)
{
	AUTO(marks_free) struct marks *m = marks_new();
	struct mark *k = known(m, 3);
	struct wire_batch_head h = { NODE, EPOCH, STREAM_METRIC, 1, 1, 0, 0 };

	CHECK_EQ(marks_judge(m, k, &h), MARK_NEXT);
}

TEST(a_nack_never_covers_what_is_only_queued)
{
	AUTO(marks_free) struct marks *m = marks_new();
	struct mark *k = known(m, 3);

	CHECK_EQ(offer(m, k, 4, 1), MARK_NEXT);
	CHECK_EQ(offer(m, k, 6, 1), MARK_GAP);
	CHECK(marks_take_nack(k, STREAM_EVENT, 1));
	CHECK_EQ(k->stored[STREAM_EVENT], 3);
	CHECK_EQ(k->nack_mark[STREAM_EVENT], 3);
}

TEST(what_is_queued_and_comes_again_is_acked_only_when_stored)
{
	AUTO(marks_free) struct marks *m = marks_new();
	struct mark *k = known(m, 3);

	CHECK_EQ(offer(m, k, 4, 1), MARK_NEXT);
	CHECK_EQ(offer(m, k, 4, 1), MARK_TWICE);
	CHECK(!marks_take_ack(k, STREAM_EVENT));
	marks_stored(m, k, (uint64_t[STREAM_END]){ [STREAM_EVENT] = 4 });
	CHECK(marks_take_ack(k, STREAM_EVENT));
	CHECK(!marks_take_ack(k, STREAM_EVENT));
	CHECK_EQ(offer(m, k, 4, 1), MARK_TWICE);
	CHECK(marks_take_ack(k, STREAM_EVENT));
}

TEST(a_rewinding_probe_is_not_flooded_with_nacks)
{
	AUTO(marks_free) struct marks *m = marks_new();
	struct mark *k = known(m, 3);

	for (uint64_t seq = 5; seq < 69; seq++)
		CHECK_EQ(offer(m, k, seq, 1), MARK_GAP);
	CHECK(marks_next_due(m) == k);
	CHECK(!marks_next_due(m));
	CHECK(marks_take_nack(k, STREAM_EVENT, 1000 * MS));
	CHECK_EQ(offer(m, k, 69, 1), MARK_GAP);
	CHECK(!marks_take_nack(k, STREAM_EVENT, 1100 * MS));
	marks_sweep(m, 1300 * MS);
	CHECK(marks_next_due(m) == k);
	CHECK(marks_take_nack(k, STREAM_EVENT, 1300 * MS));
}

TEST(the_missing_batch_ends_the_asking)
{
	AUTO(marks_free) struct marks *m = marks_new();
	struct mark *k = known(m, 3);

	CHECK_EQ(offer(m, k, 5, 1), MARK_GAP);
	CHECK_EQ(offer(m, k, 4, 1), MARK_NEXT);
	CHECK(!marks_take_nack(k, STREAM_EVENT, 1));
}

TEST(marks_that_fell_back_make_the_probe_send_again)
{
	AUTO(marks_free) struct marks *m = marks_new();
	struct mark *k = known(m, 3);

	CHECK_EQ(offer(m, k, 4, 1), MARK_NEXT);
	CHECK_EQ(offer(m, k, 5, 1), MARK_NEXT);
	marks_load(m, k, (uint64_t[STREAM_END]){ [STREAM_EVENT] = 4 });
	CHECK(marks_take_nack(k, STREAM_EVENT, 1));
	CHECK_EQ(k->stored[STREAM_EVENT], 4);
	CHECK_EQ(offer(m, k, 5, 1), MARK_NEXT);
}

TEST(a_node_that_has_ever_new_epochs_leaves_room_for_others)
{
	AUTO(marks_free) struct marks *m = marks_new();

	for (uint64_t epoch = 1; epoch <= MARKS_OF_NODE; epoch++) {
		struct mark *k = marks_get(m, NODE, epoch);

		CHECK(k);
		k->heard_ns = 1;
		if (epoch % MARKS_AT_ONCE == 0) {
			CHECK(!marks_get(m, NODE, epoch + 1));
			marks_sweep(m, 2);
		}
	}
	CHECK(!marks_get(m, NODE, MARKS_OF_NODE + 1));
	CHECK(marks_get(m, NODE, 1));
	CHECK(marks_get(m, NODE + 1, 1));
	marks_sweep(m, 3601 * 1000 * MS);
	CHECK(marks_get(m, NODE, MARKS_OF_NODE + 1));
}

TEST(an_epoch_that_is_silent_for_an_hour_is_forgotten)
{
	AUTO(marks_free) struct marks *m = marks_new();
	struct mark *k = known(m, 3);

	k->heard_ns = 1;
	marks_sweep(m, 3599 * 1000 * MS);
	CHECK(marks_find(m, NODE, EPOCH) == k);
	while (marks_next_due(m))
		;
	marks_sweep(m, 3601 * 1000 * MS);
	CHECK(!marks_find(m, NODE, EPOCH));
}
