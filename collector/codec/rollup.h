// SPDX-License-Identifier: Apache-2.0
/*
 * rollup.h - the values of a chunk, by spans of time: of each metric n, min, max and sum.
 *
 * A value that is missing, or 1e290 and more, is not counted; of a span without any n is 0 and the
 * rest is missing. A sum that is no whole number is a float, as the fractions are that it is of.
 */
#pragma once

#include "collector/codec/chunk.h"

enum { ROLLUP_COLUMNS = 4 };

/* *out is c's, by span_us; the arrays are the arena's. */
void rollup(struct arena *a, const struct chunk *c, uint64_t span_us, struct chunk *out);
