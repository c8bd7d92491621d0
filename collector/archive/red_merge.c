// SPDX-License-Identifier: Apache-2.0
#include "collector/archive/red_merge.h"

#include <endian.h>

enum { OID_INT4 = 23, ARRAY_HEAD = 20, ARRAY_EMPTY = 12, ELEMENT = 8, FIELDS = 8 };

static uint32_t be32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static bool get_int8(const PGresult *row, int column, uint64_t *out)
{
	uint64_t v;

	if (PQgetlength(row, 0, column) != (int)sizeof(v))
		return false;
	memcpy(&v, PQgetvalue(row, 0, column), sizeof(v));
	*out = be64toh(v);
	return true;
}

static bool get_int2(const PGresult *row, int column, int16_t *out)
{
	uint16_t v;

	if (PQgetlength(row, 0, column) != (int)sizeof(v))
		return false;
	memcpy(&v, PQgetvalue(row, 0, column), sizeof(v));
	*out = (int16_t)be16toh(v);
	return true;
}

static void add_saturated(int64_t *to, int64_t v)
{
	if (__builtin_add_overflow(*to, v, to))
		*to = INT64_MAX;
}

/* As in SQL: null elements, those below 1 and slots out of range are ignored. */
static bool add_counts(struct red_merge *m, const PGresult *row, int column, int lo)
{
	const uint8_t *p = (const uint8_t *)PQgetvalue(row, 0, column);
	uint32_t len = (uint32_t)PQgetlength(row, 0, column), n;
	const uint8_t *end = p + len;

	if (len < ARRAY_EMPTY || be32(p) > 1 || be32(p + 8) != OID_INT4)
		return false;
	if (be32(p) == 0)
		return true;
	if (len < ARRAY_HEAD)
		return false;
	n = be32(p + 12);
	p += ARRAY_HEAD;
	for (uint32_t i = 0; i < n; i++) {
		int64_t slot = (int64_t)lo + i;
		int32_t v;

		if (end - p < 4)
			return false;
		if (be32(p) == UINT32_MAX) {
			p += 4;
			continue;
		}
		if (be32(p) != sizeof(v) || end - p < ELEMENT)
			return false;
		v = (int32_t)be32(p + 4);
		p += ELEMENT;
		if (v > 0 && slot >= 0 && slot < RED_SLOTS)
			add_saturated(&m->counts[slot], v);
	}
	return true;
}

/* Appends the current row to rows. */
static void put_current(struct red_merge *m)
{
	uint64_t counts[RED_SLOTS];
	int16_t slots[RED_SLOTS];
	uint32_t n = 0;

	if (!m->open)
		return;
	for (int i = 0; i < RED_SLOTS; i++) {
		if (!m->counts[i])
			continue;
		slots[n] = (int16_t)i;
		counts[n++] = (uint64_t)m->counts[i];
	}
	copy_row(&m->rows, FIELDS);
	copy_time(&m->rows, m->slot_ns);
	copy_int8(&m->rows, (int64_t)m->node);
	copy_int8(&m->rows, (int64_t)m->key);
	copy_int2(&m->rows, m->status_class);
	copy_int8(&m->rows, m->n);
	copy_int8(&m->rows, m->sum_us);
	copy_int2s(&m->rows, slots, n);
	copy_int8s(&m->rows, counts, n);
	m->nrows++;
	m->open = false;
}

void red_merge_begin(struct red_merge *m, uint64_t slot_ns)
{
	m->slot_ns = slot_ns;
	m->open = false;
	m->nbad = 0;
	red_merge_taken(m);
}

int red_merge_row(void *arg, const PGresult *row)
{
	struct red_merge *m = arg;
	uint64_t node, key, n, us;
	int16_t status_class, lo;

	if (!get_int8(row, 0, &node) || !get_int8(row, 1, &key) ||
	    !get_int2(row, 2, &status_class) || !get_int8(row, 3, &n) || !get_int8(row, 4, &us) ||
	    !get_int2(row, 5, &lo))
		return -EBADMSG;
	if (!m->open || m->node != node || m->key != key || m->status_class != status_class) {
		put_current(m);
		m->node = node;
		m->key = key;
		m->status_class = status_class;
		m->n = m->sum_us = 0;
		memset(m->counts, 0, sizeof(m->counts));
		m->open = true;
	}
	add_saturated(&m->n, (int64_t)n);
	add_saturated(&m->sum_us, (int64_t)us);
	m->nread++;
	if (!add_counts(m, row, 6, lo)) {
		m->bad_node = node;
		m->bad_key = key;
		m->nbad++;
	}
	return 0;
}

void red_merge_end(struct red_merge *m)
{
	put_current(m);
}

void red_merge_taken(struct red_merge *m)
{
	buf_reset(&m->rows);
	copy_begin(&m->rows);
	m->nread = m->nrows = 0;
}

void red_merge_free(struct red_merge *m)
{
	buf_free(&m->rows);
}
