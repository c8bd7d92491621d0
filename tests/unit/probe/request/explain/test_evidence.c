// SPDX-License-Identifier: Apache-2.0
#include "probe/request/explain/evidence.h"
#include "tests/lib/test.h"

#define MS 1000000ull

static struct evidence_found found;

/* A wait of thread 7; times in ms. */
static struct req_block block(uint64_t id, uint64_t start, uint64_t end, uint32_t wait)
{
	return (struct req_block){ .kind = REQ_KIND_BLOCK,
				   .id = id,
				   .start_ns = start * MS,
				   .end_ns = end * MS,
				   .off_ns = (end - start) * MS,
				   .tgid = 5,
				   .tid = 7,
				   .wait = wait,
				   .nr = 74 };
}

static void push(struct evidence *e, uint64_t id, uint64_t start, uint64_t end, uint32_t wait)
{
	struct req_block b = block(id, start, end, wait);

	evidence_push(e, &b);
}

/* Request 42, read by thread 7 from 1000 to 1100 ms; it arrived 50 ms earlier. */
static void find(const struct evidence *e)
{
	struct req_head h = {
		.id = 42, .tgid = 5, .tid = 7, .read_ns = 1000 * MS, .last_ns = 1100 * MS
	};

	evidence_find(e, &h, 950 * MS, &found);
}

TEST(waits_of_a_request_are_found_longest_first)
{
	AUTO(evidence_free) struct evidence *e = evidence_new();

	push(e, 42, 1000, 1005, WAIT_IO);
	push(e, 41, 1006, 1050, WAIT_IO);
	push(e, 42, 1010, 1060, WAIT_LOCK);
	push(e, 42, 1070, 1080, WAIT_IO);
	find(e);
	CHECK_EQ(found.n, 3);
	CHECK_EQ(found.wait[0].ns, 50 * MS);
	CHECK_EQ(found.wait[1].ns, 10 * MS);
	CHECK_EQ(found.longest[PART_IO]->start_ns, 1070 * MS);
	CHECK_EQ(found.longest[PART_LOCK]->wait, WAIT_LOCK);
	CHECK(!found.longest[PART_SLEEP]);
}

TEST(a_wait_of_another_thread_for_the_same_request_is_its_own)
{
	AUTO(evidence_free) struct evidence *e = evidence_new();
	struct req_block b = block(42, 1010, 1030, WAIT_IO);

	b.tid = 8;
	evidence_push(e, &b);
	find(e);
	CHECK_EQ(found.n, 1);
	CHECK(found.wait[0].own);
}

TEST(a_wait_of_its_thread_for_no_known_request_is_its_own)
{
	AUTO(evidence_free) struct evidence *e = evidence_new();

	push(e, 0, 1050, 1200, WAIT_LOCK);
	find(e);
	CHECK_EQ(found.n, 1);
	CHECK_EQ(found.wait[0].ns, 50 * MS); /* the time after the request does not count */
	CHECK(found.longest[PART_LOCK] != NULL);
}

TEST(waits_of_its_thread_for_others_while_unread_are_reported_but_not_its_own)
{
	AUTO(evidence_free) struct evidence *e = evidence_new();

	push(e, 17, 900, 990, WAIT_IO);
	push(e, 18, 1010, 1090, WAIT_IO);
	find(e);
	CHECK_EQ(found.n, 1);
	CHECK_EQ(found.wait[0].block->id, 17);
	CHECK_EQ(found.wait[0].ns, 40 * MS);
	CHECK(!found.wait[0].own);
	CHECK(!found.longest[PART_IO]);
}

TEST(pieces_of_one_wait_are_merged)
{
	AUTO(evidence_free) struct evidence *e = evidence_new();

	for (uint64_t i = 0; i < 10; i++)
		push(e, 42, 1000 + i * 5, 1005 + i * 5, WAIT_IO);
	push(e, 42, 1060, 1065, WAIT_IO); /* another one, later */
	find(e);
	CHECK_EQ(found.n, 2);
	CHECK_EQ(found.wait[0].off_ns, 50 * MS);
	CHECK_EQ(found.wait[0].start_ns, 1000 * MS);
	CHECK_EQ(found.wait[1].off_ns, 5 * MS);
}

TEST(the_named_process_held_the_cpu_for_the_longest_in_total)
{
	AUTO(evidence_free) struct evidence *e = evidence_new();

	for (uint64_t i = 0; i < 6; i++) {
		struct req_block b = block(42, 1000 + i * 10, 1005 + i * 10, WAIT_RUNQ);

		b.flags = BLOCK_HAS_WHO;
		b.who_tgid = b.who_tid = 99 + (uint32_t)i; /* several processes of one name */
		memcpy(b.who, "hog", 3);
		evidence_push(e, &b);
		if (i == 0) {
			b = block(42, 1070, 1085, WAIT_RUNQ);
			b.flags = BLOCK_HAS_WHO;
			b.who_tgid = b.who_tid = 77;
			evidence_push(e, &b);
		}
	}
	find(e);
	CHECK_STR(found.longest[PART_RUNQ]->who, "hog");
	CHECK_EQ(found.wait[0].block->who_tgid, 77);
}

TEST(a_thread_that_waited_for_itself_names_no_other_thread)
{
	AUTO(evidence_free) struct evidence *e = evidence_new();
	struct req_block b = block(42, 1000, 1050, WAIT_RUNQ);

	b.flags = BLOCK_HAS_WHO;
	b.who_tgid = 5;
	b.who_tid = 7;
	evidence_push(e, &b);
	find(e);
	CHECK(!(found.longest[PART_RUNQ]->flags & BLOCK_HAS_WHO));
}

TEST(a_full_store_drops_the_oldest_and_counts_it)
{
	AUTO(evidence_free) struct evidence *e = evidence_new();

	push(e, 42, 1000, 1050, WAIT_IO);
	for (uint64_t i = 0; i < EVIDENCE_BLOCKS - 1; i++)
		push(e, 1000 + i, 1051, 1052, WAIT_IO);
	CHECK_EQ(evidence_pushed_out(e), 0);
	find(e);
	CHECK_EQ(found.n, 1);
	push(e, 9, 1052, 1053, WAIT_IO);
	CHECK_EQ(evidence_pushed_out(e), 1);
	find(e);
	CHECK_EQ(found.n, 0);
}

TEST(waits_older_than_30_seconds_are_dropped_uncounted)
{
	AUTO(evidence_free) struct evidence *e = evidence_new();

	for (uint64_t i = 0; i < EVIDENCE_BLOCKS; i++)
		push(e, 1 + i, 1000, 1001, WAIT_IO);
	push(e, 5, 31002, 31003, WAIT_IO);
	CHECK_EQ(evidence_pushed_out(e), 0);
}

TEST(at_most_an_items_worth_of_waits_is_found)
{
	AUTO(evidence_free) struct evidence *e = evidence_new();

	for (uint64_t i = 0; i < 3000; i++) {
		struct req_block b = block(42, 1000 + i % 90, 1001 + i % 90, (uint32_t)(i % 20));

		b.arg[0] = i;
		evidence_push(e, &b);
	}
	push(e, 42, 1000, 1099, WAIT_SLEEP);
	find(e);
	CHECK_EQ(found.n, ITEM_MAX_EVIDENCE);
	CHECK_EQ(found.wait[0].ns, 99 * MS);
}
