// SPDX-License-Identifier: Apache-2.0
#include "lib/spool/spool.h"
#include "tests/fake/place.h"
#include "tests/lib/test.h"

#define EVENT STREAM_EVENT
#define METRIC STREAM_METRIC
#define SEC 1000000000ull

enum { PLENTY = 1 << 20 };

static uint32_t left;
static int damaged;

static struct spool *opened(size_t memory, size_t disk)
{
	struct spool *s = spool_new(memory);

	left = 0;
	CHECK_EQ(spool_open_disk(s, place(), disk, &left, &damaged), 0);
	spool_keep(s, 100 * SEC);
	return s;
}

static uint64_t put(struct spool *s, enum wire_stream stream, uint32_t rows, size_t len)
{
	char body[4096];

	memset(body, (int)rows, sizeof(body));
	return spool_append(s, stream, 7, rows, body, len);
}

static bool any_file(void)
{
	return place_run("ls | grep -q seg") == 0;
}

TEST(what_is_acked_in_time_is_never_written)
{
	place_clean();
	AUTO(spool_free) struct spool *s = opened(PLENTY, PLENTY);

	put(s, EVENT, 1, 100);
	spool_keep(s, 104 * SEC);
	CHECK(!any_file());
	CHECK_EQ(spool_ack(s, EVENT, 1), 0);
	spool_keep(s, 106 * SEC);
	CHECK(!any_file());
	put(s, EVENT, 1, 100);
	spool_keep(s, 112 * SEC);
	CHECK(any_file());
	CHECK_EQ(spool_ack(s, EVENT, 2), 0);
	CHECK(!any_file());
}

TEST(what_waits_is_sent_from_disk_and_takes_no_memory)
{
	struct spool_batch *b;

	place_clean();
	AUTO(spool_free) struct spool *s = opened(PLENTY, PLENTY);

	for (uint32_t i = 1; i <= 50; i++)
		put(s, EVENT, i, 4000);
	CHECK(spool_bytes(s) > 200000);
	spool_keep(s, 106 * SEC);
	CHECK(spool_bytes(s) < 10000);
	for (uint32_t i = 1; i <= 50; i++) {
		b = spool_next(s, EVENT);
		CHECK_EQ(b->seq, i);
		CHECK_EQ(b->len, 4000);
		CHECK_EQ(b->body[0], i);
		CHECK_EQ(b->body[3999], i);
	}
	CHECK(!spool_next(s, EVENT));
	spool_rewind(s, EVENT, 10);
	CHECK_EQ(spool_next(s, EVENT)->seq, 11);
	CHECK_EQ(spool_ack(s, EVENT, 50), 0);
	CHECK_EQ(spool_bytes(s), 0);
	CHECK(!any_file());
}

TEST(the_next_process_sends_what_was_left_under_its_old_epoch_and_then_its_own)
{
	uint64_t epoch;

	place_clean();
	{
		AUTO(spool_free) struct spool *s = opened(PLENTY, PLENTY);

		epoch = spool_epoch(s);
		for (uint32_t i = 1; i <= 5; i++)
			put(s, EVENT, i, 10);
		put(s, METRIC, 9, 10);
		CHECK_EQ(spool_ack(s, EVENT, 2), 0);
		CHECK_EQ(spool_keep_all(s), 0);
	}
	AUTO(spool_free) struct spool *s = opened(PLENTY, PLENTY);

	CHECK_EQ(left, 4);
	CHECK_EQ(damaged, 0);
	CHECK_EQ(put(s, EVENT, 1, 10), 1);
	CHECK_EQ(spool_batches(s), 5);
	CHECK(spool_epoch(s) == epoch);
	CHECK_EQ(spool_base(s, EVENT), 3);
	CHECK_EQ(spool_next(s, EVENT)->seq, 3);
	CHECK_EQ(spool_ack(s, EVENT, 5), 0);
	CHECK(!spool_turn(s)); /* the metrics are not acked */
	CHECK_EQ(spool_ack(s, METRIC, 1), 0);
	CHECK(spool_turn(s));
	CHECK(!spool_turn(s));
	CHECK(spool_epoch(s) != epoch);
	CHECK_EQ(spool_base(s, EVENT), 1);
	CHECK_EQ(spool_next(s, EVENT)->seq, 1);
}

/* It had sent more than it had time to write down. */
TEST(an_ack_beyond_what_an_earlier_process_left_is_believed)
{
	place_clean();
	{
		AUTO(spool_free) struct spool *s = opened(PLENTY, PLENTY);

		put(s, EVENT, 1, 10);
		CHECK_EQ(spool_keep_all(s), 0);
		put(s, EVENT, 1, 10);
	}
	AUTO(spool_free) struct spool *s = opened(PLENTY, PLENTY);

	CHECK_EQ(left, 1);
	CHECK_EQ(spool_ack(s, EVENT, 2), 0);
	CHECK(spool_turn(s));
	CHECK_EQ(spool_ack(s, EVENT, 1), -ERANGE); /* of this one nothing was made yet */
	CHECK(!any_file());
}

TEST(over_its_cap_the_oldest_metrics_go_before_any_event_and_are_counted)
{
	place_clean();
	AUTO(spool_free) struct spool *s = opened(PLENTY, 100000);

	for (uint32_t i = 0; i < 100; i++)
		put(s, i % 10 ? METRIC : EVENT, 3, 2000);
	spool_keep(s, 106 * SEC);
	CHECK_EQ(spool_lost(s, EVENT).batches, 0);
	CHECK(spool_lost(s, METRIC).batches >= 50);
	CHECK_EQ(spool_lost(s, METRIC).rows, 3 * spool_lost(s, METRIC).batches);
	CHECK_EQ(spool_base(s, METRIC), 1 + spool_lost(s, METRIC).batches);
	CHECK_EQ(spool_base(s, EVENT), 1);
	for (uint32_t i = 0; i < 100; i++)
		put(s, EVENT, 3, 2000);
	spool_keep(s, 107 * SEC);
	CHECK_EQ(spool_lost(s, METRIC).batches, 90);
	CHECK(spool_lost(s, EVENT).batches > 0);
	CHECK_EQ(spool_next(s, EVENT)->seq, spool_base(s, EVENT));
}

/* A batch that cannot be read back is a hole, which becomes a gap that base_seq reports. */
TEST(what_cannot_be_read_back_is_lost_alone)
{
	place_clean();
	AUTO(spool_free) struct spool *s = opened(PLENTY, PLENTY);
	size_t bytes;

	for (uint32_t i = 1; i <= 3; i++)
		put(s, EVENT, i, 100);
	spool_keep(s, 106 * SEC);
	CHECK_EQ(place_run("printf X | dd of=$(ls *.seg) bs=1 seek=200 conv=notrunc 2>/dev/null"),
		 0);
	CHECK_EQ(spool_next(s, EVENT)->seq, 1);
	CHECK_EQ(spool_next(s, EVENT)->seq, 3);
	CHECK_EQ(spool_lost(s, EVENT).batches, 1);
	CHECK_EQ(spool_lost(s, EVENT).rows, 2);
	CHECK_EQ(spool_unacked(s, &bytes), 2);
	CHECK_EQ(spool_base(s, EVENT), 1);
	CHECK_EQ(spool_ack(s, EVENT, 1), 0);
	CHECK_EQ(spool_base(s, EVENT), 3);
	spool_rewind(s, EVENT, 1);
	CHECK_EQ(spool_unacked(s, &bytes), 0);
	CHECK_EQ(spool_next(s, EVENT)->seq, 3);
	CHECK_EQ(spool_ack(s, EVENT, 3), 0);
	CHECK_EQ(spool_batches(s), 0);
	CHECK_EQ(spool_bytes(s), 0);
}

TEST(with_a_full_disk_it_goes_on_in_memory_and_writes_when_there_is_room_again)
{
	place_clean();
	AUTO(spool_free) struct spool *s = opened(10000, PLENTY);

	place_limit(2500);
	for (uint32_t i = 0; i < 20; i++)
		put(s, i % 2 ? METRIC : EVENT, 1, 1000);
	spool_keep(s, 106 * SEC);
	CHECK(spool_disk_error(s) < 0);
	CHECK(spool_bytes(s) <= 10000);
	CHECK(spool_lost(s, METRIC).batches > 0);
	CHECK_EQ(spool_lost(s, EVENT).batches, 0);
	place_limit(RLIM_INFINITY);
	spool_keep(s, 107 * SEC);
	CHECK(spool_disk_error(s) < 0); /* not tried yet */
	spool_keep(s, 170 * SEC);
	CHECK_EQ(spool_disk_error(s), 0);
	CHECK(spool_bytes(s) < 4000);
	CHECK_EQ(spool_next(s, EVENT)->seq, 1);
}

TEST(a_new_epoch_keeps_the_batches_that_were_on_disk)
{
	uint64_t epoch;

	place_clean();
	{
		AUTO(spool_free) struct spool *s = opened(PLENTY, PLENTY);

		for (uint32_t i = 1; i <= 4; i++)
			put(s, EVENT, i, 100);
		CHECK_EQ(spool_ack(s, EVENT, 2), 0);
		spool_keep(s, 106 * SEC);
		spool_renew(s);
		epoch = spool_epoch(s);
		CHECK_EQ(spool_base(s, EVENT), 1);
		CHECK_EQ(spool_next(s, EVENT)->body[0], 3);
		CHECK_EQ(spool_keep_all(s), 0);
	}
	AUTO(spool_free) struct spool *s = opened(PLENTY, PLENTY);

	CHECK_EQ(left, 2);
	CHECK(spool_epoch(s) == epoch);
	CHECK_EQ(spool_next(s, EVENT)->seq, 1);
	CHECK_EQ(spool_next(s, EVENT)->body[0], 4);
}

TEST(layouts_are_kept_and_a_damaged_one_is_not_used)
{
	static const struct wire_metric metric[] = { { .name = "a", .unit = "n" } };
	struct wire_dict d = { .entity_kind = "node", .n = 1, .metrics = metric };
	const struct wire_dict *all[] = { &d };
	struct buf frame = { 0 };

	place_clean();
	d.layout = wire_layout_id(&d);
	AUTO(spool_free) struct spool *s = opened(PLENTY, PLENTY);

	CHECK_EQ(spool_dict(s, d.layout, &frame), -ENOENT);
	spool_use_dicts(s, all, 1);
	CHECK_EQ(spool_dict(s, d.layout, &frame), -ENOENT);
	put(s, METRIC, 1, 1);
	CHECK_EQ(spool_keep_all(s), 0);
	CHECK_EQ(spool_dict(s, d.layout, &frame), 0);
	CHECK(frame.len > 0);
	CHECK_EQ(place_run("printf X | dd of=$(ls *.dict) bs=1 seek=12 conv=notrunc 2>/dev/null"),
		 0);
	CHECK_EQ(spool_dict(s, d.layout, &frame), -ENOENT);
	buf_free(&frame);
	place_clean();
}

TEST(a_directory_that_was_removed_is_made_again)
{
	place_clean();
	AUTO(spool_free) struct spool *s = opened(PLENTY, PLENTY);

	put(s, EVENT, 1, 100);
	spool_keep(s, 106 * SEC);
	CHECK(any_file());
	CHECK_EQ(spool_disk_removals(s), 0);
	place_clean();
	put(s, EVENT, 2, 100);
	spool_keep(s, 112 * SEC);
	CHECK_EQ(spool_disk_removals(s), 1);
	CHECK_EQ(spool_disk_error(s), 0);
	CHECK(any_file());
	put(s, EVENT, 3, 100);
	spool_keep(s, 118 * SEC);
	CHECK_EQ(spool_disk_removals(s), 1);
	AUTO(spool_free) struct spool *other = spool_new(PLENTY);

	CHECK_EQ(spool_open_disk(other, place(), PLENTY, &left, &damaged), -EBUSY);
	place_clean();
}
