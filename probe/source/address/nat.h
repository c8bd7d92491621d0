// SPDX-License-Identifier: Apache-2.0
/*
 * nat.h - address translations (NAT) in use on this node, each once for all its connections. A
 * translation without connections is remembered for some readings, so that a service without
 * requests for a minute stays known.
 */

#include "probe/core/sink.h"

struct nat_entry {
	struct nat_way way;
	uint32_t missed; /* readings of its namespace since it was last seen */
};

struct nat { /* zeroed: none are known */
	struct nat_entry way[ITEM_MAX_WAYS];
	uint32_t n, left_out; /* left_out: reset by the reader */
	bool changed; /* since it was last sent */
};

struct nat_flow { /* a connection in the kernel's table */
	struct addr from, to; /* original direction */
	struct addr answers, hears; /* reply direction: source and destination */
};

/* Brackets a reading of one namespace (0: the node's); end drops entries missed too often. */
void nat_begin(struct nat *n, uint64_t netns);
void nat_add(struct nat *n, const struct nat_flow *f, uint64_t netns);
void nat_end(struct nat *n, uint64_t netns);
void nat_forget(struct nat *n, uint64_t netns); /* the namespace is gone */
void nat_send(struct nat *n, struct sink *out);
