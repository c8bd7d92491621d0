// SPDX-License-Identifier: Apache-2.0
/* space_gauges.h - metrics and log lines of the thread of space.h. Sizes are bytes. */
#pragma once

#include "collector/db/pg.h"
#include "collector/core/disk_limit.h"

/* Sets the gauges of all tables; those without one count as "other", with the rest of the
 * database. */
int space_read_tables(struct pg *p, uint64_t database) MUST_CHECK;
void space_set_gauges(const struct disk_sizes *s, const struct disk_bounds *b,
		      struct disk_state state, int64_t full_s);
/* A row of disk_drop_next: step, fact, since, until, rows, exact, bytes, what. */
void space_count_drop(const PGresult *res, int row);
