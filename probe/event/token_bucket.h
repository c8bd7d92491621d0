// SPDX-License-Identifier: Apache-2.0
/*
 * token_bucket.h - rate limit: a token bucket that refills at per_minute tokens and holds ten
 * minutes' worth. A zeroed bucket is full.
 */
#pragma once

#include "lib/base/base.h"

struct token_bucket {
	double used;
	uint64_t at_ns;
};

/* Takes a token; false: the bucket is empty. per_minute 0: no limit. */
bool token_bucket_take(struct token_bucket *a, double per_minute, uint64_t now_ns);
