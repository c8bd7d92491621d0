// SPDX-License-Identifier: Apache-2.0
/* How a chunk is split into pieces for the outbox. Includes the source file, to read its structs.
 */
#include "collector/archive/relay_rollup.c"

#include "tests/lib/test.h"

enum { ENTITIES = 256, TICKS = 60, COLUMNS = 512 };

/* noise: values that do not compress. */
static void fill(struct chunk *c, struct chunk_entity *e, double *tick, double *v, bool noise)
{
	uint64_t x = 1;

	for (uint32_t i = 0; i < TICKS; i++)
		tick[i] = i;
	for (size_t i = 0; i < TICKS * COLUMNS; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		v[i] = noise ? 1 + (double)(x >> 12) * 0x1p-52 : 7;
	}
	for (uint32_t i = 0; i < ENTITIES; i++)
		e[i] = (struct chunk_entity){ TICKS, tick, v };
	*c = (struct chunk){ TICKS, COLUMNS, ENTITIES, tick, e };
}

static void add_filled(struct relay_rollup *r, bool noise)
{
	AUTO_FREE struct chunk_entity *e = calloc(ENTITIES, sizeof(*e));
	AUTO_FREE double *tick = calloc(TICKS, sizeof(*tick));
	AUTO_FREE double *v = calloc(TICKS * COLUMNS, sizeof(*v));
	AUTO_FREE uint64_t *id = calloc(ENTITIES, sizeof(*id));
	struct chunk_builder_chunk of = { .node = 1, .layout = 2, .id = id };
	struct chunk c;

	for (uint32_t i = 0; i < ENTITIES; i++)
		id[i] = 100 + i;
	fill(&c, e, tick, v, noise);
	if (noise) { /* equal columns are stored once, so each must differ */
		c.nentities = 8;
		for (uint32_t i = 0; i < c.nentities; i++)
			e[i].v = memcpy(calloc(TICKS * COLUMNS, sizeof(*v)), v,
					TICKS * COLUMNS * sizeof(*v));
		for (uint32_t i = 0; i < c.nentities; i++)
			for (size_t k = 0; k < TICKS * COLUMNS; k++)
				((double *)(uintptr_t)e[i].v)[k] += i;
	}
	relay_rollup_add(r, &of, &c, 512, true);
	for (uint32_t i = 0; noise && i < c.nentities; i++)
		free((double *)(uintptr_t)e[i].v);
}

TEST(a_chunk_that_fits_into_a_frame_is_one_piece)
{
	struct relay_rollup *r = relay_rollup_new("eu", 3600);

	add_filled(r, false);
	CHECK_EQ(r->n, 1);
	CHECK_EQ(r->piece[0].part, 512);
	CHECK_EQ(r->piece[0].n, ENTITIES);
	CHECK(r->piece[0].whole);
	relay_rollup_free(r);
}

TEST(a_larger_chunk_is_split_with_each_entity_in_one_piece)
{
	struct relay_rollup *r = relay_rollup_new("eu", 3600);
	AUTO(arena_free) struct arena *a = arena_new(SIZE_MAX);
	uint64_t next = 100;

	add_filled(r, true);
	CHECK(r->n > 1);
	for (size_t i = 0; i < r->n; i++) {
		const struct piece *q = &r->piece[i];
		struct chunk c = { 0 };

		CHECK_EQ(q->part, 512 + i);
		CHECK_EQ(q->whole, i == 0);
		CHECK(q->chunk.len <= MAX_CHUNK);
		CHECK_EQ(chunk_unpack(a, q->chunk.data, q->chunk.len, &c), 0);
		CHECK_EQ(c.nentities, q->n);
		for (uint32_t k = 0; k < q->n; k++)
			CHECK_EQ(q->id[k], next++);
	}
	CHECK_EQ(next, 108);
	relay_rollup_free(r);
}
