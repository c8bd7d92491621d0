// SPDX-License-Identifier: Apache-2.0
/* proc_delta.h - what was read, as it travels: gauges as they are, counters since the last tick. */
#pragma once

#include "lib/wire/wire.h"

void proc_clear(double *v, uint32_t n); /* all unavailable */
/*
 * A counter is NaN where there is nothing honest to say: at its first tick, after a tick without
 * it, and when it went back (a reset, a wrap, another device of the same name).
 */
void proc_delta(const struct wire_dict *layout, const double *raw, double *last, double *out);
