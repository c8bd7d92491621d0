// SPDX-License-Identifier: Apache-2.0
/*
 * clock.h - the clocks of a replay. Recorded times are shifted to the time of the replay. Waiting
 * for a collector takes real time; during calls into the probe's own code its clock is that of the
 * recording.
 */
#pragma once

#include "lib/base/clock.h"

void clock_set_wall(uint64_t ns); /* sets clock_wall_ns until the next call; 0: the real clock */
void clock_hold(uint64_t ns); /* sets clock_mono_ns; 0: the real clock */
