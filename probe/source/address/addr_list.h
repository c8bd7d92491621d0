// SPDX-License-Identifier: Apache-2.0
/*
 * addr_list.h - what addresses are on this node, in an order, each once; and what of it is new.
 *
 * Bounded by what a node may tell (ITEM_MAX_PLACES); what has no room is counted.
 */
#pragma once

#include "probe/procfs/app.h"
#include "probe/core/sink.h"

struct place_found {
	struct addr addr;
	uint8_t kind; /* enum place_kind */
	bool sought; /* who listens was looked for, also if nobody was found */
	uint64_t netns; /* 0: the node's own */
	uint64_t inode; /* of the listening socket */
	char app[APP_NAME];
};

struct addr_list { /* zeroed: empty */
	struct place_found *p;
	uint32_t n, room, left_out;
};

void addr_list_free(struct addr_list *l);
struct place_found *addr_list_add(struct addr_list *l); /* zeroed; NULL: no room, and counted */
void addr_list_sort(struct addr_list *l); /* and each once */
/* Of a sorted list: the same but for its app; NULL: none. */
struct place_found *addr_list_find(const struct addr_list *l, const struct place_found *f);

/* Both sorted. Nothing, if nothing has changed. */
void addr_list_tell_change(const struct addr_list *was, const struct addr_list *is,
			    struct sink *out);
void addr_list_tell_all(const struct addr_list *l, struct sink *out);
