// SPDX-License-Identifier: Apache-2.0
/*
 * compact_early.h - minutes of an hour that is not over, for whom this region is relayed to: every
 * five minutes those before, so that it need not wait for the hour to be packed. What came late for
 * them is told with the hour.
 */
#pragma once

#include <stdatomic.h>

#include "collector/core/pairmap.h"
#include "collector/db/pg.h"

enum { SEAL_EARLY_S = 300, SEAL_EARLY_SETTLE_S = 20 };

/* All that is due of the last two hours. Errors are pg.h's; what was told until then is. */
int compact_early(struct pg *p, const struct pairmap *layouts, const char *region,
	       const atomic_bool *stop) MUST_CHECK;
