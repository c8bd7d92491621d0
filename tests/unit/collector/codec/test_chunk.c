// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include <math.h>

#include "collector/codec/column.h"
#include "collector/codec/rollup.h"
#include "collector/archive/chunk_builder.h"
#include "tests/lib/vectors.h"

static void is_column(const char *name, const double *v, uint32_t n)
{
	struct vector want = vector_of_file("docs/reference/chunk.md", name);
	struct buf b = { 0 };
	double back[16];

	column_put(&b, v, n);
	CHECK_EQ(b.len, want.len);
	CHECK(b.len == want.len && memcmp(b.data, want.b, b.len) == 0);
	CHECK_EQ(column_get(want.b, want.len, back, n), 0);
	for (uint32_t i = 0; i < n; i++)
		CHECK(isnan(v[i]) ? isnan(back[i]) : v[i] == back[i]);
	buf_free(&b);
}

TEST(columns_are_encoded_as_in_the_reference)
{
	is_column("zeros", (double[]){ 0, 0, 0, 0 }, 4);
	is_column("even", (double[]){ 1000000, 3000000, 5000000, 7000000 }, 4);
	is_column("squares", (double[]){ 1, 4, 9, 16, 25 }, 5);
	is_column("few", (double[]){ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 300, 0, 0 }, 14);
	is_column("bits", (double[]){ 3, 0, 7, 5, 1 }, 5);
	is_column("shares", (double[]){ (double)0.25f, (double)0.1f, (double)0.7f }, 3);
	is_column("missing", (double[]){ 5, NAN, NAN, 5 }, 4);
	is_column("doubles", (double[]){ INFINITY, 0.1 + 0.2 }, 2);
}

static const double ticks[] = { 0, 2000000, 4000001 };
static const double two[] = { 0, 2 };
static const double first_v[] = { 1, 2, 3, 0, 0, 0 }, second_v[] = { 7, 8, NAN, 0.5 };
static const struct chunk_entity entities[] = { { 3, (double[]){ 0, 1, 2 }, first_v },
						{ 2, two, second_v } };
static const struct chunk example = {
	.nticks = 3, .ncolumns = 2, .nentities = 2, .tick_us = ticks, .entity = entities
};

TEST(a_chunk_is_encoded_as_in_the_reference_and_decodes)
{
	struct vector want = vector_of_file("docs/reference/chunk.md", "chunk");
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct chunk back;
	struct buf b = { 0 };

	chunk_pack(&b, &example);
	CHECK_EQ(b.len, want.len);
	CHECK(b.len == want.len && memcmp(b.data, want.b, b.len) == 0);
	CHECK_EQ(chunk_unpack(a, b.data, b.len, &back), 0);
	CHECK(chunk_equal(&example, &back));
	buf_free(&b);
}

TEST(a_changed_bit_or_missing_byte_of_a_chunk_is_refused)
{
	struct buf b = { 0 };
	struct chunk back;

	chunk_pack(&b, &example);
	for (size_t i = 0; i < b.len * 8; i++) {
		AUTO(arena_free) struct arena *a = arena_new(1 << 20);

		b.data[i / 8] ^= (uint8_t)(1 << i % 8);
		CHECK(chunk_unpack(a, b.data, b.len, &back) < 0 || !chunk_equal(&example, &back) ||
		      i / 8 == 1);
		CHECK_EQ(chunk_unpack(a, b.data, b.len, &back), -EBADMSG);
		b.data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	for (size_t i = 0; i < b.len; i++) {
		AUTO(arena_free) struct arena *a = arena_new(1 << 20);

		CHECK_EQ(chunk_unpack(a, b.data, i, &back), -EBADMSG);
	}
	buf_free(&b);
}

TEST(equal_columns_are_stored_once)
{
	static const double v[100] = { 0 };
	struct chunk_entity e[50];
	struct chunk c = {
		.nticks = 1, .ncolumns = 100, .nentities = 50, .tick_us = ticks, .entity = e
	};
	struct buf b = { 0 };

	for (int i = 0; i < 50; i++)
		e[i] = (struct chunk_entity){ 1, ticks, v };
	chunk_pack(&b, &c);
	CHECK(b.len < 10 + 2 * (1 + 50 * 101) + 20);
	buf_free(&b);
}

TEST(a_rollup_counts_present_values_only)
{
	static const double us[] = { 0, 59999999, 60000000, 3599000000 };
	static const double v[] = { 1, 2, NAN, 1e291, 0.5, NAN, 0.25, -3 };
	const struct chunk_entity e = { 4, (double[]){ 0, 1, 2, 3 }, v };
	const struct chunk c = {
		.nticks = 4, .ncolumns = 2, .nentities = 1, .tick_us = us, .entity = &e
	};
	static const double want[] = { 2, 0, 0, 1,   NAN,  NAN, 2,   NAN,  NAN, 3,   NAN,  NAN,
				       1, 1, 1, 0.5, 0.25, -3,	0.5, 0.25, -3,	0.5, 0.25, -3 };
	const struct chunk_entity rolled = { 3, (double[]){ 0, 1, 2 }, want };
	const struct chunk minutes = { .nticks = 3,
				       .ncolumns = 8,
				       .nentities = 1,
				       .tick_us = (double[]){ 0, 60000000, 3540000000 },
				       .entity = &rolled };
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct chunk out;

	rollup(a, &c, 60000000, &out);
	CHECK(chunk_equal(&out, &minutes));
}

struct taken {
	int n;
	uint64_t last[4];
};

static int on_chunk(void *arg, const struct chunk_builder_chunk *c)
{
	struct taken *t = arg;

	t->last[t->n++] = c->layout;
	if (c->layout == 5) {
		CHECK_EQ(c->chunk.nentities, 2);
		CHECK_EQ(c->id[0], 1);
		CHECK_EQ(c->chunk.nticks, 3);
		CHECK_EQ(c->chunk.entity[0].n, 2);
		CHECK_EQ(c->chunk.entity[0].v[0], 10); /* sorted by time */
		CHECK_EQ(c->chunk.entity[1].n, 2); /* two rows of one time are kept */
		CHECK(isnan(c->chunk.entity[1].v[2])); /* values that a row lacks are missing */
	}
	return 0;
}

TEST(rows_in_any_order_become_chunks_in_order)
{
	AUTO(chunk_builder_free) struct chunk_builder *s = chunk_builder_new();
	struct taken t = { 0 };

	chunk_builder_add(s, 1, 6, 1, 7, (double[]){ 1 }, 1, 1);
	chunk_builder_add(s, 1, 5, 1, 9, (double[]){ 20, 0 }, 2, 2);
	chunk_builder_add(s, 1, 5, 2, 1, (double[]){ 3 }, 1, 2);
	chunk_builder_add(s, 1, 5, 2, 1, (double[]){ 4, 5 }, 2, 2);
	chunk_builder_add(s, 1, 5, 1, 8, (double[]){ 10, 0 }, 2, 2);
	CHECK_EQ(chunk_builder_values(s), 9);
	CHECK_EQ(chunk_builder_each(s, on_chunk, &t), 0);
	CHECK_EQ(t.n, 2);
	CHECK_EQ(t.last[0], 5);
	CHECK_EQ(t.last[1], 6);
}
