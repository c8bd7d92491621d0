// SPDX-License-Identifier: Apache-2.0
#include "probe/source/files/files_pending.h"
#include "tests/lib/test.h"

static struct files_op got;

static void name(struct files_pending *p, uint32_t tid, uint64_t id)
{
	struct file_name n = { .head = { .record = FILE_IS_NAME, .tid = tid, .id = id } };

	files_pending_name(p, &n);
}

static void stack(struct files_pending *p, uint32_t tid, uint64_t id, uint32_t flags, uint32_t n)
{
	struct file_stack s = { .head = { .record = FILE_IS_STACK, flags, tid, .id = id }, .n = n };

	files_pending_stack(p, &s);
}

static void end(struct files_pending *p, uint32_t tid, uint64_t id)
{
	struct file_end e = { .head = { .record = FILE_IS_END, .tid = tid, .id = id } };

	files_pending_end(p, &e, &got);
}

TEST(records_of_an_operation_are_joined_at_its_end)
{
	struct files_pending *p = files_pending_new();

	name(p, 1, 10);
	name(p, 2, 20);
	stack(p, 1, 10, 0, 3);
	stack(p, 1, 10, 0, 4); /* of a longer wait */
	stack(p, 1, 10, FILE_ON_CPU, 5);
	end(p, 1, 10);
	CHECK_EQ(got.name.head.id, 10);
	CHECK_EQ(got.block.n, 4);
	CHECK_EQ(got.running.n, 5);
	end(p, 2, 20);
	CHECK_EQ(got.name.head.id, 20);
	CHECK_EQ(got.block.head.record, 0);
	files_pending_free(p);
}

TEST(records_of_another_operation_of_the_same_thread_are_not_joined)
{
	struct files_pending *p = files_pending_new();

	name(p, 1, 10);
	stack(p, 1, 9, 0, 3);
	end(p, 1, 11);
	CHECK_EQ(got.name.head.record, 0);
	CHECK_EQ(got.end.head.id, 11);
	name(p, 1, 12);
	stack(p, 1, 12, 0, 3);
	name(p, 1, 13); /* the end of 12 was lost */
	end(p, 1, 13);
	CHECK_EQ(got.name.head.id, 13);
	CHECK_EQ(got.block.head.record, 0);
	files_pending_free(p);
}

TEST(an_end_without_a_name_is_an_operation_without_one)
{
	struct files_pending *p = files_pending_new();

	end(p, 1, 10);
	CHECK_EQ(got.name.head.record, 0);
	CHECK_EQ(got.end.head.tid, 1);
	CHECK_EQ(files_pending_full(p), 0);
	files_pending_free(p);
}

TEST(the_oldest_operation_is_replaced_and_counted)
{
	struct files_pending *p = files_pending_new();

	for (uint32_t i = 0; i < FILES_PENDING + 3; i++)
		name(p, i + 1, 1000 - i % 7 + i);
	CHECK_EQ(files_pending_full(p), 3);
	end(p, FILES_PENDING + 3, 1000 - (FILES_PENDING + 2) % 7 + FILES_PENDING + 2);
	CHECK_EQ(got.name.head.record, FILE_IS_NAME);
	for (uint32_t i = 0, named = 0; i < FILES_PENDING + 2; i++) {
		end(p, i + 1, 1000 - i % 7 + i);
		named += got.name.head.record != 0;
		if (i == FILES_PENDING + 1)
			CHECK_EQ(named, FILES_PENDING - 1);
	}
	files_pending_free(p);
}
