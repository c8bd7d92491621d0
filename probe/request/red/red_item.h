// SPDX-License-Identifier: Apache-2.0
/* red_item.h - how a request and its calls are counted: by all roles of lib/wire/item.h. */
#pragma once

#include "probe/request/red/red.h"

/* peer: for whom it waited that is no HTTP call; NULL: nobody. counted: the places of its calls
 * that are counted as calls of nobody. */
void red_item_request(struct red *r, const struct request_item *q, const struct up_item *peer,
		      uint32_t counted, uint64_t now_ns);
void red_item_call(struct red *r, const char *app, const char *route, const struct up_item *u,
		   uint64_t now_ns);
