// SPDX-License-Identifier: Apache-2.0
#include "collector/archive/chunk_builder.h"

#include <math.h>

#include "lib/base/log.h"
#include "collector/core/pairmap.h"

struct series {
	uint64_t node, layout, entity;
	uint32_t values, n, cap;
	bool sorted;
	double *us;
	double *v; /* row by row */
};

struct chunk_builder {
	struct pairmap *layouts; /* by node and layout: a pairmap of the entities */
	struct series **series;
	size_t n, cap;
	uint64_t values;
	struct arena *arena; /* of the current chunk */
};

struct chunk_builder *chunk_builder_new(void)
{
	struct chunk_builder *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->layouts = pairmap_new(sizeof(struct pairmap *));
	s->arena = arena_new(SIZE_MAX);
	return s;
}

static bool drop_entities(void *arg UNUSED, uint64_t a UNUSED, uint64_t b UNUSED, void *value)
{
	pairmap_free(*(struct pairmap **)value);
	return false;
}

void chunk_builder_free(struct chunk_builder *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		free(s->series[i]->us);
		free(s->series[i]->v);
		free(s->series[i]);
	}
	free(s->series);
	pairmap_each(s->layouts, drop_entities, NULL);
	pairmap_free(s->layouts);
	arena_free(s->arena);
	free(s);
}

static void *grown(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n, size);
	if (!p)
		die("out of memory");
	return p;
}

static struct series *find_series(struct chunk_builder *s, uint64_t node, uint64_t layout,
				  uint64_t entity, uint32_t values)
{
	struct pairmap **entities = pairmap_add(s->layouts, node, layout);
	struct series **one, *made;

	if (!*entities)
		*entities = pairmap_new(sizeof(struct series *));
	one = pairmap_add(*entities, entity, values);
	made = *one;
	if (made)
		return made;
	made = calloc(1, sizeof(*made));
	if (!made)
		die("out of memory");
	*made = (struct series){
		.node = node, .layout = layout, .entity = entity, .values = values, .sorted = true
	};
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 64;
		s->series = grown(s->series, s->cap, sizeof(struct series *));
	}
	s->series[s->n++] = made;
	*one = made;
	return made;
}

void chunk_builder_add(struct chunk_builder *s, uint64_t node, uint64_t layout, uint64_t entity,
		       double us, const double *v, uint32_t n, uint32_t values)
{
	struct series *e = find_series(s, node, layout, entity, values);
	double *to;

	if (e->n == e->cap) {
		e->cap = e->cap ? 2 * e->cap : 64;
		e->us = grown(e->us, e->cap, sizeof(*e->us));
		e->v = grown(e->v, e->cap, values * sizeof(*e->v));
	}
	to = e->v + (size_t)e->n * values;
	for (uint32_t i = 0; i < values; i++)
		to[i] = i < n ? v[i] : NAN;
	if (e->n && us < e->us[e->n - 1])
		e->sorted = false;
	e->us[e->n++] = us;
	s->values += values;
}

uint64_t chunk_builder_values(const struct chunk_builder *s)
{
	return s->values;
}

static int by_id(const void *a, const void *b)
{
	const struct series *x = *(struct series *const *)a, *y = *(struct series *const *)b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->layout != y->layout)
		return x->layout < y->layout ? -1 : 1;
	if (x->values != y->values)
		return x->values < y->values ? -1 : 1;
	return x->entity < y->entity ? -1 : x->entity > y->entity;
}

static int by_time(const void *a, const void *b, void *us)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	double x = ((double *)us)[i], y = ((double *)us)[j];

	if (x != y)
		return x < y ? -1 : 1;
	return i < j ? -1 : i > j; /* equal times keep their order */
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* All distinct times of these series, in order. */
static void collect_ticks(struct arena *a, struct series *const *s, uint32_t n, struct chunk *c)
{
	size_t all = 0, left = 0;
	double *us;

	for (uint32_t i = 0; i < n; i++)
		all += s[i]->n;
	us = arena_alloc(a, (all + 1) * sizeof(*us));
	all = 0;
	for (uint32_t i = 0; i < n; i++) {
		memcpy(us + all, s[i]->us, s[i]->n * sizeof(*us));
		all += s[i]->n;
	}
	qsort(us, all, sizeof(*us), by_value);
	for (size_t i = 0; i < all; i++)
		if (!left || us[left - 1] != us[i])
			us[left++] = us[i];
	c->tick_us = us;
	c->nticks = (uint32_t)left;
}

/* Rows to columns, in the order of time. */
static struct chunk_entity transpose(struct arena *a, const struct series *s, const struct chunk *c)
{
	double *tick = arena_alloc(a, (s->n + 1) * sizeof(*tick));
	double *v = arena_alloc(a, ((size_t)s->n * s->values + 1) * sizeof(*v));
	uint32_t *order = arena_alloc(a, (s->n + 1) * sizeof(*order)), at = 0;

	for (uint32_t i = 0; i < s->n; i++)
		order[i] = i;
	if (!s->sorted)
		qsort_r(order, s->n, sizeof(*order), by_time, s->us);
	for (uint32_t i = 0; i < s->n; i++) {
		while (c->tick_us[at] != s->us[order[i]])
			at++;
		tick[i] = at;
		for (uint32_t j = 0; j < s->values; j++)
			v[(size_t)j * s->n + i] = s->v[(size_t)order[i] * s->values + j];
	}
	return (struct chunk_entity){ .n = s->n, .tick = tick, .v = v };
}

static int build_chunk(struct chunk_builder *s, struct series *const *first, uint32_t n,
		       uint32_t part, chunk_builder_take *take, void *arg)
{
	struct chunk_builder_chunk out = { .node = (*first)->node,
					   .layout = (*first)->layout,
					   .part = part };
	struct chunk_entity *e;
	uint64_t *id;

	arena_reset(s->arena);
	e = arena_alloc(s->arena, n * sizeof(*e));
	id = arena_alloc(s->arena, n * sizeof(*id));
	out.chunk.ncolumns = (*first)->values;
	out.chunk.nentities = n;
	collect_ticks(s->arena, first, n, &out.chunk);
	for (uint32_t i = 0; i < n; i++) {
		e[i] = transpose(s->arena, first[i], &out.chunk);
		id[i] = first[i]->entity;
	}
	out.id = id;
	out.chunk.entity = e;
	return take(arg, &out);
}

static bool share_chunk(const struct series *a, const struct series *b)
{
	return a->node == b->node && a->layout == b->layout && a->values == b->values;
}

int chunk_builder_each(struct chunk_builder *s, chunk_builder_take *take, void *arg)
{
	uint32_t part = 0;
	int r = 0;

	if (s->n)
		qsort(s->series, s->n, sizeof(struct series *), by_id);
	for (size_t i = 0; i < s->n && r == 0;) {
		struct series *const *first = &s->series[i];
		uint32_t n = 0;

		if (i &&
		    !(first[-1]->node == (*first)->node && first[-1]->layout == (*first)->layout))
			part = 0;
		while (i < s->n && n < CHUNK_MAX_ENTITIES && share_chunk(*first, s->series[i])) {
			i++;
			n++;
		}
		r = build_chunk(s, first, n, part++, take, arg);
	}
	return r;
}
