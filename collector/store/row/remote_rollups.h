// SPDX-License-Identifier: Apache-2.0
/*
 * remote_rollups.h - what regions told by the minute, into sample_1m: each part once, in the place
 * of what it is told in the place of.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

/* Why these cannot be stored; NULL: they can. */
const char *remote_rollups_refused(const struct batch *b);
/* In the transaction of their batch, behind what they mean (dims.h). Errors are pg.h's. */
int remote_rollups_store(struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;
