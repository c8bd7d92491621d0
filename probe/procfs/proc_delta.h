// SPDX-License-Identifier: Apache-2.0
/* proc_delta.h - converts values read into values sent: gauges unchanged, counters as deltas. */
#pragma once

#include "lib/wire/wire.h"

void proc_clear(double *v, uint32_t n); /* all unavailable */
/*
 * A counter is NaN where its delta is not known: at its first tick, after a tick without it, and
 * when it decreased (a reset, a wrap, another device of the same name).
 */
void proc_delta(const struct wire_dict *layout, const double *raw, double *last, double *out);
