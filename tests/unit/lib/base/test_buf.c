// SPDX-License-Identifier: Apache-2.0
#include "lib/base/buf.h"
#include "tests/lib/test.h"

TEST(bytes_put_one_after_another_are_there)
{
	struct buf b = { 0 };

	for (int i = 0; i < 10000; i++)
		buf_put(&b, &(uint8_t){ (uint8_t)i }, 1);
	CHECK_EQ(b.len, 10000);
	for (int i = 0; i < 10000; i++)
		CHECK_EQ(b.data[i], i % 256);
	buf_free(&b);
	CHECK(!b.data && !b.len && !b.cap);
}

TEST(an_emptied_buffer_keeps_its_room)
{
	struct buf b = { 0 };
	void *was;

	buf_put(&b, "abc", 3);
	was = b.data;
	buf_reset(&b);
	CHECK_EQ(b.len, 0);
	buf_put(&b, "xyz", 3);
	CHECK(b.data == was && memcmp(b.data, "xyz", 3) == 0);
	buf_free(&b);
}

TEST(nothing_can_be_put_into_nothing)
{
	struct buf b = { 0 };

	buf_put(&b, NULL, 0);
	CHECK_EQ(b.len, 0);
	buf_free(&b);
}

TEST(what_was_reserved_is_there_without_growing)
{
	struct buf b = { 0 };
	unsigned char *data;

	buf_put(&b, "ab", 2);
	buf_reserve(&b, 100);
	data = b.data;
	CHECK(buf_add(&b, 98) == data + 2);
	CHECK_EQ(b.len, 100);
	CHECK(b.data == data && b.cap >= 102);
	buf_free(&b);
}
