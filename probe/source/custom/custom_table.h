// SPDX-License-Identifier: Apache-2.0
/*
 * custom_table.h - reports one map of a custom program as samples. For each key: counters since the
 * last read, gauges as they are, per-CPU values summed.
 */
#pragma once

#include "probe/source/custom/custom_layout.h"
#include "probe/source/custom/custom_load.h"
#include "probe/core/sink.h"

struct custom_table;

enum { CUSTOM_CELLS = 8192 }; /* limit of entities times values of one map */

/* NULL: more than CUSTOM_CELLS. m, map and layout are not copied and must outlive it. */
struct custom_table *custom_table_new(const struct custom_manifest *m, uint32_t map,
				      const struct custom_layout *layout,
				      const struct custom_shape *shape, int fd);
void custom_table_free(struct custom_table *t); /* NULL is fine */

int custom_table_read(struct custom_table *t, struct sink *out) MUST_CHECK;
uint64_t
custom_table_cut(const struct custom_table *t); /* keys left out at the last scan for new ones */
