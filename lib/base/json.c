// SPDX-License-Identifier: Apache-2.0
#include "lib/base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void jsonb_raw(struct buf *b, const char *json)
{
	buf_put(b, json, strlen(json));
}

void jsonb_text(struct buf *b, const char *s)
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

/* Six digits are enough for a sentence, and an exact whole number stays one. */
void jsonb_number(struct buf *b, double v)
{
	char text[32];

	if (!isfinite(v)) {
		jsonb_raw(b, "null");
		return;
	}
	snprintf(text, sizeof(text), fabs(v) < 1e15 && v == (double)(int64_t)v ? "%.0f" : "%.6g",
		 v);
	jsonb_raw(b, text);
}

void jsonb_uint(struct buf *b, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	jsonb_raw(b, text);
}

void jsonb_member(struct buf *b, const char *json, double v)
{
	jsonb_raw(b, json);
	jsonb_number(b, v);
}
