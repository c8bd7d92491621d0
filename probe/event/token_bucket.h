// SPDX-License-Identifier: Apache-2.0
/*
 * token_bucket.h - how many may be told: so many a minute on the average, and ten minutes' worth at
 * once after a quiet time. One that is all zeros is full.
 */
#pragma once

#include "lib/base/base.h"

struct token_bucket {
	double used;
	uint64_t at_ns;
};

/* False: no more of them for now. per_minute 0: as many as there are. */
bool token_bucket_take(struct token_bucket *a, double per_minute, uint64_t now_ns);
