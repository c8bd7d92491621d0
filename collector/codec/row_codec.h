// SPDX-License-Identifier: Apache-2.0
/*
 * row_codec.h - values of an hour that is not packed yet, in as few bytes as let each be found
 * without the others: docs/reference/chunk.md has the format, under "Before an hour is packed".
 *
 * Each comes back bit by bit, but for a NaN, which comes back as any. A struct row_codec is
 * nobody's: it is filled, put, and begun again.
 */
#pragma once

#include "lib/base/buf.h"

enum {
	RAW_MAX_VALUES = 4096,
	RAW_MAX_BYTES = 8 * 1024, /* of values, without their bits */
};

/* How far it is filled. */
struct row_codec_at {
	uint32_t n, narrow, wide; /* values; of those in one or two bytes, in four or eight */
	uint32_t narrow_bytes, wide_bytes;
};

struct row_codec {
	struct row_codec_at at;
	uint8_t is_narrow[RAW_MAX_VALUES], is_wide[RAW_MAX_VALUES]; /* 0 or 1, each */
	uint8_t is_two[RAW_MAX_VALUES], is_eight[RAW_MAX_VALUES];
	uint8_t narrow_end[RAW_MAX_BYTES]; /* from its end, towards its beginning */
	uint8_t wide[RAW_MAX_BYTES];
};

static inline void row_codec_begin(struct row_codec *r)
{
	r->at = (struct row_codec_at){ 0 };
}

/*
 * False, and nothing is added, if it were more than so many bytes with these, or values. The limit
 * and eight bytes for each of these are at most RAW_MAX_BYTES.
 */
bool row_codec_add(struct row_codec *r, const double *v, uint32_t n, size_t limit);
size_t row_codec_len(const struct row_codec *r);
void row_codec_put(struct buf *out, const struct row_codec *r); /* row_codec_len bytes */

/* All that is at p is these n values, or -EBADMSG. */
int row_codec_get(const uint8_t *p, size_t len, double *v, uint32_t n) MUST_CHECK;
