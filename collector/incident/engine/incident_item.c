// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "collector/core/engine_state.h"
#include "collector/db/refused.h"
#include "collector/incident/engine/incident_engine.h"

int engine_item_begin(struct engine *e)
{
	return e->careful ? refused_begin(e->pg) : 0;
}

int engine_item_end(struct engine *e, int r, const char *kind, uint64_t id, const char *text)
{
	struct refused_item item = { engine_name(ENGINE_INCIDENTS), NULL, text };
	char name[80];

	if (!e->careful)
		return r;
	snprintf(name, sizeof(name), "%s %" PRIu64, kind, id);
	item.name = name;
	r = refused_end(e->pg, r, &item);
	if (r != REFUSED_SKIPPED)
		return r;
	e->skipped++;
	return 0;
}
