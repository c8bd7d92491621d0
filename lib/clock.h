// SPDX-License-Identifier: Apache-2.0
/* clock.h - the only two clocks. Tests link tests/fake/clock.c instead and turn the hands. */
#pragma once

#include "base.h"

uint64_t clock_mono_ns(void); /* for waiting and for measuring */
uint64_t clock_wall_ns(void); /* for what is written down */
