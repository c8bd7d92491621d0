// SPDX-License-Identifier: Apache-2.0
#include "probe/request/record/route.h"

#include <stdio.h>

struct shape {
	size_t digits, hex, other;
};

static struct shape shape_of(const char *s, size_t len)
{
	struct shape sh = { 0 };

	for (size_t i = 0; i < len; i++) {
		char c = s[i];

		if (c >= '0' && c <= '9')
			sh.digits++;
		else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '-')
			sh.hex++;
		else
			sh.other++;
	}
	return sh;
}

/* Numbers; hex of 8 or more; tokens that are mostly digits; long tokens with some digits. */
static bool is_id(const char *s, size_t len)
{
	struct shape sh = shape_of(s, len);

	if (sh.digits == 0)
		return false;
	if (sh.other == 0 && (sh.hex == 0 || len >= 8))
		return true;
	return sh.digits >= 4 || (len >= 20 && sh.digits >= 2);
}

static size_t put_clean(char *out, size_t at, const char *s, size_t len)
{
	for (size_t i = 0; i < len && at < ROUTE_TEXT - 1; i++) {
		unsigned char c = (unsigned char)s[i];

		out[at++] = c < 0x20 || c >= 0x7f ? '?' : s[i];
	}
	return at;
}

void route_template(const char *method, const char *path, size_t len, char out[static ROUTE_TEXT])
{
	const char *end = path + len;
	size_t at = (size_t)snprintf(out, ROUTE_TEXT, "%.31s ", method), n = 0;

	while (path < end) {
		const char *s = path + (*path == '/');
		const char *e = memchr(s, '/', (size_t)(end - s));
		size_t seg = (size_t)((e ? e : end) - s);

		if (n++ == ROUTE_SEGMENTS) {
			at = put_clean(out, at, "/*", 2);
			break;
		}
		at = put_clean(out, at, "/", (size_t)(s - path));
		at = is_id(s, seg) ? put_clean(out, at, ":id", 3) : put_clean(out, at, s, seg);
		path = s + seg;
	}
	out[at] = 0;
}
