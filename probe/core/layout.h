// SPDX-License-Identifier: Apache-2.0
/*
 * layout.h - the metrics of the probe's samples: schema/def/metrics.def as array indices and as the
 * layouts that the probe announces.
 *
 * A source fills double v[NODE_END] by index and sends it with the id layout_node.layout. The ids
 * are computed before main runs.
 */
#pragma once

#include "lib/wire/wire.h"

/* NODE_LOAD1, ...: indices in each layout, from 0. NODE_END, ...: the number of its metrics. */
enum {
#define LAYOUT(ID, name, kind) ID##_BEGIN = -1,
#define METRIC(layout, ID, name, unit, kind) layout##_##ID,
#define LAYOUT_END(ID) ID##_END,
#include "schema/def/metrics.def"
};

#define LAYOUT(ID, name, kind) extern struct wire_dict layout_##name;
#include "schema/def/metrics.def"

bool layout_has(const char *name); /* whether any layout has a metric of this name */
