// SPDX-License-Identifier: Apache-2.0
/*
 * own_table.h - one map of a program of the operator's own, as samples: of each key that it has,
 * counters since the last read, gauges as they are, the values of all CPUs added up.
 */
#pragma once

#include "probe/source/custom/own_layout.h"
#include "probe/source/custom/own_load.h"
#include "probe/core/sink.h"

struct own_table;

enum { OWN_CELLS = 8192 }; /* entities times values of one map, at most */

/* NULL: there would be more than OWN_CELLS. m, map and layout stay the caller's and outlive it. */
struct own_table *own_table_new(const struct own_manifest *m, uint32_t map,
				const struct own_layout *layout, const struct own_shape *shape,
				int fd);
void own_table_free(struct own_table *t); /* NULL is fine */

int own_table_read(struct own_table *t, struct sink *out) MUST_CHECK;
uint64_t own_table_cut(const struct own_table *t); /* keys that were not told at the last look */
