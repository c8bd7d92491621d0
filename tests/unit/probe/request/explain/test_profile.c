// SPDX-License-Identifier: Apache-2.0
#include "probe/request/explain/profile.h"

#include "tests/lib/test.h"

static struct profile_found found[PROFILE_FOUND];

static void push_n(struct profile *p, uint64_t id, uint64_t at_ns, uint64_t inner, uint64_t caller,
		   uint32_t n)
{
	struct req_stack s = { .kind = REQ_KIND_STACK,
			       .id = id,
			       .at_ns = at_ns,
			       .tgid = 7,
			       .tid = 8,
			       .nframes = n,
			       .frame = { { 1, { 1 }, inner }, { 1, { 1 }, caller } } };

	profile_push(p, &s);
}

static void push(struct profile *p, uint64_t id, uint64_t at_ns, uint64_t inner, uint64_t caller)
{
	push_n(p, id, at_ns, inner, caller, 2);
}

TEST(samples_with_the_same_callers_are_one_stack_and_the_most_frequent_comes_first)
{
	struct profile *p = profile_new();

	push(p, 1, 10, 0x100, 0x2000);
	push(p, 1, 11, 0x101, 0x3000);
	push(p, 1, 12, 0x110, 0x3000);
	push(p, 1, 13, 0x120, 0x3000);
	push(p, 2, 13, 0x100, 0x4000);
	CHECK_EQ(profile_find(p, 1, 0, 100, found), 2);
	CHECK_EQ(found[0].samples, 3);
	CHECK_EQ(found[0].all, 4);
	CHECK_EQ(found[0].first_ns, 11);
	CHECK_EQ(found[0].stack->frame[0].where, 0x101);
	CHECK_EQ(found[0].tid, 8);
	CHECK_EQ(found[1].samples, 1);
	CHECK_EQ(profile_find(p, 2, 0, 100, found), 1);
	CHECK_EQ(profile_find(p, 3, 0, 100, found), 0);
	CHECK_EQ(profile_find(p, 0, 0, 100, found), 0);
	profile_free(p);
}

TEST(samples_outside_the_request_do_not_count)
{
	struct profile *p = profile_new();

	push(p, 1, 10, 1, 2);
	push(p, 1, 20, 1, 2);
	push(p, 1, 30, 1, 2);
	CHECK_EQ(profile_find(p, 1, 15, 25, found), 1);
	CHECK_EQ(found[0].samples, 1);
	profile_free(p);
}

TEST(lone_frames_are_distinguished_by_their_part_of_the_file)
{
	struct profile *p = profile_new();

	push_n(p, 1, 1, 0x1010, 0, 1);
	push_n(p, 1, 1, 0x1fff, 0, 1);
	push_n(p, 1, 1, 0x2000, 0, 1);
	push_n(p, 1, 1, 0, 0, 0); /* has no stack */
	CHECK_EQ(profile_find(p, 1, 0, 9, found), 2);
	CHECK_EQ(found[0].samples, 2);
	CHECK_EQ(found[0].all, 3);
	profile_free(p);
}

TEST(a_full_store_drops_the_oldest_sample)
{
	struct profile *p = profile_new();
	uint64_t i;

	for (i = 0; i < 2 * PROFILE_SAMPLES; i++)
		push(p, 1 + i / 2, i, i, i << 20);
	CHECK_EQ(profile_find(p, 1, 0, i, found), 0);
	CHECK_EQ(profile_find(p, i / 2, 0, i, found), 2);
	CHECK_EQ(profile_find(p, i / 2 - PROFILE_SAMPLES / 4, 0, i, found),
		 0); /* their stacks are gone */
	for (i = 0; i < 100; i++)
		push(p, 9, i, i, i << 20);
	CHECK_EQ(profile_find(p, 9, 0, i, found), PROFILE_FOUND);
	CHECK_EQ(found[0].all, 100);
	profile_free(p);
}

TEST(a_record_that_claims_too_many_frames_has_as_many_as_fit)
{
	struct profile *p = profile_new();

	push_n(p, 1, 1, 1, 1, UINT32_MAX);
	CHECK_EQ(profile_find(p, 1, 0, 9, found), 1);
	CHECK_EQ(found[0].stack->nframes, 2); /* the others are at 0 */
	CHECK_EQ(found[0].stack->flags, STACK_CUT);
	profile_free(p);
}

TEST(frames_outside_any_mapping_do_not_distinguish_stacks)
{
	struct profile *p = profile_new();

	push(p, 1, 1, 0x1010, (uint64_t)-0x1000);
	push(p, 1, 2, 0x1020, (uint64_t)-0x2000);
	CHECK_EQ(profile_find(p, 1, 0, 9, found), 1);
	CHECK_EQ(found[0].stack->nframes, 1);
	CHECK_EQ(found[0].stack->flags, STACK_CUT);
	push(p, 2, 1, 0x1010, 0x2000);
	CHECK_EQ(profile_find(p, 2, 0, 9, found), 1);
	CHECK_EQ(found[0].stack->flags, 0);
	profile_free(p);
}
