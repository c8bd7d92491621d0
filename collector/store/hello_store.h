// SPDX-License-Identifier: Apache-2.0
/*
 * hello_store.h - stores the HELLOs of a group in the node table with one statement.
 *
 * One commit per HELLO would wait for the disk each time: when a whole fleet reconnects at once,
 * its nodes would time out before their turn and reconnect again.
 */
#pragma once

#include "collector/db/pg.h"

struct hello {
	uint64_t node, wall_ns; /* wall_ns: by the node's clock, like ticks */
	const char *name, *machine, *version;
	bool refused; /* the database refused its data: the HELLO gets no answer */
};

/* Logs a warning for each node whose machine id has changed. */
int hello_store(struct pg *p, uint64_t region, struct hello *g, size_t n) MUST_CHECK;
