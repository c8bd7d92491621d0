// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/ustacks.h"

#include <stdio.h>
#include <sys/mman.h>

#include "probe/symbol/stack_dedup.h"
#include "tests/lib/test.h"

#define SEC 1000000000ull

static struct req_stack stack_at(uint64_t addr)
{
	return (struct req_stack){ .kind = REQ_KIND_STACK,
				   .tgid = (uint32_t)getpid(),
				   .nframes = 1,
				   .frame = { { .status = 2, .where = addr } } };
}

static int times_sent(const struct sink *out, const char *text)
{
	const char *p = (const char *)out->event.data, *end = p ? p + out->event.len : NULL;
	int n = 0;

	while (p && (p = memmem(p, (size_t)(end - p), text, strlen(text)))) {
		p += strlen(text);
		n++;
	}
	return n;
}

static bool was_sent(const struct sink *out, const char *text)
{
	return times_sent(out, text) > 0;
}

TEST(a_stack_is_sent_once_and_again_after_an_hour)
{
	AUTO(ustacks_free) struct ustacks *s = ustacks_new("/proc");
	struct req_stack stack = stack_at(1);
	uint64_t id = ustacks_id(s, &stack, SEC);
	struct sink out = { 0 };
	size_t once;

	CHECK(id != 0 && id <= INT64_MAX);
	ustacks_step(s, &out, SEC);
	once = out.event.len;
	CHECK(was_sent(&out, "0x1"));
	CHECK_EQ(ustacks_id(s, &stack, 2 * SEC), id);
	ustacks_step(s, &out, 2 * SEC);
	CHECK_EQ(out.event.len, once);
	CHECK_EQ(ustacks_id(s, &stack, DEDUP_RESEND_NS + SEC), id);
	ustacks_step(s, &out, DEDUP_RESEND_NS + SEC);
	CHECK_EQ(out.event.len, 2 * once);
	buf_free(&out.event);
}

TEST(an_address_in_another_process_is_another_stack_and_a_place_in_a_file_is_not)
{
	AUTO(ustacks_free) struct ustacks *s = ustacks_new("/proc");
	struct req_stack a = stack_at(0x1000), b = a;

	b.tgid = 1;
	CHECK(ustacks_id(s, &a, 1) != ustacks_id(s, &b, 1));
	a.frame[0] = b.frame[0] = (struct req_frame){ 1, { 7 }, 0x1000 };
	CHECK_EQ(ustacks_id(s, &a, 1), ustacks_id(s, &b, 1));
}

TEST(more_than_can_wait_have_no_id)
{
	AUTO(ustacks_free) struct ustacks *s = ustacks_new("/proc");
	struct req_stack stack = stack_at(0);
	struct sink out = { 0 };

	for (; stack.frame[0].where < USTACKS_PENDING; stack.frame[0].where++) {
		stack.tgid = (uint32_t)stack.frame[0].where / 8;
		CHECK(ustacks_id(s, &stack, 1) != 0);
	}
	CHECK_EQ(ustacks_id(s, &stack, 1), 0);
	for (int i = 0; i < USTACKS_PENDING; i++)
		ustacks_step(s, &out, 1);
	CHECK(ustacks_id(s, &stack, 1) != 0);
	buf_free(&out.event);
}

TEST(one_process_leaves_room_for_the_stacks_of_others)
{
	AUTO(ustacks_free) struct ustacks *s = ustacks_new("/proc");
	struct req_stack stack = stack_at(0), other = stack_at(1);

	other.tgid = 1;
	for (; ustacks_id(s, &stack, 1); stack.frame[0].where++)
		;
	CHECK_EQ(stack.frame[0].where, USTACKS_PENDING / 2);
	CHECK(ustacks_id(s, &other, 1) != 0);
}

/* Longer than one step; the last line is the one to find. */
static void write_long_map(const char *path, const void *at)
{
	FILE *f = fopen(path, "we");

	for (int i = 0; i < 40000; i++)
		fprintf(f, "%x 10 another_function_of_some_length\n", i * 16);
	fprintf(f, "%lx 40 the_last\n", (unsigned long)(uintptr_t)at);
	fclose(f);
}

TEST(a_stack_is_sent_without_a_name_that_takes_too_long)
{
	AUTO(ustacks_free) struct ustacks *s = ustacks_new("/proc");
	char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct req_stack stack = stack_at((uint64_t)(uintptr_t)code), other = stack_at(2);
	struct sink out = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	write_long_map(path, code);
	ustacks_id(s, &stack, SEC);
	for (int i = 0; i < 20; i++)
		ustacks_step(s, &out, SEC);
	CHECK(was_sent(&out, "the_last"));
	buf_reset(&out.event);
	ustacks_id(s, &stack, DEDUP_RESEND_NS + SEC);
	ustacks_step(s, &out, DEDUP_RESEND_NS + SEC);
	CHECK_EQ(out.event.len, 0);
	ustacks_step(s, &out, DEDUP_RESEND_NS + 7 * SEC);
	CHECK(was_sent(&out, "0x7") && !was_sent(&out, "the_last"));
	ustacks_step(s, &out, DEDUP_RESEND_NS + 7 * SEC); /* nothing waits any more */
	ustacks_id(s, &other, DEDUP_RESEND_NS + 7 * SEC);
	ustacks_step(s, &out, DEDUP_RESEND_NS + 7 * SEC);
	CHECK(was_sent(&out, "0x2"));
	unlink(path);
	buf_free(&out.event);
}

TEST(a_process_that_is_costly_to_read_does_not_delay_the_others)
{
	AUTO(ustacks_free) struct ustacks *s = ustacks_new("/proc");
	char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct req_stack costly = stack_at((uint64_t)(uintptr_t)code), other = stack_at(2);
	struct sink out = { 0 };
	char path[64];
	int steps = 0;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	write_long_map(path, code);
	for (int i = 0; i < 8; i++, costly.frame[0].where++)
		ustacks_id(s, &costly, SEC);
	other.tgid = 1;
	ustacks_step(s, &out, SEC);
	ustacks_id(s, &other, SEC + 1);
	while (steps++ < 1000 && !was_sent(&out, "0x2"))
		ustacks_step(s, &out, SEC + 2);
	CHECK(was_sent(&out, "0x2"));
	CHECK_EQ(times_sent(&out, "the_last"), 1);
	unlink(path);
	buf_free(&out.event);
}
