// SPDX-License-Identifier: Apache-2.0
/*
 * copy.h - PostgreSQL's binary formats: rows for COPY, and arrays as parameters.
 *
 * Every copy_X appends one field with its length. Wall times are nanoseconds since 1970; texts must
 * be valid UTF-8.
 */
#pragma once

#include "lib/base/addr.h"
#include "lib/base/buf.h"

void copy_begin(struct buf *b); /* the header of a COPY */
void copy_end(struct buf *b);
void copy_row(struct buf *b, uint16_t fields);

void copy_null(struct buf *b);
void copy_int2(struct buf *b, int16_t v);
void copy_int4(struct buf *b, int32_t v);
void copy_int8(struct buf *b, int64_t v);
void copy_time(struct buf *b, uint64_t wall_ns);
void copy_text(struct buf *b, const char *s);
void copy_bytes(struct buf *b, const void *p, size_t len);
void copy_len(struct buf *b, size_t len); /* of a field whose bytes the caller appends next */
void copy_jsonb(struct buf *b, const void *json, size_t len);
void copy_inet(struct buf *b, const struct addr *a); /* null for an empty address */
void copy_float8s(struct buf *b, const double *v, uint32_t n);
void copy_int2s(struct buf *b, const int16_t *v, uint32_t n);
void copy_int4s(struct buf *b, const uint32_t *v, uint32_t n);
void copy_int8s(struct buf *b, const uint64_t *v, uint32_t n);

enum array_type {
	ARRAY_BYTES = 17,
	ARRAY_INT2 = 21,
	ARRAY_INT8 = 20,
	ARRAY_TEXT = 25,
	ARRAY_INET = 869,
	ARRAY_TIME = 1184
};

/* The copy_X of the type appends the elements; array_end sets their number. */
void array_begin(struct buf *b, enum array_type type);
void array_end(struct buf *b, uint32_t n);

/* Numbers from the wire, limited to the range of PostgreSQL's types. */
int64_t copy_bigint(uint64_t v);
int32_t copy_int(uint64_t v);
int16_t copy_smallint(uint64_t v);
