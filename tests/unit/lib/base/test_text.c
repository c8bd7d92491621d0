// SPDX-License-Identifier: Apache-2.0
#include "lib/base/text.h"
#include "tests/lib/test.h"

static void becomes(const char *in, size_t len, const char *out)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 16);

	CHECK_STR(text_clean(a, in, len), out);
}

#define BECOMES(in, out) becomes(in, sizeof(in) - 1, out)

TEST(plain_text_and_good_utf8_stay_as_they_are)
{
	BECOMES("", "");
	BECOMES("GET /a?b=<script>&\"'", "GET /a?b=<script>&\"'");
	BECOMES("\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x98\x80",
		"\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x98\x80");
	BECOMES("a\\x1b", "a\\x1b");
}

TEST(controls_become_escapes)
{
	BECOMES("a\x1b[31mb\n", "a\\x1b[31mb\\x0a");
	BECOMES("\0\x7f", "\\x00\\x7f");
	BECOMES("\xc2\x85\xc2\x9b\xc2\xa0", "\\xc2\\x85\\xc2\\x9b\xc2\xa0"); /* C1; U+00A0 stays */
}

TEST(what_is_not_utf8_becomes_escapes_byte_by_byte)
{
	BECOMES("\xff"
		"a\x80",
		"\\xffa\\x80");
	BECOMES("\xc0\xaf", "\\xc0\\xaf"); /* overlong */
	BECOMES("\xe0\x80\xaf", "\\xe0\\x80\\xaf");
	BECOMES("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* a surrogate */
	BECOMES("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond U+10FFFF */
	BECOMES("\xe4\xb8", "\\xe4\\xb8"); /* cut */
	BECOMES("\xe4\xb8x", "\\xe4\\xb8x");
	BECOMES("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf",
		"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf");
}

TEST(what_turns_the_direction_of_text_becomes_an_escape)
{
	BECOMES("a\xe2\x80\xae"
		"b",
		"a\\u{202E}b");
	BECOMES("\xe2\x80\x8e\xe2\x80\x8f", "\\u{200E}\\u{200F}");
	BECOMES("\xe2\x80\xaa\xe2\x81\xa6\xe2\x81\xa9", "\\u{202A}\\u{2066}\\u{2069}");
	BECOMES("\xd8\x9c\xef\xbb\xbf", "\\u{061C}\\u{FEFF}");
	BECOMES("\xe2\x80\x8d\xe2\x80\xaf\xe2\x81\xaa",
		"\xe2\x80\x8d\xe2\x80\xaf\xe2\x81\xaa"); /* beside them */
}

TEST(every_string_of_two_bytes_becomes_printable)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 16);

	for (int i = 0; i < 65536; i++) {
		const char in[] = { (char)(i >> 8), (char)i };
		const char *out = text_clean(a, in, 2);

		for (const char *s = out; *s; s++)
			CHECK((unsigned char)*s >= 0x20 && *s != 0x7f);
		CHECK_STR(text_clean(a, out, strlen(out)), out); /* clean is clean */
		arena_reset(a);
	}
}

TEST(text_is_cut_before_what_does_not_fit)
{
	char out[8];

	CHECK_EQ(text_clean_into(out, sizeof(out), "abcdefghij", 10), 7);
	CHECK_STR(out, "abcdefg");
	CHECK_EQ(text_clean_into(out, sizeof(out), "abcd\n", 5), 4);
	CHECK_STR(out, "abcd");
	CHECK_EQ(text_clean_into(out, sizeof(out), "abc\n", 4), 7);
	CHECK_STR(out, "abc\\x0a");
	CHECK_EQ(text_clean_into(out, 1, "a", 1), 0);
	CHECK_STR(out, "");
}
