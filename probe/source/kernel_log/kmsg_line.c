// SPDX-License-Identifier: Apache-2.0
#include "probe/source/kernel_log/kmsg_line.h"

#include <ctype.h>
#include <stdio.h>

#include "lib/wire/reason.h"
#include "lib/base/text.h"

enum { FACILITY_KERNEL = 0 };

static const struct kmsg_pattern patterns[] = {
#define KMSG(reason, severity, text) { R_##reason, EVENT_##severity, text },
#include "schema/def/kmsg.def"
#undef KMSG
};

/* Parses a number and the character after it; false: malformed. */
static bool parse_number(const char **p, const char *end, char until, uint64_t *out)
{
	uint64_t v = 0;
	const char *from = *p;

	for (; *p < end && isdigit((unsigned char)**p); ++*p)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(**p - '0'), &v))
			return false;
	if (*p == from || *p == end || **p != until)
		return false;
	++*p;
	*out = v;
	return true;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The kernel writes unprintable characters and the backslash as \xNN. */
static size_t unescape(char *out, size_t size, const char *s, const char *end)
{
	size_t n = 0;

	while (s < end && n < size) {
		if (end - s >= 4 && s[0] == '\\' && s[1] == 'x' && hex_digit(s[2]) >= 0 &&
		    hex_digit(s[3]) >= 0) {
			out[n++] = (char)(hex_digit(s[2]) << 4 | hex_digit(s[3]));
			s += 4;
		} else {
			out[n++] = *s++;
		}
	}
	return n;
}

int kmsg_line_parse(const char *record, size_t len, struct kmsg_line *out)
{
	const char *p = record, *end = memchr(record, '\n', len), *text;
	uint64_t priority, seq, us;
	char plain[sizeof(out->text)];

	if (!end)
		end = record + len;
	text = memchr(record, ';', (size_t)(end - record));
	if (!text || !parse_number(&p, text, ',', &priority) ||
	    !parse_number(&p, text, ',', &seq) || !parse_number(&p, text, ',', &us) ||
	    priority > UINT32_MAX)
		return -EBADMSG;
	out->level = (uint32_t)priority % KMSG_LEVELS;
	out->facility = (uint32_t)priority / KMSG_LEVELS;
	out->seq = seq;
	out->us = us;
	len = unescape(plain, sizeof(plain), text + 1, end);
	text_clean_into(out->text, sizeof(out->text), plain, len);
	return 0;
}

static bool is_in_word(const char *name, size_t len, char c)
{
	if (len == 3 && memcmp(name, "pid", 3) == 0)
		return isdigit((unsigned char)c);
	return c != ' ' || (len == 4 && memcmp(name, "comm", 4) == 0);
}

static void store_word(struct kmsg_found *f, uint32_t at, const char *name, size_t len,
		       const char *s, size_t n)
{
	if (at >= KMSG_WORDS)
		return;
	f->n = f->n > at ? f->n : at + 1;
	snprintf(f->word[at].name, sizeof(f->word[at].name), "%.*s", (int)len, name);
	snprintf(f->word[at].value, sizeof(f->word[at].value), "%.*s", (int)n, s);
}

enum outcome { NO, YES, NEVER /* nor if the last * took more text */ };

static enum outcome fits(const char *p, const char *s, struct kmsg_found *f, uint32_t words);

/* The first position where the rest matches is as good as a later one: a * takes any text. */
static enum outcome fits_star(const char *p, const char *s, struct kmsg_found *f, uint32_t words)
{
	if (!*p)
		return YES;
	for (; *s; s++) {
		enum outcome o = *p == '{' || *p == *s ? fits(p, s, f, words) : NO;

		if (o != NO)
			return o;
	}
	return NEVER;
}

static enum outcome fits_word(const char *name, const char *s, struct kmsg_found *f, uint32_t words)
{
	const char *close = strchr(name, '}');
	size_t len = (size_t)(close - name);

	for (size_t n = 1; s[n - 1] && is_in_word(name, len, s[n - 1]); n++) {
		enum outcome o = fits(close + 1, s + n, f, words + 1);

		if (o == YES)
			store_word(f, words, name, len, s, n);
		if (o != NO)
			return o;
	}
	return NO;
}

static enum outcome fits(const char *p, const char *s, struct kmsg_found *f, uint32_t words)
{
	for (; *p; p++, s++) {
		if (*p == '*')
			return fits_star(p + 1, s, f, words);
		if (*p == '{')
			return fits_word(p + 1, s, f, words);
		if (*p != *s)
			return NO;
	}
	return *s ? NO : YES;
}

bool kmsg_line_match(const struct kmsg_line *l, struct kmsg_found *out)
{
	if (l->facility != FACILITY_KERNEL)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		out->n = 0;
		out->pattern = &patterns[i];
		if (fits(patterns[i].text, l->text, out, 0) == YES)
			return true;
	}
	return false;
}

const char *kmsg_found_word(const struct kmsg_found *f, const char *name)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (strcmp(f->word[i].name, name) == 0)
			return f->word[i].value;
	return "";
}

const char *kmsg_found_about(const struct kmsg_found *f)
{
	const char *dev = kmsg_found_word(f, "dev");

	return dev[0] ? dev : f->n ? f->word[0].value : "";
}
