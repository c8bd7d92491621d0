// SPDX-License-Identifier: Apache-2.0
/* check.h - what a fuzzer holds: the input as a cursor, and judges of UTF-8 and JSON of their own.
 */
#pragma once

#include "lib/base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static inline void must(bool so)
{
	if (!so)
		__builtin_trap();
}

/* The input, from its front; what is not there is 0, or short. */
struct input {
	const uint8_t *p;
	size_t len;
};

static inline uint8_t take8(struct input *in)
{
	if (!in->len)
		return 0;
	in->len--;
	return *in->p++;
}

/* So many bytes as the next two say, as far as they are there. */
static inline struct input take_bytes(struct input *in)
{
	size_t n = (size_t)take8(in) << 8;
	struct input out;

	n |= take8(in);
	out = (struct input){ in->p, n < in->len ? n : in->len };
	in->p += out.len;
	in->len -= out.len;
	return out;
}

/* Of the rune that begins at s: how many bytes, 0 if it is none. */
static inline size_t rune_len(const uint8_t *s, size_t len)
{
	size_t n = *s < 0x80   ? 1
		   : *s < 0xc2 ? 0
		   : *s < 0xe0 ? 2
		   : *s < 0xf0 ? 3
		   : *s < 0xf5 ? 4
			       : 0;

	if (n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (s[i] >> 6 != 2)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f))
		return 0;
	return (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f) ? 0 : n;
}

/* What PostgreSQL takes for a text: UTF-8 without a zero. */
static inline bool is_text(const void *text, size_t len)
{
	const uint8_t *s = text;

	while (len) {
		size_t n = *s ? rune_len(s, len) : 0;

		if (!n)
			return false;
		s += n;
		len -= n;
	}
	return true;
}

struct json {
	const char *p, *end;
};

static inline bool json_take(struct json *j, char c)
{
	bool is = j->p < j->end && *j->p == c;

	j->p += is;
	return is;
}

static inline bool json_escape(struct json *j)
{
	if (json_take(j, 'u')) {
		for (int i = 0; i < 4; i++, j->p++)
			if (j->p == j->end || !strchr("0123456789abcdefABCDEF", *j->p) || !*j->p)
				return false;
		return true;
	}
	return j->p < j->end && *j->p && strchr("\"\\/bfnrt", *j->p++);
}

static inline bool json_string(struct json *j)
{
	if (!json_take(j, '"'))
		return false;
	while (j->p < j->end && *j->p != '"') {
		if ((unsigned char)*j->p < 0x20)
			return false;
		if (*j->p++ == '\\' && !json_escape(j))
			return false;
	}
	return json_take(j, '"');
}

static inline size_t json_digits(struct json *j)
{
	const char *from = j->p;

	while (j->p < j->end && *j->p >= '0' && *j->p <= '9')
		j->p++;
	return (size_t)(j->p - from);
}

static inline bool json_number(struct json *j)
{
	json_take(j, '-');
	if (!json_take(j, '0') && !json_digits(j))
		return false;
	if (json_take(j, '.') && !json_digits(j))
		return false;
	if (json_take(j, 'e') || json_take(j, 'E')) {
		if (!json_take(j, '+'))
			json_take(j, '-');
		return json_digits(j) > 0;
	}
	return true;
}

static inline bool json_word(struct json *j, const char *word)
{
	size_t n = strlen(word);
	bool is = (size_t)(j->end - j->p) >= n && memcmp(j->p, word, n) == 0;

	j->p += is ? n : 0;
	return is;
}

static inline bool json_value(struct json *j)
{
	char close = j->p == j->end ? 0 : *j->p == '{' ? '}' : *j->p == '[' ? ']' : 0;

	if (!close)
		return (j->p < j->end && *j->p == '"')
			       ? json_string(j)
			       : json_word(j, "true") || json_word(j, "false") ||
					 json_word(j, "null") || json_number(j);
	j->p++;
	if (json_take(j, close))
		return true;
	do {
		if (close == '}' && (!json_string(j) || !json_take(j, ':')))
			return false;
		if (!json_value(j))
			return false;
	} while (json_take(j, ','));
	return json_take(j, close);
}

/* One value without blanks, all of it text. */
static inline bool is_json(const void *text, size_t len)
{
	struct json j = { text, (const char *)text + len };

	return is_text(text, len) && json_value(&j) && j.p == j.end;
}
