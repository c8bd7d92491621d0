// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/store/watermark_store.h"

static enum outcome judge_batch(struct entry *e, uint64_t seq, uint64_t base)
{
	struct wire_batch_head h = { 1, 2, STREAM_METRIC, seq, base, 0, 0 };

	return watermark_store_judge(e, &h);
}

TEST(a_watermark_moves_by_one)
{
	struct entry e = { 0 };

	CHECK_EQ(judge_batch(&e, 1, 1), OUTCOME_TAKEN);
	CHECK_EQ(judge_batch(&e, 2, 1), OUTCOME_TAKEN);
	CHECK_EQ(judge_batch(&e, 2, 1), OUTCOME_DUPLICATE);
	CHECK_EQ(judge_batch(&e, 4, 1), OUTCOME_GAP);
	CHECK_EQ(judge_batch(&e, 3, 1), OUTCOME_TAKEN);
	CHECK_EQ(e.next[STREAM_METRIC], 3);
	CHECK_EQ(e.lost[STREAM_METRIC], 0);
}

TEST(batches_that_a_probe_reports_as_dropped_are_lost)
{
	struct entry e = { 0 };

	CHECK_EQ(judge_batch(&e, 5, 5), OUTCOME_TAKEN);
	CHECK_EQ(judge_batch(&e, 9, 9), OUTCOME_TAKEN);
	CHECK_EQ(e.lost[STREAM_METRIC], 4 + 3);
}

TEST(no_batch_of_an_unknown_node_is_taken)
{
	struct entry e = { .unknown_node = true };

	CHECK_EQ(judge_batch(&e, 1, 1), OUTCOME_UNKNOWN_NODE);
}

TEST(a_failed_transaction_moves_no_watermark)
{
	AUTO(watermark_store_free) struct watermark_store *l = watermark_store_new();
	struct entry *e = watermark_store_entry(l, 1, 2);

	CHECK_EQ(judge_batch(e, 3, 3), OUTCOME_TAKEN);
	watermark_store_begin(e);
	CHECK_EQ(e->next[STREAM_METRIC], 0);
	CHECK_EQ(e->lost[STREAM_METRIC], 0);
	CHECK_EQ(judge_batch(e, 3, 3), OUTCOME_TAKEN);
	watermark_store_moved(&e, 1);
	CHECK_EQ(e->seq[STREAM_METRIC], 3);
	CHECK(e->exists[STREAM_METRIC]);
	CHECK(!e->exists[STREAM_EVENT]);
}

TEST(after_an_invalidation_no_entry_is_known)
{
	AUTO(watermark_store_free) struct watermark_store *l = watermark_store_new();
	struct entry *e = watermark_store_entry(l, 1, 2);

	e->known = true;
	watermark_store_invalidate(l);
	CHECK(!e->known);
}
