// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/db/copy.h"

static struct buf b;

static bool holds(const char *bytes, size_t len)
{
	bool same = b.len == len && memcmp(b.data, bytes, len) == 0;

	buf_free(&b);
	return same;
}

#define HOLDS(bytes) CHECK(holds(bytes, sizeof(bytes) - 1))

TEST(a_copy_has_postgresqls_header_and_end)
{
	copy_begin(&b);
	copy_row(&b, 0);
	copy_end(&b);
	HOLDS("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\0\377\377");
}

TEST(numbers_are_big_endian_behind_their_length)
{
	copy_int2(&b, -2);
	copy_int4(&b, 1);
	copy_int8(&b, 1ll << 40);
	copy_null(&b);
	HOLDS("\0\0\0\2\377\376\0\0\0\4\0\0\0\1\0\0\0\10\0\0\1\0\0\0\0\0\377\377\377\377");
}

TEST(a_time_counts_microseconds_from_2000)
{
	copy_time(&b, 946684800000000000u + 1999);
	HOLDS("\0\0\0\10\0\0\0\0\0\0\0\1");
}

TEST(a_time_before_2000_is_negative)
{
	copy_time(&b, 946684800000000000u - 1000);
	HOLDS("\0\0\0\10\377\377\377\377\377\377\377\377");
}

TEST(an_address_is_an_inet_of_a_host)
{
	struct addr v4 = addr_make("\12\0\0\1", 4, 80), none = { 0 };

	copy_inet(&b, &v4);
	copy_inet(&b, &none);
	HOLDS("\0\0\0\10\2\40\0\4\12\0\0\1\377\377\377\377");
}

TEST(an_array_has_one_dimension_from_1_and_an_empty_one_none)
{
	double v = 1;

	copy_float8s(&b, &v, 1);
	copy_float8s(&b, NULL, 0);
	HOLDS("\0\0\0\40\0\0\0\1\0\0\0\0\0\0\2\275\0\0\0\1\0\0\0\1\0\0\0\10\77\360\0\0\0\0\0\0"
	      "\0\0\0\14\0\0\0\0\0\0\0\0\0\0\2\275");
}

TEST(a_number_out_of_range_becomes_the_largest_of_its_column)
{
	CHECK_EQ(copy_bigint(UINT64_MAX), INT64_MAX);
	CHECK_EQ(copy_int(UINT32_MAX), INT32_MAX);
	CHECK_EQ(copy_smallint(65535), INT16_MAX);
	CHECK_EQ(copy_bigint(5), 5);
}

TEST(a_filled_array_has_its_number_of_elements)
{
	array_begin(&b, ARRAY_INT2);
	copy_int2(&b, 7);
	copy_int2(&b, 8);
	array_end(&b, 2);
	HOLDS("\0\0\0\1\0\0\0\0\0\0\0\25\0\0\0\2\0\0\0\1\0\0\0\2\0\7\0\0\0\2\0\10");
}
