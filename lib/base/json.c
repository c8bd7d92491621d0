// SPDX-License-Identifier: Apache-2.0
#include "lib/base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "lib/base/text_clean.h"

/* text_clean_into makes four bytes of one at most: \xNN, or \u{NNNN} of a character of two. */
enum { CLEAN_GROWTH = 4 };

void json_raw(struct buf *b, const char *json)
{
	buf_put(b, json, strlen(json));
}

void json_text(struct buf *b, const char *s)
{
	char hex[8];

	buf_put(b, "\"", 1);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_put(b, "\\", 1);
		if ((unsigned char)*s >= 0x20 && *s != 0x7f) {
			buf_put(b, s, 1);
			continue;
		}
		snprintf(hex, sizeof(hex), "\\u%04x", (unsigned)(unsigned char)*s);
		buf_put(b, hex, 6);
	}
	buf_put(b, "\"", 1);
}

void json_clean_text(struct buf *b, const char *s)
{
	const size_t len = strlen(s), size = CLEAN_GROWTH * len + 1;
	AUTO_FREE char *clean = malloc(size);

	if (!clean)
		die("out of memory");
	text_clean_into(clean, size, s, len);
	json_text(b, clean);
}

/* Six digits are enough for a sentence, and an exact whole number stays one. */
void json_number(struct buf *b, double v)
{
	char text[32];

	if (!isfinite(v)) {
		json_raw(b, "null");
		return;
	}
	snprintf(text, sizeof(text), fabs(v) < 1e15 && v == (double)(int64_t)v ? "%.0f" : "%.6g",
		 v);
	json_raw(b, text);
}

void json_uint(struct buf *b, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	json_raw(b, text);
}

void json_member(struct buf *b, const char *json, double v)
{
	json_raw(b, json);
	json_number(b, v);
}
