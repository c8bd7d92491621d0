// SPDX-License-Identifier: Apache-2.0
/* custom_layout.h - the layout of the values of one map of a custom program. */
#pragma once

#include "lib/wire/wire.h"
#include "probe/source/custom/custom_manifest.h"

struct custom_layout {
	struct wire_dict dict; /* names, units and kinds */
	struct wire_metric metric[ITEM_MAX_VALUES];
	char name[ITEM_MAX_VALUES][ITEM_MAX_NAME];
};

/*
 * kind, and the units in the manifest, are not copied and must outlive the layout. -EINVAL with
 * FILE:LINE: too many values, a duplicate name, or a name of schema/def/metrics.def.
 */
int custom_layout_make(struct custom_layout *l, const struct custom_manifest *m, uint32_t map,
		       const char *kind, const char *path, char *err, size_t errlen) MUST_CHECK;
