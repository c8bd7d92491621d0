// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_builder.h - samples of an hour of some nodes, sorted out: what a chunk is made of.
 *
 * They are added in any order; a row of an entity has as many values as its layout, and of one that
 * has fewer or more the rest is missing or forgotten. chunk_builder_each gives the chunks, by node and
 * layout, at most CHUNK_MAX_ENTITIES in each, in the order of their ids: the arrays are the shelf's
 * until the next one.
 */
#pragma once

#include "collector/codec/chunk.h"

struct chunk_builder;

struct chunk_builder_chunk {
	uint64_t node, layout;
	uint32_t part; /* of those of this node and layout */
	const uint64_t *id; /* of each entity */
	struct chunk chunk;
};

typedef int chunk_builder_take(void *arg, const struct chunk_builder_chunk *c);

struct chunk_builder *chunk_builder_new(void);
void chunk_builder_free(struct chunk_builder *s); /* NULL is fine */

/* values: of the layout. us: since the hour began. */
void chunk_builder_add(struct chunk_builder *s, uint64_t node, uint64_t layout, uint64_t entity, double us,
	       const double *v, uint32_t n, uint32_t values);
uint64_t chunk_builder_values(const struct chunk_builder *s); /* so many are in it */
int chunk_builder_each(struct chunk_builder *s, chunk_builder_take *take, void *arg) MUST_CHECK; /* what take said */

DEFINE_AUTO(struct chunk_builder *, chunk_builder_free)
