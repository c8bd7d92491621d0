// SPDX-License-Identifier: Apache-2.0
#include "collector/web/call/web_param.h"

#include <stdio.h>
#include <time.h>

enum {
	TEXT_MAX = 200,
	COUNT_MAX = 1000,
	BINS_MAX = 200,
	SKIP_MAX = 99999,
	DAY = 86400,
	ID_TIME = 13,
	ID_NUMBER = 16
};

static const struct {
	Oid oid;
	const char *allowed;
} types[] = {
	[WEB_TIME] = { 1184, "an RFC 3339 time like 2026-11-21T05:45:00Z" },
	[WEB_TEXT] = { 25, "1 to 200 bytes of UTF-8 text" },
	[WEB_STATUS] = { 3904, "a status like 502, a class like 5xx, or 0 for no answer" },
	[WEB_COUNT] = { 23, "a whole number from 1 to 1000" },
	[WEB_SECONDS] = { 23, "whole seconds from 1 to 86400" },
	[WEB_ID] = { 25, "an id returned by the API" },
	[WEB_BINS] = { 23, "a whole number from 1 to 200" },
	[WEB_SKIP] = { 23, "a whole number from 0 to 99999" },
	[WEB_ORDER] = { 25, "last, harm, count or slowest" },
	[WEB_SERIES] = { 25, "series or app" },
	[WEB_TEXTS] = { 1009, "1 to 200 bytes of UTF-8 text, or ! followed by such a text" },
	[WEB_STATUSES] = { 4451, "a status like 502, a class like 5xx, or 0 for no answer, or ! "
				 "followed by one of them" },
	[WEB_NAMES] = { 1009,
			"1 to 64 comma-separated names of 1 to 200 bytes of UTF-8 text each" },
	[WEB_ADDRS] = { 1009, "an address, or the start of one, or ! followed by one of them" },
};

bool web_param_is_many(enum web_type type)
{
	return type >= WEB_TEXTS;
}

Oid web_param_oid(enum web_type type)
{
	return types[type].oid;
}

const char *web_param_allowed(enum web_type type)
{
	return types[type].allowed;
}

bool web_param_bounds(enum web_type type, struct web_bounds *out)
{
	static const struct web_bounds bounds[] = {
		[WEB_COUNT] = { 1, COUNT_MAX },
		[WEB_BINS] = { 1, BINS_MAX },
		[WEB_SECONDS] = { 1, DAY },
		[WEB_SKIP] = { 0, SKIP_MAX },
	};

	if ((size_t)type >= ARRAY_SIZE(bounds) || !bounds[type].most)
		return false;
	*out = bounds[type];
	return true;
}

static bool parse_digits(const char *s, int n, int *value)
{
	*value = 0;
	for (int i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		*value = *value * 10 + (s[i] - '0');
	}
	return true;
}

static bool in_range(int value, int low, int high)
{
	return value >= low && value <= high;
}

/* Parses Z or +hh:mm. A + that was not percent-encoded arrives as a space. */
static bool parse_offset(const char *s, int *seconds)
{
	int h, m;

	*seconds = 0;
	if ((*s == 'Z' || *s == 'z') && !s[1])
		return true;
	if (!strchr("+- ", *s) || strlen(s) != 6 || s[3] != ':')
		return false;
	if (!parse_digits(s + 1, 2, &h) || !parse_digits(s + 4, 2, &m) || h > 23 || m > 59)
		return false;
	*seconds = (h * 3600 + m * 60) * (*s == '-' ? -1 : 1);
	return true;
}

/* Parses "2026-11-21T05:45:29[.123456]Z" into the whole seconds of UTC and the digits after the
 * point. */
static bool parse_rfc3339(const char *s, int64_t *wall_s, const char **fraction, int *nfraction)
{
	struct tm t = { 0 }, back;
	int year, month, off;

	if (strlen(s) < 20 || s[4] != '-' || s[7] != '-' || !strchr("Tt ", s[10]) || s[13] != ':' ||
	    s[16] != ':')
		return false;
	if (!parse_digits(s, 4, &year) || !parse_digits(s + 5, 2, &month) ||
	    !parse_digits(s + 8, 2, &t.tm_mday) || !parse_digits(s + 11, 2, &t.tm_hour) ||
	    !parse_digits(s + 14, 2, &t.tm_min) || !parse_digits(s + 17, 2, &t.tm_sec))
		return false;
	if (!in_range(year, 1970, 2100) || t.tm_hour > 23 || t.tm_min > 59 || t.tm_sec > 59)
		return false;
	s += 19;
	*fraction = s + 1;
	*nfraction = *s == '.' ? (int)strspn(s + 1, "0123456789") : 0;
	if (*s == '.' && !in_range(*nfraction, 1, 9))
		return false;
	if (!parse_offset(*s == '.' ? s + 1 + *nfraction : s, &off))
		return false;
	t.tm_year = year - 1900;
	t.tm_mon = month - 1;
	back = t;
	*wall_s = timegm(&back) - off;
	return back.tm_mon == t.tm_mon &&
	       back.tm_mday == t.tm_mday; /* rejects the 31st of February */
}

void web_time_text(int64_t wall_s, char value[WEB_VALUE])
{
	time_t s = (time_t)wall_s;
	struct tm t;

	gmtime_r(&s, &t);
	strftime(value, WEB_VALUE, "%Y-%m-%d %H:%M:%S.000000Z", &t);
}

int web_time_parse(const char *text, int64_t *wall_s)
{
	const char *fraction;
	int n;

	return parse_rfc3339(text, wall_s, &fraction, &n) ? 0 : -EINVAL;
}

/* Always writes six digits after the point, so that such texts compare like their times. */
static bool read_time(const char *text, char value[WEB_VALUE])
{
	const char *fraction;
	int64_t wall_s;
	int n;

	if (!parse_rfc3339(text, &wall_s, &fraction, &n))
		return false;
	web_time_text(wall_s, value);
	memcpy(strchr(value, '.') + 1, fraction, (size_t)(n < 6 ? n : 6));
	return true;
}

/* PostgreSQL would refuse invalid text too, but without naming the parameter. */
static bool is_utf8(const unsigned char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		unsigned c = s[i++];
		unsigned more = c < 0x80 ? 0 : c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
		uint32_t rune = more ? c & (0x3fu >> more) : c;
		static const uint32_t least[] = { 1, 0x80, 0x800, 0x10000 };

		if ((c >= 0x80 && c < 0xc2) || c > 0xf4 || len - i < more)
			return false;
		for (unsigned k = 0; k < more; k++, i++) {
			if ((s[i] & 0xc0) != 0x80)
				return false;
			rune = rune << 6 | (s[i] & 0x3fu);
		}
		if (rune < least[more] || rune > 0x10ffff || (rune & 0x1ff800) == 0xd800)
			return false;
	}
	return true;
}

static bool read_text(const char *text, size_t len, char value[WEB_VALUE])
{
	if (len < 1 || len > TEXT_MAX || !is_utf8((const unsigned char *)text, len))
		return false;
	memcpy(value, text, len);
	value[len] = 0;
	return true;
}

static bool read_status(const char *text, size_t len, char value[WEB_VALUE])
{
	int n;

	if (len == 3 && in_range(text[0], '1', '5') && strcmp(text + 1, "xx") == 0)
		snprintf(value, WEB_VALUE, "[%c00,%c99]", text[0], text[0]);
	else if ((len == 3 || (len == 1 && *text == '0')) && parse_digits(text, (int)len, &n))
		snprintf(value, WEB_VALUE, "[%d,%d]", n, n);
	else
		return false;
	return true;
}

static bool read_number(enum web_type type, const char *text, size_t len, char value[WEB_VALUE])
{
	struct web_bounds of;
	int n;

	if (!web_param_bounds(type, &of) || !in_range((int)len, 1, 5) ||
	    !parse_digits(text, (int)len, &n) || !in_range(n, of.least, of.most))
		return false;
	snprintf(value, WEB_VALUE, "%d", n);
	return true;
}

static bool read_id(const char *text, size_t len, char value[WEB_VALUE])
{
	static const char hex[] = "0123456789abcdef";
	size_t n = strspn(text, hex);

	if (!in_range((int)n, 1, ID_TIME) || text[n] != '-' || len != n + 1 + ID_NUMBER ||
	    strspn(text + n + 1, hex) != ID_NUMBER)
		return false;
	memcpy(value, text, len + 1);
	return true;
}

static bool read_word(const char *const *words, const char *text, char value[WEB_VALUE])
{
	for (; *words; words++)
		if (strcmp(text, *words) == 0) {
			snprintf(value, WEB_VALUE, "%s", *words);
			return true;
		}
	return false;
}

static bool read_value(enum web_type type, const char *text, size_t len, char value[WEB_VALUE])
{
	static const char *const orders[] = { "last", "harm", "count", "slowest", NULL };
	static const char *const series[] = { "series", "app", NULL };

	switch (type) {
	case WEB_TIME:
		return read_time(text, value);
	case WEB_TEXT:
	case WEB_TEXTS:
	case WEB_ADDRS:
	case WEB_NAMES:
		return read_text(text, len, value);
	case WEB_STATUS:
	case WEB_STATUSES:
		return read_status(text, len, value);
	case WEB_COUNT:
	case WEB_BINS:
	case WEB_SECONDS:
	case WEB_SKIP:
		return read_number(type, text, len, value);
	case WEB_ORDER:
		return read_word(orders, text, value);
	case WEB_SERIES:
		return read_word(series, text, value);
	case WEB_ID:
		return read_id(text, len, value);
	}
	return false;
}

int web_param_read(const struct web_param *p, const char *text, size_t len, char value[WEB_VALUE],
		   char why[WEB_WHY])
{
	char got[WEB_VALUE];

	if (len != strlen(text) || len >= WEB_VALUE || !read_value(p->type, text, len, got)) {
		snprintf(why, WEB_WHY, "%s must be %s.", p->name, types[p->type].allowed);
		return -EINVAL;
	}
	memcpy(value, got, strlen(got) + 1);
	return 0;
}
