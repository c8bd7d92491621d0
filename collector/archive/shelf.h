// SPDX-License-Identifier: Apache-2.0
/*
 * shelf.h - samples of an hour of some nodes, sorted out: what a chunk is made of.
 *
 * They are added in any order; a row of an entity has as many values as its layout, and of one that
 * has fewer or more the rest is missing or forgotten. shelf_each gives the chunks, by node and
 * layout, at most CHUNK_MAX_ENTITIES in each, in the order of their ids: the arrays are the shelf's
 * until the next one.
 */
#pragma once

#include "collector/codec/chunk.h"

struct shelf;

struct shelf_chunk {
	uint64_t node, layout;
	uint32_t part; /* of those of this node and layout */
	const uint64_t *id; /* of each entity */
	struct chunk chunk;
};

typedef int shelf_take(void *arg, const struct shelf_chunk *c);

struct shelf *shelf_new(void);
void shelf_free(struct shelf *s); /* NULL is fine */

/* values: of the layout. us: since the hour began. */
void shelf_add(struct shelf *s, uint64_t node, uint64_t layout, uint64_t entity, double us,
	       const double *v, uint32_t n, uint32_t values);
uint64_t shelf_values(const struct shelf *s); /* so many are in it */
int shelf_each(struct shelf *s, shelf_take *take, void *arg) MUST_CHECK; /* what take said */

DEFINE_AUTO(struct shelf *, shelf_free)
