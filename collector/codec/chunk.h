// SPDX-License-Identifier: Apache-2.0
/*
 * chunk.h - one hour of the entities of one layout, stored by column; docs/reference/chunk.md
 * describes the format.
 *
 * Equal columns are stored once, and a column can be read without reading the others. A CRC detects
 * damage. The caller of chunk_pack owns the arrays of the struct chunk; those that chunk_unpack
 * returns belong to the arena.
 */
#pragma once

#include "lib/base/arena.h"
#include "lib/base/buf.h"

enum { CHUNK_VERSION = 1, CHUNK_MAX_ENTITIES = 256, CHUNK_MAX_COLUMNS = 1024 };

struct chunk_entity {
	uint32_t n; /* rows */
	const double *tick; /* index of the tick of each row */
	const double *v; /* n values of the first column, then those of the next, ... */
};

struct chunk {
	uint32_t nticks, ncolumns, nentities;
	const double *tick_us; /* since the hour began */
	const struct chunk_entity *entity;
};

void chunk_pack(struct buf *out, const struct chunk *c);
int chunk_unpack(struct arena *a, const void *data, size_t len, struct chunk *out) MUST_CHECK;
bool chunk_equal(const struct chunk *a, const struct chunk *b); /* all NaNs are equal */
