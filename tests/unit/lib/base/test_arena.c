// SPDX-License-Identifier: Apache-2.0
#include "lib/base/arena.h"
#include "tests/lib/test.h"

TEST(memory_of_an_arena_is_zero_aligned_and_apart)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	uint8_t *last = NULL;

	for (size_t size = 1; size < 300; size++) {
		uint8_t *p = arena_alloc(a, size);

		CHECK_EQ((uintptr_t)p % 16, 0);
		for (size_t i = 0; i < size; i++)
			CHECK_EQ(p[i], 0);
		memset(p, 0xff, size);
		CHECK(!last || last[0] == 0xff);
		last = p;
	}
}

TEST(what_is_larger_than_a_chunk_gets_its_own)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	uint8_t *big = arena_alloc(a, 300000), *small = arena_alloc(a, 1);

	memset(big, 1, 300000);
	CHECK_EQ(*small, 0);
}

TEST(an_arena_gives_up_to_its_limit_and_then_says_no)
{
	AUTO(arena_free) struct arena *a = arena_new(1000);
	void *p = NULL, *last = NULL;

	CHECK_EQ(arena_try(a, 10, 90, &p), 0);
	CHECK_EQ(arena_try(a, 10, 90, &last), -ENOMEM);
	CHECK(!last); /* untouched on failure */
	CHECK_EQ(arena_try(a, 1, 80, &p), 0);
}

TEST(an_arena_filled_past_its_limit_by_alignment_stays_full)
{
	AUTO(arena_free) struct arena *a = arena_new(1001);
	void *p;

	CHECK_EQ(arena_try(a, 1001, 1, &p), 0);
	CHECK_EQ(arena_try(a, 1, 1, &p), -ENOMEM);
	CHECK_EQ(arena_try(a, 1 << 20, 1, &p), -ENOMEM);
}

TEST(an_arena_that_its_owner_overdrew_gives_nothing_to_the_wire)
{
	AUTO(arena_free) struct arena *a = arena_new(100);
	void *p;

	arena_alloc(a, 5000);
	CHECK_EQ(arena_try(a, 1, 1, &p), -ENOMEM);
}

TEST(a_size_that_overflows_is_refused)
{
	AUTO(arena_free) struct arena *a = arena_new(SIZE_MAX);
	void *p;

	CHECK_EQ(arena_try(a, SIZE_MAX / 2, 3, &p), -ENOMEM);
}

TEST(nothing_is_allocated_as_something)
{
	AUTO(arena_free) struct arena *a = arena_new(0);
	void *p = NULL;

	CHECK_EQ(arena_try(a, 0, 8, &p), 0);
	CHECK(p != NULL);
}

TEST(a_reset_arena_gives_all_again_and_all_zero)
{
	AUTO(arena_free) struct arena *a = arena_new(200000);
	void *p;

	for (int round = 0; round < 3; round++) {
		CHECK_EQ(arena_try(a, 150000, 1, &p), 0);
		memset(p, 0xff, 150000);
		CHECK_EQ(arena_try(a, 40000, 1, &p), 0);
		CHECK_EQ(((uint8_t *)p)[39999], 0);
		memset(p, 0xff, 40000);
		CHECK_EQ(arena_try(a, 40000, 1, &p), -ENOMEM);
		arena_reset(a);
	}
}

TEST(a_copied_string_has_the_given_length)
{
	AUTO(arena_free) struct arena *a = arena_new(1000);

	CHECK_STR(arena_strndup(a, "abcdef", 3), "abc");
	CHECK_STR(arena_strndup(a, "", 0), "");
	arena_free(NULL);
}
