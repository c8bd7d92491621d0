// SPDX-License-Identifier: Apache-2.0
#include "collector/db/copy.h"

#include <assert.h>
#include <endian.h>

enum {
	OID_INT4 = 23,
	OID_FLOAT8 = 701,
	FAMILY_INET = 2,
	FAMILY_INET6 = 3,
	ARRAY_COUNT_AT = 12,
	FLOAT8_BYTES = 12
};

static const uint64_t EPOCH_US = 946684800000000u; /* PostgreSQL counts from 2000-01-01 */

static void put8(struct buf *b, uint8_t v)
{
	buf_put(b, &v, 1);
}

static void put16(struct buf *b, uint16_t v)
{
	v = htobe16(v);
	buf_put(b, &v, 2);
}

static void put32(struct buf *b, uint32_t v)
{
	v = htobe32(v);
	buf_put(b, &v, 4);
}

static void put64(struct buf *b, uint64_t v)
{
	v = htobe64(v);
	buf_put(b, &v, 8);
}

void copy_begin(struct buf *b)
{
	static const char header[19] = "PGCOPY\n\377\r\n\0"; /* then flags and extension: 0 */

	buf_put(b, header, sizeof(header));
}

void copy_end(struct buf *b)
{
	put16(b, UINT16_MAX);
}

void copy_row(struct buf *b, uint16_t fields)
{
	put16(b, fields);
}

void copy_null(struct buf *b)
{
	put32(b, UINT32_MAX);
}

void copy_int2(struct buf *b, int16_t v)
{
	put32(b, 2);
	put16(b, (uint16_t)v);
}

void copy_int4(struct buf *b, int32_t v)
{
	put32(b, 4);
	put32(b, (uint32_t)v);
}

void copy_int8(struct buf *b, int64_t v)
{
	put32(b, 8);
	put64(b, (uint64_t)v);
}

void copy_time(struct buf *b, uint64_t wall_ns)
{
	copy_int8(b, (int64_t)(wall_ns / 1000u) - (int64_t)EPOCH_US);
}

void copy_len(struct buf *b, size_t len)
{
	assert(len < INT32_MAX);
	put32(b, (uint32_t)len);
}

void copy_bytes(struct buf *b, const void *p, size_t len)
{
	copy_len(b, len);
	buf_put(b, p, len);
}

void copy_text(struct buf *b, const char *s)
{
	copy_bytes(b, s, strlen(s));
}

void copy_jsonb(struct buf *b, const void *json, size_t len)
{
	assert(len < INT32_MAX);
	put32(b, (uint32_t)len + 1);
	put8(b, 1); /* the format's version */
	buf_put(b, json, len);
}

void copy_inet(struct buf *b, const struct addr *a)
{
	if (!a->len) {
		copy_null(b);
		return;
	}
	put32(b, 4u + a->len);
	put8(b, a->len == 4 ? FAMILY_INET : FAMILY_INET6);
	put8(b, (uint8_t)(a->len * 8)); /* bits of the mask: a host */
	put8(b, 0);
	put8(b, a->len);
	buf_put(b, a->ip, a->len);
}

/* One dimension from 1; PostgreSQL's empty array has no dimension. */
static void array_head(struct buf *b, uint32_t oid, uint32_t n)
{
	put32(b, n ? 1 : 0);
	put32(b, 0); /* no nulls */
	put32(b, oid);
	if (!n)
		return;
	put32(b, n);
	put32(b, 1);
}

/* Most of the data stored: written in one pass, each value with its length before it. */
void copy_float8s(struct buf *b, const double *v, uint32_t n)
{
	const uint32_t eight = htobe32(8);
	unsigned char *out;

	put32(b, n ? 20 + n * FLOAT8_BYTES : 12);
	array_head(b, OID_FLOAT8, n);
	out = buf_add(b, (size_t)n * FLOAT8_BYTES);
	for (uint32_t i = 0; i < n; i++, out += FLOAT8_BYTES) {
		uint64_t bits;

		memcpy(&bits, &v[i], sizeof(bits));
		bits = htobe64(bits);
		memcpy(out, &eight, sizeof(eight));
		memcpy(out + sizeof(eight), &bits, sizeof(bits));
	}
}

void copy_int2s(struct buf *b, const int16_t *v, uint32_t n)
{
	put32(b, n ? 20 + n * 6 : 12);
	array_head(b, ARRAY_INT2, n);
	for (uint32_t i = 0; i < n; i++)
		copy_int2(b, v[i]);
}

void copy_int4s(struct buf *b, const uint32_t *v, uint32_t n)
{
	put32(b, n ? 20 + n * 8 : 12);
	array_head(b, OID_INT4, n);
	for (uint32_t i = 0; i < n; i++)
		copy_int4(b, copy_int(v[i]));
}

void copy_int8s(struct buf *b, const uint64_t *v, uint32_t n)
{
	put32(b, n ? 20 + n * 12 : 12);
	array_head(b, ARRAY_INT8, n);
	for (uint32_t i = 0; i < n; i++)
		copy_int8(b, copy_bigint(v[i]));
}

void array_begin(struct buf *b, enum array_type type)
{
	buf_reset(b);
	array_head(b, type, 1);
}

void array_end(struct buf *b, uint32_t n)
{
	uint32_t count = htobe32(n);

	assert(n > 0);
	memcpy(b->data + ARRAY_COUNT_AT, &count, sizeof(count));
}

int64_t copy_bigint(uint64_t v)
{
	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

int32_t copy_int(uint64_t v)
{
	return v > INT32_MAX ? INT32_MAX : (int32_t)v;
}

int16_t copy_smallint(uint64_t v)
{
	return v > INT16_MAX ? INT16_MAX : (int16_t)v;
}
