// SPDX-License-Identifier: Apache-2.0
/*
 * remote_rollups.h - per-minute rollups from regions, stored in sample_1m. A resent part replaces
 * the earlier one, and the parts of a whole hour replace those of its slots.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

/* The reason why the rollups cannot be stored, or NULL. */
const char *remote_rollups_refused(const struct batch *b);
/* Call it in the transaction of the batch, after dims_store. Errors are pg.h's. */
int remote_rollups_store(struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;
