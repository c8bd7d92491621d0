// SPDX-License-Identifier: Apache-2.0
/* check_rows.h - a judge of its own of rows for COPY BINARY. */
#pragma once

#include "collector/pipeline/batch.h"
#include "tests/fuzz/check.h"

/* One letter a field: 2 4 8 bytes, Null or 8, Text, Inet or null, Json, Bytes, arrays of Doubles,
 * Ints, and null or one of Longs, ints; null or a text. */
static const char *const fields[FACT_END] = {
	[FACT_SAMPLE] = "8888D",
	[FACT_SAMPLE_RAW] = "888LB",
	[FACT_REQUEST] = "8888TT44I4I4TTT4288N88884442JJLNltt",
	[FACT_RED] = "8882882AN8",
	[FACT_UNREAD] = "88TT8",
	[FACT_PROFILE] = "88T4LLA",
	[FACT_EVENT] = "8888T244T882J428N",
	[FACT_EVIDENCE] = "888288244TTTTN",
};

static inline uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline bool is_array(const uint8_t *p, uint32_t len, uint32_t oid, uint32_t size)
{
	uint32_t n = len > 12 ? be32(p + 12) : 0;

	if (len < 12 || be32(p) != (n > 0) || be32(p + 4) != 0 || be32(p + 8) != oid)
		return false;
	for (uint32_t i = 0; i < n; i++)
		must(be32(p + 20 + i * (4 + size)) == size);
	return n ? len == 20 + n * (4 + size) && be32(p + 16) == 1 : len == 12;
}

static inline bool is_field(char kind, const uint8_t *p, uint32_t len)
{
	switch (kind) {
	case '2':
	case '4':
	case '8':
		return len == (uint32_t)(kind - '0');
	case 'N':
		return len == 8 || len == UINT32_MAX;
	case 'T':
		return is_text(p, len);
	case 't':
		return len == UINT32_MAX || is_text(p, len);
	case 'I':
		return len == UINT32_MAX || (len == 8 && p[0] == 2 && p[1] == 32 && p[3] == 4) ||
		       (len == 20 && p[0] == 3 && p[1] == 128 && p[3] == 16);
	case 'B': /* whose format row_codec.h has: fuzz_chunk asks for what it says */
		return len != UINT32_MAX;
	case 'J':
		return len > 1 && *p == 1 && is_json(p + 1, len - 1);
	case 'D':
		return is_array(p, len, 701, 8);
	case 'A':
		return is_array(p, len, 23, 4);
	case 'L':
		return len == UINT32_MAX || is_array(p, len, 20, 8);
	case 'l':
		return len == UINT32_MAX || is_array(p, len, 23, 4);
	}
	return false;
}

static inline void check_rows(const struct rows *rows, const char *kinds)
{
	const uint8_t *p = rows->bytes.data, *end;

	if (!rows->bytes.len)
		return must(rows->n == 0);
	end = p + rows->bytes.len;
	for (uint32_t row = 0; row < rows->n; row++) {
		must(end - p >= 2 && p[0] == 0 && p[1] == strlen(kinds));
		p += 2;
		for (const char *k = kinds; *k; k++) {
			uint32_t len, there;

			must(end - p >= 4);
			len = be32(p);
			there = len == UINT32_MAX ? 0 : len;
			p += 4;
			must((size_t)(end - p) >= there && is_field(*k, p, len));
			p += there;
		}
	}
	must(p == end);
}
