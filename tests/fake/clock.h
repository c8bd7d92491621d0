// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../../lib/clock.h"
void clock_set_ns(uint64_t ns);
