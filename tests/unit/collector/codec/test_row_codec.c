// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include <math.h>

#include "collector/codec/row_codec.h"
#include "tests/lib/vectors.h"

enum { NO_LIMIT = RAW_MAX_BYTES };

static const double every[] = {
	0,     7,	 300,	       NAN,	     65535,  65536, 2147483647.0,
	0.5,   0.1,	 2147483648.0, -2,	     -0.0,   255,   256,
	1e-40, INFINITY, -INFINITY,    4294967295.0, 5e-324, 1e300, 1
};

static void same(const double *v, const double *back, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		CHECK(isnan(v[i]) ? isnan(back[i]) : memcmp(&v[i], &back[i], sizeof(*v)) == 0);
}

static struct buf of(struct row_codec *r, const double *v, uint32_t n)
{
	struct buf b = { 0 };

	row_codec_begin(r);
	CHECK(row_codec_add(r, v, n, NO_LIMIT));
	row_codec_put(&b, r);
	CHECK_EQ(b.len, row_codec_len(r));
	return b;
}

TEST(values_are_encoded_as_in_the_reference)
{
	static const double v[] = { 0, 7, 300, NAN, 70000, 0.5, 0.1, -2 };
	struct vector want = vector_of_file("docs/reference/chunk.md", "raw");
	double back[ARRAY_SIZE(v)];
	struct row_codec r;
	struct buf b = of(&r, v, ARRAY_SIZE(v));

	CHECK_EQ(b.len, want.len);
	CHECK(b.len == want.len && memcmp(b.data, want.b, b.len) == 0);
	CHECK_EQ(row_codec_get(want.b, want.len, back, ARRAY_SIZE(v)), 0);
	same(v, back, ARRAY_SIZE(v));
	buf_free(&b);
}

TEST(values_are_restored_bit_by_bit)
{
	double v[400] = { 0 }, back[400];
	struct row_codec r;

	for (uint32_t n = 0; n <= ARRAY_SIZE(v); n = n * 3 / 2 + 1) {
		for (uint32_t i = 0; i < n; i++)
			v[i] = every[i * 17 % ARRAY_SIZE(every)];
		struct buf b = of(&r, v, n);

		CHECK_EQ(row_codec_get(b.data, b.len, back, n), 0);
		same(v, back, n);
		CHECK_EQ(row_codec_get(b.data, b.len, back, n + 1), -EBADMSG);
		buf_free(&b);
	}
}

TEST(a_value_over_the_limit_changes_nothing)
{
	double back[ARRAY_SIZE(every) * 2];
	struct row_codec r;
	struct buf b = { 0 };
	size_t len;

	row_codec_begin(&r);
	CHECK(row_codec_add(&r, every, ARRAY_SIZE(every), NO_LIMIT));
	len = row_codec_len(&r);
	CHECK(!row_codec_add(&r, every, ARRAY_SIZE(every), 2 * len - 20));
	CHECK_EQ(row_codec_len(&r), len);
	CHECK(row_codec_add(&r, every, ARRAY_SIZE(every), 2 * len));
	row_codec_put(&b, &r);
	CHECK_EQ(row_codec_get(b.data, b.len, back, ARRAY_SIZE(back)), 0);
	same(every, back, ARRAY_SIZE(every));
	same(every, back + ARRAY_SIZE(every), ARRAY_SIZE(every));
	buf_free(&b);
}

TEST(a_row_takes_a_limited_number_of_values)
{
	static const double zeros[512];
	struct row_codec r;

	row_codec_begin(&r);
	for (int i = 0; i < RAW_MAX_VALUES / 512; i++)
		CHECK(row_codec_add(&r, zeros, 512, NO_LIMIT));
	CHECK(!row_codec_add(&r, zeros, 1, NO_LIMIT));
}

TEST(a_missing_or_surplus_byte_is_refused)
{
	double back[ARRAY_SIZE(every)];
	struct row_codec r;
	struct buf b = of(&r, every, ARRAY_SIZE(every));

	for (size_t len = 0; len < b.len; len++) {
		uint8_t *copy = malloc(len + 1); /* so that reads past its end are found */

		memcpy(copy, b.data, len);
		CHECK_EQ(row_codec_get(copy, len, back, ARRAY_SIZE(every)), -EBADMSG);
		free(copy);
	}
	buf_put(&b, "", 1);
	CHECK_EQ(row_codec_get(b.data, b.len, back, ARRAY_SIZE(every)), -EBADMSG);
	buf_free(&b);
}

/* With 21 values each of the first two bit fields has three unused bits. */
TEST(bits_that_contradict_each_other_are_refused)
{
	double back[ARRAY_SIZE(every)];
	struct row_codec r;
	struct buf b = of(&r, every, ARRAY_SIZE(every));
	const size_t rows = 2 * (ARRAY_SIZE(every) + 7) / 8;

	for (size_t bit = 0; bit < 8 * (3 + rows); bit++) {
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CHECK_EQ(row_codec_get(b.data, b.len, back, ARRAY_SIZE(every)), -EBADMSG);
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	CHECK_EQ(row_codec_get(b.data, b.len, back, ARRAY_SIZE(every)), 0);
	buf_free(&b);
}

/* A value that is narrow and wide at once, in a row of the right length. */
TEST(no_value_is_two_at_once)
{
	static const uint8_t both[] = { 1, 0, 2, 1, 1, 0, 0, 0x80, 0, 0, 1, 9 },
			     each[] = { 1, 0, 2, 1, 2, 0, 0, 0x80, 0, 0, 1, 9 };
	double back[2];

	CHECK_EQ(row_codec_get(both, sizeof(both), back, 2), -EBADMSG);
	CHECK_EQ(row_codec_get(each, sizeof(each), back, 2), 0);
	CHECK(back[0] == 9 && back[1] == 1);
}
