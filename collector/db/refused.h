// SPDX-License-Identifier: Apache-2.0
/*
 * refused.h - stored rows that an engine of the collector cannot apply: each is skipped, and kept
 * in table engine_refused with its text and the error.
 *
 * An item is a part of a transaction that PostgreSQL may refuse without the others. Call
 * refused_begin before it, and refused_end with its result after it. Errors are those of pg.h.
 */
#pragma once

#include "collector/db/pg.h"

struct refused_item {
	const char *engine; /* as in core/engine_state.h */
	const char *name; /* unique within the engine: a later refusal replaces the earlier one */
	const char *text; /* the row, as any bytes; only its first REFUSED_TEXT are kept */
};

enum { REFUSED_TEXT = 4000, REFUSED_SKIPPED = 1 };

int refused_begin(struct pg *p) MUST_CHECK;
/* Returns REFUSED_SKIPPED if r is -EINVAL: then the item left no trace but its row in
 * engine_refused. Otherwise returns r, or the error of this call. */
int refused_end(struct pg *p, int r, const struct refused_item *item) MUST_CHECK;
/* For an item that the collector itself cannot read. */
int refused_put(struct pg *p, const struct refused_item *item, const char *why) MUST_CHECK;
