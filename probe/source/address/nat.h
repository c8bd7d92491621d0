// SPDX-License-Identifier: Apache-2.0
/*
 * nat.h - how addresses are translated here (NAT): each way once, whatever connections go by
 * it, of which the kernel has a table. One that no connection was seen to go by any more is kept
 * for some readings, as a service that nobody asks for a minute is still there.
 */
#pragma once

#include "probe/core/sink.h"

struct place_way {
	struct nat_way way;
	uint32_t missed; /* readings of its network namespace since it was seen */
};

struct nat { /* zeroed: none are known */
	struct place_way way[ITEM_MAX_WAYS];
	uint32_t n, left_out; /* left_out: for whoever reads to set to 0 */
	bool changed; /* since it was told */
};

struct place_flow { /* a connection in the kernel's table */
	struct addr from, to; /* as it was asked for */
	struct addr answers, hears; /* who answers, and to whom that goes */
};

/* A reading of one network namespace (0: the node's own): what has been missed too often goes. */
void nat_begin(struct nat *n, uint64_t netns);
void nat_add(struct nat *n, const struct place_flow *f, uint64_t netns);
void nat_end(struct nat *n, uint64_t netns);
void nat_forget(struct nat *n, uint64_t netns); /* which is gone */
void nat_tell(struct nat *n, struct sink *out);
