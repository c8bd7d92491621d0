// SPDX-License-Identifier: Apache-2.0
/*
 * custom_table.h - one map of a program of the operator's own, as samples: of each key that it has,
 * counters since the last read, gauges as they are, the values of all CPUs added up.
 */
#pragma once

#include "probe/source/custom/custom_layout.h"
#include "probe/source/custom/custom_load.h"
#include "probe/core/sink.h"

struct custom_table;

enum { OWN_CELLS = 8192 }; /* entities times values of one map, at most */

/* NULL: there would be more than OWN_CELLS. m, map and layout stay the caller's and outlive it. */
struct custom_table *custom_table_new(const struct custom_manifest *m, uint32_t map,
				const struct custom_layout *layout, const struct custom_shape *shape,
				int fd);
void custom_table_free(struct custom_table *t); /* NULL is fine */

int custom_table_read(struct custom_table *t, struct sink *out) MUST_CHECK;
uint64_t custom_table_cut(const struct custom_table *t); /* keys that were not told at the last look */
