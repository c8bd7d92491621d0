// SPDX-License-Identifier: Apache-2.0
/*
 * compact_early.h - relays the minutes of an unfinished hour every five minutes, so that the global
 * collector need not wait until the hour is compacted. Late samples are sent with the whole hour.
 */
#pragma once

#include <stdatomic.h>

#include "collector/core/pairmap.h"
#include "collector/db/pg.h"

enum { SEAL_EARLY_S = 300, SEAL_EARLY_SETTLE_S = 20 };

/* Relays all that is due of the last two hours. Errors are those of pg.h; minutes that were put
 * into the outbox before an error stay there. */
int compact_early(struct pg *p, const struct pairmap *layouts, const char *region,
		  const atomic_bool *stop) MUST_CHECK;
