// SPDX-License-Identifier: Apache-2.0
/*
 * allowance.h - how many may be told: so many a minute on the average, and ten minutes' worth at
 * once after a quiet time. One that is all zeros is full.
 */
#pragma once

#include "lib/base/base.h"

struct allowance {
	double used;
	uint64_t at_ns;
};

/* False: no more of them for now. per_minute 0: as many as there are. */
bool allowance_take(struct allowance *a, double per_minute, uint64_t now_ns);
