// SPDX-License-Identifier: Apache-2.0
/*
 * column.h - n doubles in a few bytes each: docs/reference/chunk.md has the format.
 *
 * Each comes back bit by bit, but for a NaN, which comes back as any. The form is chosen that takes
 * the least: what number kind holds all of them, what each is told as the difference from, and
 * whether those are packed by bits or come as runs.
 */
#pragma once

#include "lib/base/buf.h"

enum column_kind {
	COLUMN_DECIMAL = 0, /* q / 10^d as a double */
	COLUMN_SHORT = 1, /* q / 10^d as a float, then a double */
	COLUMN_FLOAT = 2, /* q is a float's bits */
	COLUMN_DOUBLE = 3, /* q is a double's bits */
};

enum column_change { COLUMN_PLAIN = 0, COLUMN_DELTA = 1, COLUMN_DELTA2 = 2, COLUMN_XOR = 3 };

enum {
	COLUMN_RUNS = 16, /* bits of the head, beside kind and change << 2 */
	COLUMN_MISSING = 32,
	COLUMN_MAX_DECIMALS = 9,
	COLUMN_MAX_VALUES = 1 << 20,
};

void column_put(struct buf *out, const double *v, uint32_t n);

/* All that is at p is one column of n values, or -EBADMSG. */
int column_get(const uint8_t *p, size_t len, double *v, uint32_t n) MUST_CHECK;
int column_count(const uint8_t *p, size_t len, uint32_t *n) MUST_CHECK; /* as it says itself */
/* The bytes of the column that begins at p, of which so many can be there; 0: none does. */
size_t column_len(const uint8_t *p, size_t room);

extern const double column_scale[COLUMN_MAX_DECIMALS + 1]; /* 10^d */
