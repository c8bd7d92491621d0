// SPDX-License-Identifier: Apache-2.0
/*
 * layout.h - what the probe's samples mean: schema/def/metrics.def as indices and as announced layouts.
 *
 * A source fills double v[NODE_END], ..., by index and sends it as layout_node.layout. The ids are
 * ready before main runs.
 */
#pragma once

#include "lib/wire/wire.h"

/* NODE_LOAD1, ...: of each layout from 0, and NODE_END, ...: how many it has. */
enum {
#define LAYOUT(ID, name, kind) ID##_BEGIN = -1,
#define METRIC(layout, ID, name, unit, kind) layout##_##ID,
#define LAYOUT_END(ID) ID##_END,
#include "schema/def/metrics.def"
};

#define LAYOUT(ID, name, kind) extern struct wire_dict layout_##name;
#include "schema/def/metrics.def"

bool layout_has(const char *name); /* whether a metric of any of them is called so */
