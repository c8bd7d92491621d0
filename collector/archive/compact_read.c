// SPDX-License-Identifier: Apache-2.0
#include "collector/archive/compact_read.h"

#include <endian.h>
#include <math.h>

#include "collector/codec/row_codec.h"

enum { OID_INT8 = 20, OID_FLOAT4 = 700, OID_FLOAT8 = 701, ARRAY_HEAD = 20, ARRAY_EMPTY = 12 };
enum { MAX_VALUES = 1 << 16 }; /* of a row; the largest ones written have 64 entities of 128 */

static const int64_t EPOCH_US = 946684800000000; /* PostgreSQL counts from 2000-01-01 */

/* An array of one dimension, and its unread bytes. */
struct array {
	const uint8_t *p, *end;
	uint32_t n, first; /* first: index of the first element, from 0 */
};

static uint32_t be32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static uint64_t be64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

static bool get_int8(const PGresult *row, int column, uint64_t *out)
{
	if (PQgetlength(row, 0, column) != (int)sizeof(*out))
		return false;
	*out = be64((const uint8_t *)PQgetvalue(row, 0, column));
	return true;
}

static bool get_time(const PGresult *row, int column, const struct compact_read *s, double *us)
{
	uint64_t t;

	if (!get_int8(row, column, &t))
		return false;
	*us = (double)((int64_t)t + EPOCH_US - (int64_t)s->hour_us);
	return true;
}

/* A null counts as an empty array. */
static bool get_array(const PGresult *row, int column, uint32_t oid, struct array *a)
{
	const uint8_t *p = (const uint8_t *)PQgetvalue(row, 0, column);
	uint32_t len = (uint32_t)PQgetlength(row, 0, column);

	*a = (struct array){ p, p + len, 0, 0 };
	if (PQgetisnull(row, 0, column))
		return true;
	if (len < ARRAY_EMPTY || be32(p) > 1 || be32(p + 8) != oid)
		return false;
	if (be32(p) == 0)
		return true;
	if (len < ARRAY_HEAD || be32(p + 12) > MAX_VALUES || be32(p + 16) - 1 > MAX_VALUES)
		return false;
	a->n = be32(p + 12);
	a->first = be32(p + 16) - 1;
	a->p = p + ARRAY_HEAD;
	return true;
}

/* The bytes of the next element, NULL for a null. False: the array is malformed. */
static bool next_element(struct array *a, uint32_t size, const uint8_t **out)
{
	uint32_t len;

	if (a->end - a->p < 4)
		return false;
	len = be32(a->p);
	a->p += 4;
	*out = NULL;
	if (len == UINT32_MAX)
		return true;
	if (len != size || (size_t)(a->end - a->p) < size)
		return false;
	*out = a->p;
	a->p += size;
	return true;
}

static bool get_ids(const PGresult *row, int column, struct arena *arena, uint64_t **out,
		    uint32_t *n)
{
	struct array a;
	const uint8_t *p;

	if (!get_array(row, column, OID_INT8, &a))
		return false;
	*out = arena_alloc(arena, (a.n + 1) * sizeof(**out));
	for (uint32_t i = 0; i < a.n; i++) {
		if (!next_element(&a, sizeof(**out), &p) || !p)
			return false;
		(*out)[i] = be64(p);
	}
	*n = a.n;
	return true;
}

/* Sets the elements that the array has; the others keep their value. */
static bool put_floats(const PGresult *row, int column, uint32_t oid, double *v, uint32_t n)
{
	const uint32_t size = oid == OID_FLOAT4 ? 4 : 8;
	struct array a;

	if (!get_array(row, column, oid, &a) || a.n > n || a.first > n - a.n)
		return false;
	for (uint32_t i = 0; i < a.n; i++) {
		const uint8_t *p;
		uint64_t bits;
		float f;

		if (!next_element(&a, size, &p))
			return false;
		if (!p)
			continue;
		bits = size == 4 ? be32(p) : be64(p);
		if (size == 4) {
			const uint32_t low = (uint32_t)bits;

			memcpy(&f, &low, sizeof(f));
			v[a.first + i] = (double)f;
		} else {
			memcpy(&v[a.first + i], &bits, sizeof(bits));
		}
	}
	return true;
}

/* Bytes of row_codec.h, or two arrays, as an earlier version wrote it; 0 where neither has a
 * value. */
static bool get_values(const PGresult *row, double *v, uint32_t n)
{
	const uint8_t *p = (const uint8_t *)PQgetvalue(row, 0, 6);

	if (!PQgetisnull(row, 0, 6))
		return row_codec_get(p, (size_t)PQgetlength(row, 0, 6), v, n) == 0;
	memset(v, 0, n * sizeof(*v));
	return put_floats(row, 4, OID_FLOAT4, v, n) && put_floats(row, 5, OID_FLOAT8, v, n);
}

int compact_read_raw(void *arg, const PGresult *row)
{
	struct compact_read *s = arg;
	uint64_t node, layout, *id;
	const uint32_t *values;
	double us, *v;
	uint32_t n;

	arena_reset(s->arena);
	if (!get_time(row, 0, s, &us) || !get_int8(row, 1, &node) || !get_int8(row, 2, &layout) ||
	    !get_ids(row, 3, s->arena, &id, &n))
		return -EBADMSG;
	values = pairmap_find(s->layouts, layout, 0);
	if (!values || (uint64_t)n * *values > MAX_VALUES)
		return -EBADMSG;
	v = arena_alloc(s->arena, (n * *values + 1) * sizeof(*v));
	if (!get_values(row, v, n * *values))
		return -EBADMSG;
	for (uint32_t i = 0; i < n; i++)
		chunk_builder_add(s->builder, node, layout, id[i], us, v + i * *values, *values,
				  *values);
	return 0;
}

int compact_read_sample(void *arg, const PGresult *row)
{
	struct compact_read *s = arg;
	uint64_t node, layout, entity;
	const uint32_t *values;
	struct array a;
	double us, *v;

	arena_reset(s->arena);
	if (!get_time(row, 0, s, &us) || !get_int8(row, 1, &node) || !get_int8(row, 2, &layout) ||
	    !get_int8(row, 3, &entity) || !get_array(row, 4, OID_FLOAT8, &a))
		return -EBADMSG;
	values = pairmap_find(s->layouts, layout, 0);
	if (!values)
		return -EBADMSG;
	v = arena_alloc(s->arena, (a.first + a.n + 1) * sizeof(*v));
	for (uint32_t i = 0; i < a.first + a.n; i++)
		v[i] = NAN;
	if (!put_floats(row, 4, OID_FLOAT8, v, a.first + a.n))
		return -EBADMSG;
	chunk_builder_add(s->builder, node, layout, entity, us, v, a.first + a.n, *values);
	return 0;
}

static void add_entity(struct compact_read *s, uint64_t node, uint64_t layout, uint64_t id,
		       const struct chunk *c, const struct chunk_entity *e)
{
	double v[CHUNK_MAX_COLUMNS];

	for (uint32_t i = 0; i < e->n; i++) {
		for (uint32_t j = 0; j < c->ncolumns; j++)
			v[j] = e->v[(size_t)j * e->n + i];
		chunk_builder_add(s->builder, node, layout, id, c->tick_us[(uint32_t)e->tick[i]], v,
				  c->ncolumns, c->ncolumns);
	}
}

int compact_read_chunk(void *arg, const PGresult *row)
{
	struct compact_read *s = arg;
	uint64_t node, layout, *id;
	struct chunk c;
	uint32_t n;
	int r;

	arena_reset(s->arena);
	if (!get_int8(row, 0, &node) || !get_int8(row, 1, &layout) ||
	    !get_ids(row, 2, s->arena, &id, &n))
		return -EBADMSG;
	r = chunk_unpack(s->arena, PQgetvalue(row, 0, 3), (size_t)PQgetlength(row, 0, 3), &c);
	if (r < 0 || c.nentities != n)
		return r < 0 ? r : -EBADMSG;
	for (uint32_t i = 0; i < n; i++)
		add_entity(s, node, layout, id[i], &c, &c.entity[i]);
	return 0;
}
