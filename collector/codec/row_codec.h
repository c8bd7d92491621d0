// SPDX-License-Identifier: Apache-2.0
/*
 * row_codec.h - the values of a row of an hour that is not compacted yet, in few bytes, so that
 * each can be read without the others; docs/reference/chunk.md, "Before an hour is packed",
 * describes the format.
 *
 * Values are restored bit by bit, except that any NaN may come back as another NaN. A struct
 * row_codec owns no memory: begin it, add values, put it, and begin again.
 */
#pragma once

#include "lib/base/buf.h"

enum {
	RAW_MAX_VALUES = 4096,
	RAW_MAX_BYTES = 8 * 1024, /* of values, without the bit fields */
};

/* The fill level. */
struct row_codec_at {
	uint32_t n, narrow, wide; /* values: all, those of one or two bytes, of four or eight */
	uint32_t narrow_bytes, wide_bytes;
};

struct row_codec {
	struct row_codec_at at;
	uint8_t is_narrow[RAW_MAX_VALUES], is_wide[RAW_MAX_VALUES]; /* 0 or 1, each */
	uint8_t is_two[RAW_MAX_VALUES], is_eight[RAW_MAX_VALUES];
	uint8_t narrow_end[RAW_MAX_BYTES]; /* filled from its end backwards */
	uint8_t wide[RAW_MAX_BYTES];
};

static inline void row_codec_begin(struct row_codec *r)
{
	r->at = (struct row_codec_at){ 0 };
}

/*
 * False, with nothing added, if the row would exceed limit bytes or RAW_MAX_VALUES. The limit plus
 * eight bytes per value must not exceed RAW_MAX_BYTES.
 */
bool row_codec_add(struct row_codec *r, const double *v, uint32_t n, size_t limit);
size_t row_codec_len(const struct row_codec *r);
void row_codec_put(struct buf *out, const struct row_codec *r); /* row_codec_len bytes */

/* -EBADMSG: the bytes at p are not exactly n values. */
int row_codec_get(const uint8_t *p, size_t len, double *v, uint32_t n) MUST_CHECK;
