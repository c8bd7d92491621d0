// SPDX-License-Identifier: Apache-2.0
#include "probe/event/token_bucket.h"

enum { MINUTES = 10 }; /* capacity, in minutes' worth of tokens */

#define MINUTE_NS 60e9

bool token_bucket_take(struct token_bucket *a, double per_minute, uint64_t now_ns)
{
	double since = a->at_ns && now_ns > a->at_ns ? (double)(now_ns - a->at_ns) : 0;

	if (per_minute <= 0)
		return true;
	a->used -= since / MINUTE_NS * per_minute;
	if (a->used < 0)
		a->used = 0;
	a->at_ns = now_ns;
	if (a->used + 1 > MINUTES * per_minute)
		return false;
	a->used++;
	return true;
}
