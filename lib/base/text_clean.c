// SPDX-License-Identifier: Apache-2.0
#include "lib/base/text_clean.h"

#include <assert.h>
#include <stdio.h>

/* The length of the character at s; 0 if invalid: cut, overlong, a surrogate, out of range. */
static size_t decode(const unsigned char *s, size_t len, uint32_t *cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80	     ? 1
		   : s[0] >> 5 == 6  ? 2
		   : s[0] >> 4 == 14 ? 3
		   : s[0] >> 3 == 30 ? 4
				     : 0;

	if (n == 0 || n > len)
		return 0;
	*cp = n == 1 ? s[0] : s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		*cp = *cp << 6 | (s[i] & 0x3f);
	}
	if (*cp < least[n] || *cp > 0x10ffff || *cp >> 11 == 0x1b)
		return 0;
	return n;
}

static bool is_control(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0);
}

static bool is_direction_mark(uint32_t cp)
{
	return cp == 0x61c || cp == 0x200e || cp == 0x200f || (cp >= 0x202a && cp <= 0x202e) ||
	       (cp >= 0x2066 && cp <= 0x2069) || cp == 0xfeff;
}

/* Writes one character, or one invalid byte, in safe form; *used: bytes of s consumed. */
static size_t show_char(char out[static 9], const char *s, size_t len, size_t *used)
{
	uint32_t cp = 0;

	*used = decode((const unsigned char *)s, len, &cp);
	if (*used && is_direction_mark(cp))
		return (size_t)snprintf(out, 9, "\\u{%04X}", cp);
	if (*used && !is_control(cp)) {
		memcpy(out, s, *used);
		return *used;
	}
	*used = 1;
	return (size_t)snprintf(out, 9, "\\x%02x", (unsigned char)*s);
}

size_t text_clean_into(char *out, size_t size, const char *s, size_t len)
{
	size_t n = 0;

	assert(size);
	for (size_t i = 0, used; i < len; i += used) {
		char one[9];
		size_t more = show_char(one, s + i, len - i, &used);

		if (more >= size - n)
			break;
		memcpy(out + n, one, more);
		n += more;
	}
	out[n] = 0;
	return n;
}
