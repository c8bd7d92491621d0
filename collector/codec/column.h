// SPDX-License-Identifier: Apache-2.0
/*
 * column.h - n doubles in a few bytes each; docs/reference/chunk.md describes the format.
 *
 * Values are restored bit by bit, except that any NaN may come back as another NaN. The encoder
 * chooses the shortest form: the number kind that holds all values, the kind of difference between
 * neighbours, and whether differences are bit-packed or stored as runs.
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
	COLUMN_RUNS = 16, /* flags of the head, beside kind and change << 2 */
	COLUMN_MISSING = 32,
	COLUMN_MAX_DECIMALS = 9,
	COLUMN_MAX_VALUES = 1 << 20,
};

void column_put(struct buf *out, const double *v, uint32_t n);

/* -EBADMSG: the bytes at p are not exactly one column of n values. */
int column_get(const uint8_t *p, size_t len, double *v, uint32_t n) MUST_CHECK;
int column_count(const uint8_t *p, size_t len, uint32_t *n) MUST_CHECK; /* the stored count */
/* The length of the column at p, at most room; 0: no valid length. */
size_t column_len(const uint8_t *p, size_t room);

extern const double column_scale[COLUMN_MAX_DECIMALS + 1]; /* 10^d */
