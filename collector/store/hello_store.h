// SPDX-License-Identifier: Apache-2.0
/*
 * hello_store.h - HELLOs to the node table, as many as there are in one statement.
 *
 * A commit each would be a wait for the disk each: of a fleet that comes back at once all would be
 * out of patience before their turn, and come again.
 */
#pragma once

#include "collector/db/pg.h"

struct greeting {
	uint64_t node, wall_ns; /* wall: by the node's clock, as ticks are */
	const char *name, *machine, *version;
	bool refused; /* by the database, as data: it gets no answer */
};

/* What an older machine of a name says is told. */
int greet(struct pg *p, uint64_t region, struct greeting *g, size_t n) MUST_CHECK;
