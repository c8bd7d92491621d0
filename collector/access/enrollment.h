// SPDX-License-Identifier: Apache-2.0
/*
 * enrollment.h - what the database makes of a HELLO whose key is not approved, or is to be changed.
 *
 * Runs in the roster's thread; a->why is the answer. Errors are pg.h's: there is no answer then.
 * Who waits is told to the operator, each time that this changes, and ten times a minute at most.
 */
#pragma once

#include "collector/db/pg.h"
#include "collector/access/key_registry.h"

struct enrollment {
	uint64_t told_ns;
	unsigned told;
};

int decide(struct enrollment *d, struct pg *p, struct ask *a) MUST_CHECK;
