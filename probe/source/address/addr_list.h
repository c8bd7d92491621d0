// SPDX-License-Identifier: Apache-2.0
/*
 * addr_list.h - a sorted list of the addresses on this node without duplicates, and its changes.
 *
 * Bounded by ITEM_MAX_PLACES; entries beyond that are counted.
 */
#pragma once

#include "probe/procfs/app.h"
#include "probe/core/sink.h"

struct found_addr {
	struct addr addr;
	uint8_t kind; /* enum place_kind */
	bool sought; /* the owner was searched for, with or without success */
	bool in_search; /* the search that goes on, or the last one, has been for it from the start
			 */
	uint64_t netns; /* 0: the node's */
	uint64_t inode; /* of the listening socket */
	char app[APP_NAME];
};

struct addr_list { /* zeroed: empty */
	struct found_addr *p;
	uint32_t n, room, left_out;
};

void addr_list_free(struct addr_list *l);
struct found_addr *
addr_list_add(struct addr_list *l); /* zeroed; NULL: full, and counted in left_out */
void addr_list_sort(struct addr_list *l); /* and remove duplicates */
/* Searches a sorted list for an equal entry, ignoring its app; NULL: none. */
struct found_addr *addr_list_find(const struct addr_list *l, const struct found_addr *f);

/* Both lists sorted. Sends nothing if nothing changed. */
void addr_list_send_changes(const struct addr_list *was, const struct addr_list *is,
			    struct sink *out);
void addr_list_send_all(const struct addr_list *l, struct sink *out);
