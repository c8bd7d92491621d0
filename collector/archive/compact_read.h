// SPDX-License-Identifier: Apache-2.0
/* compact_read.h - rows that are not packed yet, and chunks, from PostgreSQL's binary format. */
#pragma once

#include "collector/core/pairmap.h"
#include "collector/db/pg.h"
#include "collector/archive/chunk_builder.h"

struct compact_read {
	struct chunk_builder *shelf;
	const struct pairmap *layouts; /* (layout, 0): uint32_t, how many values */
	uint64_t hour_us; /* wall, when the hour began */
	struct arena *arena; /* of one row */
};

/* For pg_each, of the columns that stand there; -EBADMSG: not what it must be. */
int compact_read_raw(void *read, const PGresult *row); /* ts, node, layout, entities, a, b */
int compact_read_sample(void *read, const PGresult *row); /* ts, node, layout, entity, v */
int compact_read_chunk(void *read, const PGresult *row); /* node, layout, entities, chunk */
