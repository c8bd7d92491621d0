// SPDX-License-Identifier: Apache-2.0
/*
 * compact.h - the thread that packs hours that are over, and rolls them up.
 *
 * An hour is packed one hour after its end; what comes for it later is put to it an hour after
 * that. Of several collectors on one database one packs, and tells what was told by the minute to
 * whom the region is relayed. It has a connection of its own, and a database that is away, or that
 * refuses, is said once and tried again. NOTIFY seismo_seal: do now what is due.
 */
#pragma once

#include "lib/base/base.h"

struct compact;

int compact_start(struct compact **out, const char *database,
	       const char *region) MUST_CHECK; /* NULL: it is not relayed; outlives it */
void compact_stop(struct compact *s); /* NULL is fine; a transaction under way is given up */
