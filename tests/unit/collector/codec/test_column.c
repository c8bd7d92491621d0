// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include <float.h>
#include <math.h>

#include "collector/codec/column.h"

enum { N = 400 };

static uint64_t seed = 88172645463325252u;

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* The encoded length of v; it must decode to the same values, and at no other length. */
static size_t bytes_of(const double *v, uint32_t n)
{
	struct buf b = { 0 };
	double back[N], other[N + 1];
	size_t len;

	column_put(&b, v, n);
	CHECK_EQ(column_len(b.data, b.len), b.len);
	CHECK_EQ(column_get(b.data, b.len, back, n), 0);
	for (uint32_t i = 0; i < n; i++)
		CHECK(isnan(v[i]) ? isnan(back[i]) : memcmp(&v[i], &back[i], sizeof(*v)) == 0);
	CHECK_EQ(column_get(b.data, b.len, other, n + 1), -EBADMSG);
	for (size_t i = 0; i < b.len; i++)
		CHECK_EQ(column_get(b.data, i, other, n), -EBADMSG);
	len = b.len;
	buf_free(&b);
	return len;
}

TEST(a_column_of_one_value_takes_a_few_bytes_however_long_it_is)
{
	double v[N];

	for (int i = 0; i < N; i++)
		v[i] = 0;
	CHECK(bytes_of(v, N) <= 7);
	for (int i = 0; i < N; i++)
		v[i] = NAN;
	CHECK(bytes_of(v, N) <= 9);
	for (int i = 0; i < N; i++)
		v[i] = (double)0.1f;
	CHECK(bytes_of(v, N) <= 7);
}

TEST(what_grows_evenly_takes_a_few_bytes)
{
	double v[N];

	for (int i = 0; i < N; i++)
		v[i] = 1e9 + 2000000.0 * i;
	CHECK(bytes_of(v, N) <= 16);
	for (int i = 0; i < N; i++)
		v[i] = i * (double)i;
	CHECK(bytes_of(v, N) <= 16);
}

TEST(small_counts_take_their_bits)
{
	double v[N];

	for (int i = 0; i < N; i++)
		v[i] = (double)(any() % 8);
	CHECK(bytes_of(v, N) <= N * 3 / 8 + 10);
	for (int i = 0; i < N; i++)
		v[i] = i % 50 ? 0 : 12345;
	CHECK(bytes_of(v, N) <= N / 50 * 5 + 10);
}

TEST(fractions_as_probes_send_them_take_their_digits)
{
	double v[N];

	for (int i = 0; i < N; i++)
		v[i] = (double)(float)((double)(any() % 200) / 100);
	CHECK(bytes_of(v, N) <= N + 10);
	for (int i = 0; i < N; i++)
		v[i] = (double)(any() % 200) / 100;
	CHECK(bytes_of(v, N) <= N + 10);
}

TEST(every_double_is_restored)
{
	static const double odd[] = {
		0,	    -0.0,	  NAN,	  INFINITY,	   -INFINITY,	  DBL_MAX,
		-DBL_MAX,   DBL_MIN,	  5e-324, -5e-324,	   1e308,	  0x1p53,
		0x1p53 + 2, -0x1p53,	  0x1p63, (double)FLT_MIN, 1e-45,	  (double)FLT_MAX,
		0.1,	    (double)0.1f, M_PI,	  1e9 + 0.5,	   999999999.999, 4503599627370497.5
	};
	double v[N];

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		bytes_of(&odd[i], 1);
	for (size_t n = 0; n <= ARRAY_SIZE(odd); n++)
		bytes_of(odd, (uint32_t)n);
	for (int round = 0; round < 2000; round++) {
		uint32_t n = (uint32_t)(any() % N);
		unsigned kinds = (unsigned)any();

		for (uint32_t i = 0; i < n; i++) {
			uint64_t x = any();

			switch (kinds >> (x % 8 * 2) & 3) {
			case 0:
				v[i] = odd[any() % ARRAY_SIZE(odd)];
				break;
			case 1:
				v[i] = (double)(x % 1000);
				break;
			case 2:
				v[i] = (double)(float)((double)(x % 100000) / 1000);
				break;
			default:
				memcpy(&v[i], &x, sizeof(x));
			}
		}
		bytes_of(v, n);
	}
}

TEST(a_damaged_column_is_refused_or_decodes_without_reading_past_its_end)
{
	double v[N], back[N];
	struct buf b = { 0 };

	for (int i = 0; i < N; i++)
		v[i] = i % 7 == 0 ? NAN : i % 3 ? (double)(any() % 100) : 0;
	column_put(&b, v, N);
	for (size_t i = 0; i < b.len * 8; i++) {
		uint8_t *copy = malloc(b.len);
		int r;

		memcpy(copy, b.data, b.len);
		copy[i / 8] ^= (uint8_t)(1 << i % 8);
		r = column_get(copy, b.len, back, N);
		CHECK(r == 0 || r == -EBADMSG);
		free(copy);
	}
	buf_free(&b);
}
