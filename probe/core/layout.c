// SPDX-License-Identifier: Apache-2.0
#include "probe/core/layout.h"

enum {
#define LAYOUT(ID, name, kind) IS_##ID,
#include "schema/def/metrics.def"
	LAYOUTS
};

static const struct wire_metric metrics[LAYOUTS][ITEM_MAX_VALUES] = {
#define METRIC(layout, ID, name, unit, kind)                                                       \
	[IS_##layout][layout##_##ID] = { name, unit, METRIC_##kind },
#include "schema/def/metrics.def"
};

#define LAYOUT(ID, name, kind)                                                                     \
	struct wire_dict layout_##name = { .entity_kind = (kind),                                  \
					   .n = ID##_END,                                          \
					   .metrics = metrics[IS_##ID] };
#include "schema/def/metrics.def"

bool layout_has(const char *name)
{
	for (size_t i = 0; i < LAYOUTS; i++)
		for (size_t j = 0; j < ITEM_MAX_VALUES && metrics[i][j].name; j++)
			if (strcmp(metrics[i][j].name, name) == 0)
				return true;
	return false;
}

/* A constructor, so that no program can forget it: the collector would refuse samples with id 0. */
__attribute__((constructor)) static void make_ids(void)
{
	struct wire_dict *const all[] = {
#define LAYOUT(ID, name, kind) &layout_##name,
#include "schema/def/metrics.def"
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		all[i]->layout = wire_layout_id(all[i]);
}
