// SPDX-License-Identifier: Apache-2.0
/*
 * name_budget.h - how many new names a node may bring in a day, by kind.
 *
 * A faulty probe must not fill the database. Each kind has a budget of its own, so that containers
 * that come and go leave services, programs and disks theirs.
 */
#pragma once

#include "lib/base/base.h"

enum name_budget {
	NAMES_CGROUP, /* containers, jobs, and what else comes and goes */
	NAMES_SERVICE, /* systemd services, apps */
	NAMES_PROGRAM,
	NAMES_DEVICE,
	NAMES_KEY, /* routes and peers of counted requests */
	NAMES_OTHER,
	NAMES_END
};

/* Zeroed at the start of a day. */
struct name_counts {
	uint32_t n[NAMES_END];
};

enum name_budget name_budget_of(const char *kind, const char *name); /* of an entity */
bool name_budget_take(struct name_counts *c, enum name_budget of); /* false: it is used up */
uint32_t name_budget_most(enum name_budget of);
const char *name_budget_text(enum name_budget of); /* for the log, in the plural */
