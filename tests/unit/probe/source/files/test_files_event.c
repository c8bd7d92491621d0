// SPDX-License-Identifier: Apache-2.0
/* One slow file operation, from its kernel records to its event. */
#include <sys/syscall.h>

#include "lib/wire/reason.h"
#include "probe/source/files/files_calls.h"
#include "probe/source/files/files_event.h"
#include "tests/lib/test.h"

#define MS 1000000ull

static struct files_text text;

static void put_path(struct path_parts *p, const char *parts, size_t len, bool whole)
{
	memcpy(p->b, parts, len);
	p->len = (uint32_t)len;
	p->whole = whole;
}

#define PATH(p, parts, whole) put_path(p, parts, sizeof(parts), whole)

static struct files_op checkpoint(void)
{
	struct files_op op = {
		.name = { .head = { .record = FILE_IS_NAME, .tid = 8, .tgid = 7, .id = 5 },
			  .size = 123456,
			  .dev = 254ull << 20 | 1,
			  .disk = "vda1",
			  .fs = "ext4" },
		.end = { .head = { .record = FILE_IS_END, .tid = 8, .tgid = 7, .id = 5 },
			 .comm = "train",
			 .call = FILE_WRITE,
			 .named = 1,
			 .out_ns = 100 * MS,
			 .first_ns = 102 * MS,
			 .last_ns = 140 * MS,
			 .end_ns = 141 * MS,
			 .blocked_ns = 20 * MS,
			 .runq_ns = 3 * MS,
			 .offset = 4096,
			 .bytes = 52428800 },
	};

	PATH(&op.name.path, "17.pt\0ckpt\0data", true);
	return op;
}

static struct event_item event(const struct files_op *op)
{
	struct event_item e;

	files_event(op, 1000, &text, &e);
	return e;
}

static const struct param *param(const struct event_item *e, const char *key)
{
	for (uint32_t i = 0; i < e->nparams; i++)
		if (strcmp(e->params[i].key, key) == 0)
			return &e->params[i];
	return NULL;
}

TEST(its_length_is_the_middle_of_the_possible_range_and_the_error_covers_it)
{
	struct files_op op = checkpoint();
	struct event_item e = event(&op);

	CHECK_EQ(e.us, 39500); /* 38 to 41 ms */
	CHECK_EQ(e.error_us, 1500);
	CHECK_EQ(e.start_ns, 101 * MS + 1000);
	CHECK_EQ(e.reason, R_IO_SLOW);
	CHECK_STR(e.kind, "io.slow");
	CHECK_EQ(e.pid, 7);
	CHECK_EQ(e.tid, 8);
}

TEST(the_event_names_process_call_file_and_device)
{
	struct files_op op = checkpoint();
	struct event_item e = event(&op);

	CHECK_STR(param(&e, "comm")->text, "train");
	CHECK_STR(param(&e, "call")->text, "write");
	CHECK_STR(param(&e, "file")->text, "/data/ckpt/17.pt");
	CHECK_STR(param(&e, "dev")->text, "vda1");
	CHECK(param(&e, "bytes")->number == 52428800);
	CHECK(param(&e, "offset")->number == 4096);
	CHECK(param(&e, "ms")->number == 39.5);
	CHECK(param(&e, "blocked_ms")->number == 20);
	CHECK(e.nparams <= ITEM_MAX_PARAMS);
}

TEST(the_parts_of_its_time_add_up_to_it)
{
	struct files_op op = checkpoint();
	struct event_item e = event(&op);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < e.nevidence; i++)
		sum += e.evidence[i].us;
	CHECK_EQ(e.nevidence, 3);
	CHECK_EQ(sum, e.us);
	CHECK_EQ(e.evidence[0].part, PART_IO);
	CHECK_EQ(e.evidence[0].us, 20000);
	CHECK_EQ(e.evidence[1].part, PART_CPU);
	CHECK_EQ(e.evidence[2].part, PART_RUNQ);
	CHECK_STR(e.evidence[0].what, "/data/ckpt/17.pt");
}

TEST(each_stack_belongs_to_its_part)
{
	struct files_op op = checkpoint();
	struct event_item e;

	op.block.head.record = op.running.head.record = FILE_IS_STACK;
	op.block.n = 2;
	op.block.start_ns = 110 * MS;
	e = event(&op);
	CHECK(files_event_stack(&op, &e, 0) == &op.block);
	CHECK(files_event_stack(&op, &e, 1) == NULL); /* no frames */
	CHECK(files_event_stack(&op, &e, 2) == NULL);
	CHECK_EQ(e.evidence[0].start_ns, 110 * MS + 1000);
}

TEST(a_path_with_an_unknown_beginning_is_marked)
{
	struct files_op op = checkpoint();

	PATH(&op.name.path, "17.pt\0ckpt", false);
	event(&op);
	CHECK_STR(text.file, ".../ckpt/17.pt");
}

TEST(a_path_that_is_too_long_keeps_its_end)
{
	struct files_op op = checkpoint();

	memset(op.name.path.b, 'x', PATH_BYTES);
	memcpy(op.name.path.b, "17.pt", 6);
	op.name.path.len = PATH_BYTES;
	event(&op);
	CHECK_STR(text.file, ".../17.pt");
	op.name.path.len = UINT32_MAX; /* not a valid length */
	event(&op);
	CHECK_STR(text.file, ".../17.pt");
}

TEST(a_deleted_file_is_marked_and_a_hostile_name_is_plain_text)
{
	struct files_op op = checkpoint();

	op.name.head.flags = FILE_DELETED;
	PATH(&op.name.path, "a\nb\033[31m\0tmp", true);
	event(&op);
	CHECK_STR(text.file, "/tmp/a\\x0ab\\x1b[31m (deleted)");
}

TEST(a_file_system_without_a_disk_is_named_by_its_type)
{
	struct files_op op = checkpoint();

	op.name.dev = 42;
	event(&op);
	CHECK_STR(text.dev, "ext4");
}

TEST(a_sync_has_the_size_of_its_file)
{
	struct files_op op = checkpoint();
	struct event_item e;

	op.end.call = FILE_FSYNC;
	op.end.bytes = op.end.offset = FILE_NOWHERE;
	e = event(&op);
	CHECK_STR(param(&e, "call")->text, "fsync");
	CHECK(param(&e, "bytes")->number == 123456);
	CHECK(param(&e, "offset") == NULL);
}

TEST(unknown_values_are_question_marks)
{
	struct files_op op = checkpoint();
	struct event_item e;

	op.name.head.record = 0;
	op.end.call = FILE_WRITEV;
	op.end.bytes = FILE_NOWHERE;
	op.end.head.flags = FILE_APPENDED;
	e = event(&op);
	CHECK_STR(param(&e, "file")->text, "?");
	CHECK_STR(param(&e, "dev")->text, "?");
	CHECK_STR(param(&e, "bytes")->text, "?");
	CHECK(param(&e, "offset") == NULL);
}

TEST(every_call_has_a_unique_name_and_number)
{
	uint8_t call_of[FILE_NRS] = { 0 };
	int numbers = 0;

	files_calls_fill(call_of);
	CHECK_EQ(call_of[SYS_read], FILE_READ);
	CHECK_EQ(call_of[SYS_pwritev2], FILE_PWRITEV);
	CHECK_EQ(call_of[SYS_fdatasync], FILE_FDATASYNC);
	CHECK_EQ(call_of[SYS_openat], FILE_NONE);
	for (int i = 0; i < FILE_NRS; i++)
		numbers += call_of[i] != FILE_NONE;
	CHECK_EQ(numbers, FILE_CALLS - 1 + 2); /* preadv2, pwritev2 */
	for (uint32_t c = FILE_NONE + 1; c < FILE_CALLS; c++)
		CHECK(files_call_name(c)[0] != 0);
	CHECK_STR(files_call_name(FILE_NONE), "");
	CHECK_STR(files_call_name(FILE_CALLS), "");
}
