// SPDX-License-Identifier: Apache-2.0
/*
 * enrollment.h - decides on a HELLO whose key is not approved yet, or that announces a new key.
 *
 * Runs in the key registry's thread; a->why is the answer. On an error (those of pg.h) there is no
 * answer. Nodes that wait for approval are logged when their state changes, at most ten times a
 * minute.
 */
#pragma once

#include "collector/db/pg.h"
#include "collector/access/key_registry.h"

struct enrollment {
	uint64_t logged_ns;
	unsigned logged;
};

int enrollment_decide(struct enrollment *d, struct pg *p, struct ask *a) MUST_CHECK;
