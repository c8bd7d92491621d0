// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lib/base/clock.h"
void clock_set_ns(uint64_t ns);
void clock_delay_ns(uint64_t ns); /* time that passes at each reading, as if others had the CPU */
void clock_cost_ns(uint64_t ns); /* CPU time from one reading to the next */
