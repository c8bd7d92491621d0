// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/ingest/watermarks.h"

#define MS 1000000ull

enum { NODE = 5, EPOCH = 6 };

static const uint64_t zero[STREAM_END];

static struct wire_batch_head batch(uint64_t seq, uint64_t base)
{
	return (struct wire_batch_head){ NODE, EPOCH, STREAM_EVENT, seq, base, 0, 0 };
}

static struct mark *known(struct watermarks *m, uint64_t seq)
{
	struct mark *k = watermarks_get(m, NODE, EPOCH);

	watermarks_load(m, k, (uint64_t[STREAM_END]){ [STREAM_EVENT] = seq });
	return k;
}

static enum mark_verdict offer(struct watermarks *m, struct mark *k, uint64_t seq, uint64_t base)
{
	struct wire_batch_head h = batch(seq, base);
	enum mark_verdict v = watermarks_judge(m, k, &h);

	if (v == MARK_NEXT)
		watermarks_queued(k, &h, 0);
	return v;
}

TEST(only_the_batch_after_the_last_queued_is_next)
{
	AUTO(watermarks_free) struct watermarks *m = watermarks_new();
	struct mark *k = known(m, 3);

	CHECK_EQ(offer(m, k, 4, 1), MARK_NEXT);
	CHECK_EQ(offer(m, k, 5, 1), MARK_NEXT);
	CHECK_EQ(offer(m, k, 5, 1), MARK_DUPLICATE);
	CHECK_EQ(offer(m, k, 7, 1), MARK_GAP);
	CHECK_EQ(offer(m, k, 6, 1), MARK_NEXT);
}

TEST(a_node_has_a_limit_of_rows_per_second_of_its_own_clock)
{
	AUTO(watermarks_free) struct watermarks *m = watermarks_new();
	struct mark *k = known(m, 0);
	struct wire_batch_head h = { NODE, EPOCH, STREAM_EVENT, 1, 1, 7000 * MS, 0 };

	CHECK_EQ(watermarks_room(k, &h, 10), 10);
	watermarks_rows(k, &h, 4);
	h.wall_ns += 999 * MS;
	CHECK_EQ(watermarks_room(k, &h, 10), 6);
	watermarks_rows(k, &h, 8);
	CHECK_EQ(watermarks_room(k, &h, 10), 0);
	h.stream = STREAM_METRIC; /* metrics do not use up the limit of events */
	CHECK_EQ(watermarks_room(k, &h, 10), 10);
	h.stream = STREAM_EVENT;
	h.wall_ns += MS;
	CHECK_EQ(watermarks_room(k, &h, 10), 10);
	watermarks_rows(k, &h, 3);
	CHECK_EQ(watermarks_room(k, &h, 10), 7);
	h.wall_ns -= MS; /* a clock that went back starts a new second */
	CHECK_EQ(watermarks_room(k, &h, 10), 10);
}

TEST(a_batch_is_early_while_the_watermarks_are_unknown)
{
	AUTO(watermarks_free) struct watermarks *m = watermarks_new();
	struct mark *k = watermarks_get(m, NODE, EPOCH);

	CHECK_EQ(offer(m, k, 1, 1), MARK_UNSYNCED);
	CHECK(!watermarks_take_nack(k, STREAM_EVENT, 1));
	watermarks_load(m, k, zero);
	CHECK(watermarks_next_due(m) == k);
	CHECK(watermarks_take_nack(k, STREAM_EVENT, 1));
}

TEST(base_seq_allows_a_gap)
{
	AUTO(watermarks_free) struct watermarks *m = watermarks_new();
	struct mark *k = known(m, 3);

	CHECK_EQ(offer(m, k, 9, 8), MARK_GAP);
	CHECK_EQ(offer(m, k, 9, 9), MARK_NEXT);
	CHECK_EQ(offer(m, k, 10, 9), MARK_NEXT);
}

TEST(an_ack_has_the_times_of_the_last_batch_taken)
{
	AUTO(watermarks_free) struct watermarks *m = watermarks_new();
	struct mark *k = known(m, 3);
	struct wire_batch_head h = batch(4, 1);

	h.sent_ns = 70;
	CHECK_EQ(watermarks_judge(m, k, &h), MARK_NEXT);
	watermarks_queued(k, &h, 90);
	CHECK_EQ(k->sent_ns[STREAM_EVENT], 70);
	CHECK_EQ(k->came_ns[STREAM_EVENT], 90);
	CHECK_EQ(k->sent_ns[STREAM_METRIC], 0);
	h = batch(5, 1);
	watermarks_queued(k, &h, 99);
	CHECK_EQ(k->sent_ns[STREAM_EVENT], 0);
}

TEST(streams_are_counted_apart)
{
	AUTO(watermarks_free) struct watermarks *m = watermarks_new();
	struct mark *k = known(m, 3);
	struct wire_batch_head h = { NODE, EPOCH, STREAM_METRIC, 1, 1, 0, 0 };

	CHECK_EQ(watermarks_judge(m, k, &h), MARK_NEXT);
}

TEST(a_nack_never_covers_what_is_only_queued)
{
	AUTO(watermarks_free) struct watermarks *m = watermarks_new();
	struct mark *k = known(m, 3);

	CHECK_EQ(offer(m, k, 4, 1), MARK_NEXT);
	CHECK_EQ(offer(m, k, 6, 1), MARK_GAP);
	CHECK(watermarks_take_nack(k, STREAM_EVENT, 1));
	CHECK_EQ(k->stored[STREAM_EVENT], 3);
	CHECK_EQ(k->nack_mark[STREAM_EVENT], 3);
}

TEST(a_resent_queued_batch_is_acked_only_when_stored)
{
	AUTO(watermarks_free) struct watermarks *m = watermarks_new();
	struct mark *k = known(m, 3);

	CHECK_EQ(offer(m, k, 4, 1), MARK_NEXT);
	CHECK_EQ(offer(m, k, 4, 1), MARK_DUPLICATE);
	CHECK(!watermarks_take_ack(k, STREAM_EVENT));
	watermarks_stored(m, k, (uint64_t[STREAM_END]){ [STREAM_EVENT] = 4 });
	CHECK(watermarks_take_ack(k, STREAM_EVENT));
	CHECK(!watermarks_take_ack(k, STREAM_EVENT));
	CHECK_EQ(offer(m, k, 4, 1), MARK_DUPLICATE);
	CHECK(watermarks_take_ack(k, STREAM_EVENT));
}

TEST(a_rewinding_probe_is_not_flooded_with_nacks)
{
	AUTO(watermarks_free) struct watermarks *m = watermarks_new();
	struct mark *k = known(m, 3);

	for (uint64_t seq = 5; seq < 69; seq++)
		CHECK_EQ(offer(m, k, seq, 1), MARK_GAP);
	CHECK(watermarks_next_due(m) == k);
	CHECK(!watermarks_next_due(m));
	CHECK(watermarks_take_nack(k, STREAM_EVENT, 1000 * MS));
	CHECK_EQ(offer(m, k, 69, 1), MARK_GAP);
	CHECK(!watermarks_take_nack(k, STREAM_EVENT, 1100 * MS));
	watermarks_sweep(m, 1300 * MS);
	CHECK(watermarks_next_due(m) == k);
	CHECK(watermarks_take_nack(k, STREAM_EVENT, 1300 * MS));
}

TEST(the_missing_batch_ends_the_nacks)
{
	AUTO(watermarks_free) struct watermarks *m = watermarks_new();
	struct mark *k = known(m, 3);

	CHECK_EQ(offer(m, k, 5, 1), MARK_GAP);
	CHECK_EQ(offer(m, k, 4, 1), MARK_NEXT);
	CHECK(!watermarks_take_nack(k, STREAM_EVENT, 1));
}

TEST(watermarks_that_went_back_make_the_probe_resend)
{
	AUTO(watermarks_free) struct watermarks *m = watermarks_new();
	struct mark *k = known(m, 3);

	CHECK_EQ(offer(m, k, 4, 1), MARK_NEXT);
	CHECK_EQ(offer(m, k, 5, 1), MARK_NEXT);
	watermarks_load(m, k, (uint64_t[STREAM_END]){ [STREAM_EVENT] = 4 });
	CHECK(watermarks_take_nack(k, STREAM_EVENT, 1));
	CHECK_EQ(k->stored[STREAM_EVENT], 4);
	CHECK_EQ(offer(m, k, 5, 1), MARK_NEXT);
}

TEST(a_node_with_ever_new_epochs_leaves_room_for_others)
{
	AUTO(watermarks_free) struct watermarks *m = watermarks_new();

	for (uint64_t epoch = 1; epoch <= MARKS_OF_NODE; epoch++) {
		struct mark *k = watermarks_get(m, NODE, epoch);

		CHECK(k);
		k->heard_ns = 1;
		if (epoch % MARKS_AT_ONCE == 0) {
			CHECK(!watermarks_get(m, NODE, epoch + 1));
			watermarks_sweep(m, 2);
		}
	}
	CHECK(!watermarks_get(m, NODE, MARKS_OF_NODE + 1));
	CHECK(watermarks_get(m, NODE, 1));
	CHECK(watermarks_get(m, NODE + 1, 1));
	watermarks_sweep(m, 3601 * 1000 * MS);
	CHECK(watermarks_get(m, NODE, MARKS_OF_NODE + 1));
}

TEST(an_epoch_that_is_silent_for_an_hour_is_forgotten)
{
	AUTO(watermarks_free) struct watermarks *m = watermarks_new();
	struct mark *k = known(m, 3);

	k->heard_ns = 1;
	watermarks_sweep(m, 3599 * 1000 * MS);
	CHECK(watermarks_find(m, NODE, EPOCH) == k);
	while (watermarks_next_due(m))
		;
	watermarks_sweep(m, 3601 * 1000 * MS);
	CHECK(!watermarks_find(m, NODE, EPOCH));
}
