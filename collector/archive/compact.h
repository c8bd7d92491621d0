// SPDX-License-Identifier: Apache-2.0
/*
 * compact.h - the thread that compacts finished hours into chunks and rolls them up.
 *
 * An hour is compacted one hour after its end; samples that arrive later are merged into it an hour
 * after that. Of several collectors on one database, one compacts; it also puts the minutes into
 * the outbox if the region is relayed. The thread has a database connection of its own. An error is
 * logged once and the work is retried. NOTIFY seismo_seal makes it do at once all that is due.
 */
#pragma once

#include "lib/base/base.h"

struct compact;

int compact_start(struct compact **out, const char *database,
		  const char *region) MUST_CHECK; /* NULL: not relayed; outlives the thread */
void compact_stop(struct compact *s); /* NULL is fine; aborts a running transaction */
