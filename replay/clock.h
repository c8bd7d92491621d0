// SPDX-License-Identifier: Apache-2.0
/*
 * clock.h - the clocks of a replay. What is written down is of the time of the recording, moved;
 * what waits for a collector waits in real time, and what the probe's own code learns by time does
 * so by the recording's, while it is called.
 */
#pragma once

#include "lib/base/clock.h"

void clock_set_wall(uint64_t ns); /* clock_wall_ns, until it is set again; 0: the real one */
void clock_hold(uint64_t ns); /* clock_mono_ns; 0: the real one */
