// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include <math.h>

#include "lib/base/json.h"

static struct buf b;

static bool holds(const char *json)
{
	bool same = b.len == strlen(json) && memcmp(b.data, json, b.len) == 0;

	if (!same)
		fprintf(stderr, "%.*s\n", (int)b.len, (const char *)b.data);
	buf_free(&b);
	return same;
}

TEST(text_cannot_end_early)
{
	json_text(&b, "a\"b\\c\n\x7f\xc3\xa4/");
	CHECK(holds("\"a\\\"b\\\\c\\u000a\\u007f\xc3\xa4/\""));
	json_text(&b, "");
	CHECK(holds("\"\""));
	json_text(&b, "\\");
	CHECK(holds("\"\\\\\""));
}

TEST(every_control_character_is_escaped)
{
	for (int c = 1; c < 0x80; c++) {
		const char text[] = { (char)c, 0 };
		char json[16];

		json_text(&b, text);
		if (c < 0x20 || c == 0x7f)
			snprintf(json, sizeof(json), "\"\\u%04x\"", c);
		else
			snprintf(json, sizeof(json), c == '"' || c == '\\' ? "\"\\%c\"" : "\"%c\"",
				 c);
		CHECK(holds(json));
	}
}

TEST(any_bytes_become_text_that_cannot_end_early)
{
	json_clean_text(&b, "a\"b\\c\n\x1b\xe4\xb8\x8a");
	CHECK(holds("\"a\\\"b\\\\c\\\\x0a\\\\x1b\xe4\xb8\x8a\""));
	json_clean_text(&b, "\xff\xc0\x80\xed\xa0\x80\xf5\xe4\xb8");
	CHECK(holds("\"\\\\xff\\\\xc0\\\\x80\\\\xed\\\\xa0\\\\x80\\\\xf5\\\\xe4\\\\xb8\""));
	json_clean_text(&b, "");
	CHECK(holds("\"\""));
}

TEST(the_longest_clean_text_is_whole)
{
	static const char *const grows[] = { "\x01", "\xff", "\xc2\xad", "\xd8\x9c",
					     "\xe2\x80\x8f" };

	for (size_t i = 0; i < ARRAY_SIZE(grows); i++) {
		char text[301] = "";
		size_t one;

		json_clean_text(&b, grows[i]);
		one = b.len - 2; /* without quotes */
		buf_free(&b);
		for (int n = 0; n < 100; n++)
			strcat(text, grows[i]);
		json_clean_text(&b, text);
		CHECK_EQ(b.len, 100 * one + 2);
		buf_free(&b);
	}
}

TEST(numbers_are_finite_and_whole_ones_stay_whole)
{
	static const double odd[] = { NAN, INFINITY, -INFINITY };

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		json_number(&b, odd[i]);
		CHECK(holds("null"));
		json_member(&b, "\"v\":", odd[i]);
		CHECK(holds("\"v\":null"));
	}
	json_number(&b, 12);
	json_raw(&b, " ");
	json_number(&b, -0.125);
	json_raw(&b, " ");
	json_number(&b, 1e300);
	json_raw(&b, " ");
	json_number(&b, 123456789012345);
	CHECK(holds("12 -0.125 1e+300 123456789012345"));
}

TEST(the_largest_unsigned_number_is_exact)
{
	json_uint(&b, UINT64_MAX);
	CHECK(holds("18446744073709551615"));
}
