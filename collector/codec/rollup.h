// SPDX-License-Identifier: Apache-2.0
/*
 * rollup.h - rolls a chunk up by spans of time: n, min, max and sum of each metric.
 *
 * Missing values and those of 1e290 and more are not counted. In a span without values, n is 0 and
 * the rest is missing. A sum that is not an integer is rounded to a float, as its inputs are.
 */
#pragma once

#include "collector/codec/chunk.h"

enum { ROLLUP_COLUMNS = 4 };

/* Sets *out to the rollup of c by span_us; the arrays belong to the arena. */
void rollup(struct arena *a, const struct chunk *c, uint64_t span_us, struct chunk *out);
