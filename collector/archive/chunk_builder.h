// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_builder.h - sorts the samples of one hour of some nodes into chunks.
 *
 * Samples are added in any order. A row has as many values as its layout: missing ones become NaN,
 * and surplus ones are dropped. chunk_builder_each passes on one chunk at a time, by node and
 * layout, each with at most CHUNK_MAX_ENTITIES entities in the order of their ids. The builder owns
 * the arrays of a chunk; they are valid until the next chunk.
 */
#pragma once

#include "collector/codec/chunk.h"

struct chunk_builder;

struct chunk_builder_chunk {
	uint64_t node, layout;
	uint32_t part; /* counts the chunks of this node and layout */
	const uint64_t *id; /* of each entity */
	struct chunk chunk;
};

typedef int chunk_builder_take(void *arg, const struct chunk_builder_chunk *c);

struct chunk_builder *chunk_builder_new(void);
void chunk_builder_free(struct chunk_builder *s); /* NULL is fine */

/* values: the number of values of the layout. us: since the hour began. */
void chunk_builder_add(struct chunk_builder *s, uint64_t node, uint64_t layout, uint64_t entity,
		       double us, const double *v, uint32_t n, uint32_t values);
uint64_t chunk_builder_values(const struct chunk_builder *s); /* the number of values added */
int chunk_builder_each(struct chunk_builder *s, chunk_builder_take *take,
		       void *arg) MUST_CHECK; /* take's first error */

DEFINE_AUTO(struct chunk_builder *, chunk_builder_free)
