// SPDX-License-Identifier: Apache-2.0
/* custom_layout.h - what is told of one map of a program of the operator's own, as a layout. */
#pragma once

#include "lib/wire/wire.h"
#include "probe/source/custom/custom_manifest.h"

struct custom_layout {
	struct wire_dict dict; /* names, units and kinds are in here */
	struct wire_metric metric[ITEM_MAX_VALUES];
	char name[ITEM_MAX_VALUES][ITEM_MAX_NAME];
};

/*
 * kind, and of the manifest the units, stay the caller's and outlive it. -EINVAL with FILE:LINE:
 * too many values, or a name that stands twice or is one of schema/def/metrics.def.
 */
int custom_layout_make(struct custom_layout *l, const struct custom_manifest *m, uint32_t map,
		    const char *kind, const char *path, char *err, size_t errlen) MUST_CHECK;
