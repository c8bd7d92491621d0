// SPDX-License-Identifier: Apache-2.0
/*
 * chunk.h - an hour of the entities of one layout, by the column: docs/reference/chunk.md has the
 * format.
 *
 * Equal columns are there once, and one column is found without reading the others. A chunk says by
 * its CRC whether it is whole. Whoever fills in a struct chunk owns its arrays; those of
 * chunk_unpack belong to the arena.
 */
#pragma once

#include "lib/base/arena.h"
#include "lib/base/buf.h"

enum { CHUNK_VERSION = 1, CHUNK_MAX_ENTITIES = 256, CHUNK_MAX_COLUMNS = 1024 };

struct chunk_entity {
	uint32_t n; /* rows */
	const double *tick; /* of each row, the number of its tick */
	const double *v; /* n values of the first column, then of the next ... */
};

struct chunk {
	uint32_t nticks, ncolumns, nentities;
	const double *tick_us; /* since the hour began */
	const struct chunk_entity *entity;
};

void chunk_pack(struct buf *out, const struct chunk *c);
int chunk_unpack(struct arena *a, const void *data, size_t len, struct chunk *out) MUST_CHECK;
bool chunk_equal(const struct chunk *a, const struct chunk *b); /* any NaN is any other */
