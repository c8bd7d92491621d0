// SPDX-License-Identifier: Apache-2.0
#include "collector/codec/chunk.h"

#include <assert.h>
#include <math.h>

#include "lib/base/crc32c.h"
#include "lib/base/hash.h"
#include "collector/codec/column.h"
#include "collector/core/pairmap.h"

enum { CRC_AT = 2, CRC_FROM = 6, DIRECTORY_AT = 10, WIDTH_MAX = 4 };

static const uint64_t NOWHERE = UINT64_MAX;

/* The columns packed so far, equal ones once. */
struct making {
	struct buf columns;
	struct pairmap *known; /* by hash and length: offset of the column + 1 */
	uint64_t *offset; /* of each directory entry, in columns */
	size_t places;
};

static void set_be(uint8_t *p, uint64_t v, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		p[i] = (uint8_t)(v >> 8 * (width - 1 - i));
}

static uint64_t get_be(const uint8_t *p, unsigned width)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < width; i++)
		v = v << 8 | p[i];
	return v;
}

static void add_column(struct making *m, const double *v, uint32_t n)
{
	size_t from = m->columns.len, len;
	uint64_t *known;

	column_put(&m->columns, v, n);
	len = m->columns.len - from;
	known = pairmap_add(m->known, hash_add(HASH_START, m->columns.data + from, len), len);
	if (*known && memcmp(m->columns.data + *known - 1, m->columns.data + from, len) == 0) {
		m->columns.len = from;
		from = *known - 1;
	} else if (!*known) {
		*known = from + 1;
	}
	m->offset[m->places++] = from;
}

/* An entity with a row at every tick is stored without a tick column. */
static bool has_all(const struct chunk *c, const struct chunk_entity *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (e->tick[i] != i)
			return false;
	return e->n == c->nticks;
}

static void add_columns(struct making *m, const struct chunk *c)
{
	add_column(m, c->tick_us, c->nticks);
	for (uint32_t e = 0; e < c->nentities; e++) {
		const struct chunk_entity *one = &c->entity[e];

		if (has_all(c, one))
			m->offset[m->places++] = NOWHERE;
		else
			add_column(m, one->tick, one->n);
		for (uint32_t i = 0; i < c->ncolumns; i++)
			add_column(m, one->v + (size_t)i * one->n, one->n);
	}
}

static void put_all(struct buf *out, const struct making *m, const struct chunk *c)
{
	unsigned width = 2;
	uint8_t *p;
	size_t len;

	while ((DIRECTORY_AT + m->places * width + m->columns.len) >> 8 * width)
		width++;
	assert(width <= WIDTH_MAX);
	len = DIRECTORY_AT + m->places * width;
	p = buf_add(out, len + m->columns.len);
	p[0] = CHUNK_VERSION;
	p[1] = (uint8_t)width;
	set_be(p + CRC_FROM, c->nentities, 2);
	set_be(p + CRC_FROM + 2, c->ncolumns, 2);
	for (size_t i = 0; i < m->places; i++)
		set_be(p + DIRECTORY_AT + i * width,
		       m->offset[i] == NOWHERE ? 0 : len + m->offset[i], width);
	memcpy(p + len, m->columns.data, m->columns.len);
	set_be(p + CRC_AT, crc32c(0, p + CRC_FROM, len + m->columns.len - CRC_FROM), 4);
}

void chunk_pack(struct buf *out, const struct chunk *c)
{
	size_t places = 1 + (size_t)c->nentities * (1 + c->ncolumns);
	struct making m = { .known = pairmap_new(sizeof(uint64_t)) };

	assert(c->nentities <= CHUNK_MAX_ENTITIES && c->ncolumns <= CHUNK_MAX_COLUMNS);
	m.offset = calloc(places, sizeof(*m.offset));
	assert(m.offset);
	add_columns(&m, c);
	put_all(out, &m, c);
	pairmap_free(m.known);
	buf_free(&m.columns);
	free(m.offset);
}

/* A chunk whose CRC is right. */
struct whole {
	const uint8_t *p;
	size_t len, places;
	unsigned width;
	uint32_t nentities, ncolumns;
};

static int check_head(const uint8_t *p, size_t len, struct whole *w)
{
	if (len < DIRECTORY_AT || p[0] != CHUNK_VERSION || p[1] < 2 || p[1] > WIDTH_MAX ||
	    get_be(p + CRC_AT, 4) != crc32c(0, p + CRC_FROM, len - CRC_FROM))
		return -EBADMSG;
	*w = (struct whole){ .p = p, .len = len, .width = p[1] };
	w->nentities = (uint32_t)get_be(p + CRC_FROM, 2);
	w->ncolumns = (uint32_t)get_be(p + CRC_FROM + 2, 2);
	w->places = 1 + (size_t)w->nentities * (1 + w->ncolumns);
	return w->nentities > CHUNK_MAX_ENTITIES || w->ncolumns > CHUNK_MAX_COLUMNS ||
			       w->places * w->width > len - DIRECTORY_AT
		       ? -EBADMSG
		       : 0;
}

static uint64_t offset_of(const struct whole *w, size_t place)
{
	return get_be(w->p + DIRECTORY_AT + place * w->width, w->width);
}

/* The bytes of a column; *len 0: there is none. */
static const uint8_t *column_at(const struct whole *w, size_t place, size_t *len)
{
	uint64_t offset = offset_of(w, place);

	*len = offset >= DIRECTORY_AT + w->places * w->width && offset < w->len
		       ? column_len(w->p + offset, w->len - offset)
		       : 0;
	return w->p + (*len ? offset : 0);
}

static int get_some(struct arena *a, const struct whole *w, size_t place, uint32_t *n,
		    const double **out)
{
	size_t len;
	const uint8_t *p = column_at(w, place, &len);
	void *v;
	int r = len ? column_count(p, len, n) : -EBADMSG;

	if (r == 0)
		r = arena_try(a, *n, sizeof(double), &v);
	if (r == 0)
		r = column_get(p, len, v, *n);
	if (r == 0)
		*out = v;
	return r;
}

static int get_all(struct arena *a, uint32_t nticks, struct chunk_entity *e)
{
	void *tick;
	int r = arena_try(a, nticks, sizeof(double), &tick);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < nticks; i++)
		((double *)tick)[i] = i;
	e->n = nticks;
	e->tick = tick;
	return 0;
}

static int get_entity(struct arena *a, const struct whole *w, size_t place, uint32_t nticks,
		      struct chunk_entity *e)
{
	void *v;
	int r = offset_of(w, place) ? get_some(a, w, place, &e->n, &e->tick)
				    : get_all(a, nticks, e);

	for (uint32_t i = 0; r == 0 && i < e->n; i++)
		if (!(e->tick[i] >= 0 && e->tick[i] < nticks && e->tick[i] == trunc(e->tick[i])))
			r = -EBADMSG;
	if (r == 0)
		r = arena_try(a, (size_t)e->n * w->ncolumns, sizeof(double), &v);
	for (uint32_t i = 0; r == 0 && i < w->ncolumns; i++) {
		size_t len;
		const uint8_t *p = column_at(w, place + 1 + i, &len);

		r = len ? column_get(p, len, (double *)v + (size_t)i * e->n, e->n) : -EBADMSG;
	}
	if (r == 0)
		e->v = v;
	return r;
}

int chunk_unpack(struct arena *a, const void *data, size_t len, struct chunk *out)
{
	struct whole w;
	struct chunk c = { 0 };
	void *entity = NULL;
	int r = check_head(data, len, &w);

	if (r == 0)
		r = get_some(a, &w, 0, &c.nticks, &c.tick_us);
	if (r == 0)
		r = arena_try(a, w.nentities, sizeof(struct chunk_entity), &entity);
	for (uint32_t e = 0; r == 0 && e < w.nentities; e++)
		r = get_entity(a, &w, 1 + (size_t)e * (1 + w.ncolumns), c.nticks,
			       (struct chunk_entity *)entity + e);
	if (r < 0)
		return r;
	c.nentities = w.nentities;
	c.ncolumns = w.ncolumns;
	c.entity = entity;
	*out = c;
	return 0;
}

static bool equal(const double *a, const double *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(&a[i], &b[i], sizeof(*a)) != 0 && !(isnan(a[i]) && isnan(b[i])))
			return false;
	return true;
}

bool chunk_equal(const struct chunk *a, const struct chunk *b)
{
	if (a->nticks != b->nticks || a->ncolumns != b->ncolumns || a->nentities != b->nentities ||
	    !equal(a->tick_us, b->tick_us, a->nticks))
		return false;
	for (uint32_t e = 0; e < a->nentities; e++) {
		const struct chunk_entity *x = &a->entity[e], *y = &b->entity[e];

		if (x->n != y->n || !equal(x->tick, y->tick, x->n) ||
		    !equal(x->v, y->v, (size_t)x->n * a->ncolumns))
			return false;
	}
	return true;
}
