// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "lib/wire/mp.h"
#include "tests/lib/test.h"

/* A reader over bytes spelt here; NULs are welcome. */
#define OVER(bytes) mp_over(bytes, sizeof(bytes) - 1)

static bool is_end(const struct mp *m)
{
	return !mp_bad(m) && m->p == m->end;
}

TEST(every_form_of_an_unsigned_number_is_read)
{
	struct mp m = OVER(
		"\x7f\xcc\xff\xcd\xff\xff\xce\xff\xff\xff\xff\xcf\xff\xff\xff\xff\xff\xff\xff\xff");

	CHECK_EQ(mp_uint(&m), 127);
	CHECK_EQ(mp_uint(&m), 255);
	CHECK_EQ(mp_uint(&m), 65535);
	CHECK_EQ(mp_uint(&m), UINT32_MAX);
	CHECK(mp_uint(&m) == UINT64_MAX);
	CHECK(is_end(&m));
}

/* In each form, whole and cut off anywhere: what is read, where the reader stands, what is bad. */
TEST(many_numbers_are_read_as_each_by_itself)
{
	static const char bytes[] = "\x7f\x00\xcc\xff\xcd\x01\x02\xce\xff\x01\x02\x03"
				    "\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xe0\xd0\x80\xd1\x80\x00"
				    "\xca\x3f\x00\x00\x00\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a"
				    "\xcf\x00\x00\x00\x00\x00\x00\x01\x00\xcc\x80\xc0\x05";
	enum { N = 16 };

	for (size_t len = 0; len < sizeof(bytes); len++) {
		struct mp one = mp_over(bytes, len), all = one;
		double a[N], b[N];

		for (int i = 0; i < N; i++)
			a[i] = mp_double(&one);
		mp_doubles(&all, b, N);
		CHECK(memcmp(a, b, sizeof(a)) == 0);
		CHECK(one.p == all.p && one.bad == all.bad);
	}
}

TEST(a_number_above_its_limit_goes_bad)
{
	struct mp m = OVER("\x07\x08");

	CHECK_EQ(mp_uint_max(&m, 7), 7);
	CHECK(!mp_bad(&m));
	CHECK_EQ(mp_uint_max(&m, 7), 0);
	CHECK(mp_bad(&m));
}

TEST(a_signed_number_is_no_unsigned_one)
{
	struct mp negative = OVER("\xff"), wide = OVER("\xd0\x01");

	CHECK_EQ(mp_uint(&negative), 0);
	CHECK(mp_bad(&negative));
	CHECK_EQ(mp_uint(&wide), 0);
	CHECK(mp_bad(&wide));
}

TEST(every_form_of_a_number_is_a_double)
{
	struct mp m =
		OVER("\x05\xff\xd0\x80\xd1\x80\0\xd2\x80\0\0\0\xd3\x80\0\0\0\0\0\0\0\xcd\x01\0"
		     "\xca\x3f\0\0\0\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a");

	CHECK(mp_double(&m) == 5);
	CHECK(mp_double(&m) == -1);
	CHECK(mp_double(&m) == -128);
	CHECK(mp_double(&m) == -32768);
	CHECK(mp_double(&m) == -2147483648.0);
	CHECK(mp_double(&m) == -0x1p63);
	CHECK(mp_double(&m) == 256);
	CHECK(mp_double(&m) == 0.5);
	CHECK(mp_double(&m) == 0.1);
	CHECK(is_end(&m));
}

TEST(nil_is_a_number_that_is_not_available)
{
	struct mp m = OVER("\xc0\xc2");

	CHECK(isnan(mp_double(&m)));
	CHECK(!mp_bad(&m));
	mp_double(&m); /* false is none */
	CHECK(mp_bad(&m));
}

TEST(strings_and_bytes_point_into_the_input)
{
	static const char in[] = "\xa2hi\xd9\x01x\xda\0\x01y\xdb\0\0\0\x01z\xc4\x02\0\xff\xc5\0\0";
	struct mp m = OVER(in);
	uint32_t len = 9;

	CHECK(mp_str(&m, &len) == in + 1);
	CHECK_EQ(len, 2);
	CHECK(*mp_str(&m, &len) == 'x');
	CHECK(*mp_str(&m, &len) == 'y');
	CHECK(*mp_str(&m, &len) == 'z');
	CHECK_EQ(len, 1);
	CHECK_EQ(mp_bin(&m, &len)[1], 0xff);
	CHECK_EQ(len, 2);
	mp_bin(&m, &len);
	CHECK_EQ(len, 0);
	CHECK(is_end(&m));
}

TEST(a_string_is_no_bytes_and_bytes_are_no_string)
{
	struct mp s = OVER("\xa1x"), b = OVER("\xc4\x01x");
	uint32_t len = 9;

	mp_bin(&s, &len);
	CHECK(mp_bad(&s));
	CHECK_EQ(len, 0);
	mp_str(&b, &len);
	CHECK(mp_bad(&b));
}

TEST(a_count_is_believed_only_as_far_as_bytes_are_left)
{
	struct mp fits = OVER("\x92\x01\x02"), fix = OVER("\x93\x01\x02"),
		  wide = OVER("\xdc\0\x02\xc0"), huge = OVER("\xdd\x10\0\0\0"),
		  text = OVER("\xdb\xff\xff\xff\xff"
			      "abc");
	uint32_t len;

	CHECK_EQ(mp_array(&fits), 2);
	CHECK(!mp_bad(&fits));
	CHECK_EQ(mp_array(&fix), 0);
	CHECK(mp_bad(&fix));
	CHECK_EQ(mp_array(&wide), 0);
	CHECK(mp_bad(&wide));
	CHECK_EQ(mp_array(&huge), 0);
	CHECK(mp_bad(&huge));
	mp_str(&text, &len);
	CHECK(mp_bad(&text));
	CHECK_EQ(len, 0);
}

TEST(a_reader_that_went_bad_stays_bad_and_returns_nothing)
{
	struct mp m = OVER("\xc1\x01\xa1x\x91\x01");
	uint32_t len;

	mp_uint(&m);
	CHECK(mp_bad(&m));
	CHECK_EQ(mp_uint(&m), 0);
	CHECK_EQ(mp_array(&m), 0);
	mp_str(&m, &len);
	CHECK_EQ(len, 0);
	mp_bin(&m, &len);
	CHECK_EQ(len, 0);
	mp_skip(&m);
	CHECK(mp_bad(&m) && m.p == m.end);
}

TEST(every_type_is_skipped_to_its_end)
{
	struct mp m =
		OVER("\xc0\xc2\xc3\x7f\xe0\xcc\0\xcd\0\0\xce\0\0\0\0\xcf\0\0\0\0\0\0\0\0"
		     "\xd0\0\xd1\0\0\xd2\0\0\0\0\xd3\0\0\0\0\0\0\0\0"
		     "\xca\0\0\0\0\xcb\0\0\0\0\0\0\0\0\xa1x\xd9\x01x\xda\0\x01x\xdb\0\0\0\x01x"
		     "\xc4\x01x\xc5\0\x01x\xc6\0\0\0\x01x\xd4\0x\xd5\0xx\xd6\0xxxx"
		     "\xd7\0xxxxxxxx\xd8\0xxxxxxxxxxxxxxxx\xc7\x01\0x\xc8\0\x01\0x\xc9\0\0\0\x01\0x"
		     "\x91\xc0\xdc\0\x01\xc0\xdd\0\0\0\x01\xc0\x81\xc0\xc0\xde\0\x01\xc0\xc0\xdf\0"
		     "\0\0\x01\xc0\xc0");

	mp_skip_n(&m, 36);
	CHECK(is_end(&m));
}

TEST(nesting_beyond_16_is_refused)
{
	uint8_t deep[18];
	struct mp at, over;

	memset(deep, 0x91, sizeof(deep));
	deep[16] = deep[17] = 0xc0;
	at = mp_over(deep, 17);
	mp_skip(&at);
	CHECK(is_end(&at));
	deep[16] = 0x91;
	over = mp_over(deep, 18);
	mp_skip(&over);
	CHECK(mp_bad(&over));
}

TEST(nothing_at_all_is_bad_to_read)
{
	struct mp m = mp_over(NULL, 0);

	mp_uint(&m);
	CHECK(mp_bad(&m));
}
