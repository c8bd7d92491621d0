// SPDX-License-Identifier: Apache-2.0
#include "probe/source/profile/fold.h"

#include <fcntl.h>
#include <stdio.h>

#include "probe/symbol/user/elf_file.h"
#include "probe/symbol/kernel/function_cache.h"
#include "probe/source/profile/profile_window.h"
#include "tests/fake/frame.h"
#include "tests/lib/test.h"

#define SEC 1000000000ull

__attribute__((noinline)) static int somewhere(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

__attribute__((noinline)) static int elsewhere(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 2;
}

static uint64_t was_named[8], is_named[8];
static int nnamed;

static void named(void *arg UNUSED, uint64_t was, uint64_t is)
{
	was_named[nnamed % 8] = was;
	is_named[nnamed++ % 8] = is;
}

static bool was_sent(const struct sink *out, const char *text)
{
	return out->event.len && memmem(out->event.data, out->event.len, text, strlen(text));
}

TEST(a_stack_waits_for_its_names_once_and_equal_functions_give_the_same_stack)
{
	AUTO(fold_free) struct fold *f = fold_new("/proc", named, NULL);
	struct req_frame a[] = { by_id((void *)somewhere), by_id((char *)(void *)elsewhere + 4) };
	struct sink out = { 0 };
	uint64_t id, at = SEC;

	nnamed = 0;
	fold_at(f, &out, at);
	id = fold_user(f, (uint32_t)getpid(), a, 2);
	CHECK(id & STACK_PENDING);
	CHECK_EQ(fold_user(f, (uint32_t)getpid(), a, 2), id);
	while (!nnamed && at < 20 * SEC) {
		fold_at(f, &out, at += SEC);
		fold_step(f);
	}
	CHECK_EQ(nnamed, 1);
	CHECK_EQ(was_named[0], id);
	CHECK(is_named[0] && !(is_named[0] & STACK_PENDING));
	CHECK(was_sent(&out, "somewhere (test_fold)"));
	CHECK(was_sent(&out, "elsewhere (test_fold)"));
	a[0].where += 3;
	CHECK_EQ(fold_user(f, (uint32_t)getpid(), a, 2), is_named[0]);
	CHECK_EQ(fold_unknown(f), 0);
	buf_free(&out.event);
}

static uint64_t work(struct fold *f, struct sink *out, uint64_t at, uint64_t id)
{
	int had = nnamed;

	for (int i = 0; i < 30 && nnamed == had && id & STACK_PENDING; i++) {
		fold_at(f, out, at += SEC);
		fold_step(f);
	}
	return id & STACK_PENDING ? is_named[(nnamed - 1) % 8] : id;
}

TEST(another_caller_is_another_stack_and_a_non_code_frame_ends_it)
{
	AUTO(fold_free) struct fold *f = fold_new("/proc", named, NULL);
	struct req_frame a[] = { by_id((void *)somewhere),
				 { .status = 2, .where = (uint64_t)(uintptr_t)&nnamed } };
	struct sink out = { 0 };
	uint32_t pid = (uint32_t)getpid();
	uint64_t one, two;

	nnamed = 0;
	fold_at(f, &out, SEC);
	one = work(f, &out, SEC, fold_user(f, pid, a, 1));
	two = work(f, &out, 40 * SEC, fold_user(f, pid, a, 2));
	CHECK(one && one == two); /* both are cut after the same function */
	a[1] = by_id((char *)(void *)elsewhere + 4);
	fold_at(f, &out, 80 * SEC);
	two = work(f, &out, 80 * SEC, fold_user(f, pid, a, 2));
	CHECK(two && one != two);
	CHECK_EQ(fold_user(f, pid, a, 0), 0);
	buf_free(&out.event);
}

TEST(if_too_many_are_pending_the_most_frequent_stays)
{
	AUTO(fold_free) struct fold *f = fold_new("/proc", named, NULL);
	struct req_frame a = by_id((void *)somewhere);
	uint32_t pid = (uint32_t)getpid();
	struct sink out = { 0 };
	uint64_t hot;

	nnamed = 0;
	fold_at(f, &out, SEC);
	hot = fold_user(f, pid, &a, 1);
	CHECK_EQ(fold_user(f, pid, &a, 1), hot);
	for (uint32_t i = 0; i < 2 * FOLD_USER; i++) {
		struct req_frame other = { .status = 1, .build_id = { 1 }, .where = 4096 * i };

		CHECK(fold_user(f, pid, &other, 1) & STACK_PENDING);
	}
	CHECK_EQ(nnamed, FOLD_USER + 1);
	CHECK_EQ(fold_unknown(f), FOLD_USER + 1);
	CHECK_EQ(fold_user(f, pid, &a, 1), hot);
	buf_free(&out.event);
}

TEST(a_stack_that_was_not_looked_up_in_time_has_its_file)
{
	AUTO(fold_free) struct fold *f = fold_new("/proc", named, NULL);
	struct req_frame a = by_id((void *)somewhere);
	uint32_t pid = (uint32_t)getpid(), gone = 1u << 30;
	struct sink out = { 0 };

	nnamed = 0;
	fold_at(f, &out, SEC);
	work(f, &out, SEC, fold_user(f, pid, &a, 1)); /* makes its file known */
	nnamed = 0;
	for (uint32_t i = 0; i <= FOLD_USER; i++) { /* of processes that ended */
		a.where = (1u << 30) + 4096 * i;
		fold_user(f, gone + i, &a, 1);
	}
	CHECK_EQ(nnamed, 1);
	CHECK(is_named[0] != 0);
	CHECK(was_sent(&out, "(test_fold, not looked up)"));
	CHECK_EQ(fold_unknown(f), 1);
	buf_free(&out.event);
}

static bool text_at(struct function_cache *f, uint64_t space, uint64_t at, const char *text)
{
	const char *found = function_cache_find(f, space, at);

	return text ? found && strcmp(found, text) == 0 : !found;
}

TEST(a_function_is_found_from_its_first_byte_to_its_last)
{
	AUTO(function_cache_free) struct function_cache *f = function_cache_new();

	function_cache_add(f, 1, 100, 200, "b", false);
	function_cache_add(f, 1, 50, 100, "a", true);
	function_cache_add(f, 2, 50, 60, "c", false);
	CHECK(text_at(f, 1, 49, NULL));
	CHECK(text_at(f, 1, 50, "a"));
	CHECK(text_at(f, 1, 99, "a"));
	CHECK(text_at(f, 1, 100, "b"));
	CHECK(text_at(f, 1, 199, "b"));
	CHECK(text_at(f, 1, 200, NULL));
	CHECK(text_at(f, 2, 59, "c"));
	CHECK(text_at(f, 2, 60, NULL));
	CHECK(text_at(f, 0, 50, NULL));
	function_cache_add(f, 2, 50, 70, "d", false);
	CHECK(text_at(f, 2, 65, "d"));
	function_cache_forget_passing(f);
	CHECK(text_at(f, 1, 50, NULL));
	CHECK(text_at(f, 1, 100, "b"));
}

TEST(a_full_function_cache_starts_over)
{
	AUTO(function_cache_free) struct function_cache *f = function_cache_new();

	for (uint64_t i = 0; i < FUNCTIONS_MAX; i++)
		function_cache_add(f, 1, 10 * i, 10 * i + 10, "x", false);
	CHECK(text_at(f, 1, 10 * (FUNCTIONS_MAX - 1), "x"));
	function_cache_add(f, 1, 1000000, 1000001, "y", false);
	CHECK(text_at(f, 1, 0, NULL));
	CHECK(text_at(f, 1, 1000000, "y"));
}
