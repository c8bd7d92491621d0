// SPDX-License-Identifier: Apache-2.0
/*
 * tables.h - the statements that write batches to the tables, inside a transaction. Errors are
 * pg.h's.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

/* scratch is reusable memory. Request and event rows get the time of the commit. */
int tables_rows(struct pg *p, struct batch *const *b, size_t n, uint64_t commit_ns,
		struct buf *scratch) MUST_CHECK;
int tables_gaps(struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;
int tables_quarantine(struct pg *p, struct batch *b, const char *state,
		      const char *message) MUST_CHECK;
