// SPDX-License-Identifier: Apache-2.0
/* red_item.h - counts a request and its calls in all roles of lib/wire/item.h. */
#pragma once

#include "probe/request/red/red.h"

/* peer: the peer it waited for by another protocol than HTTP, or NULL. counted: bit mask of its
 * calls that were counted already, as calls without a request. */
void red_item_request(struct red *r, const struct request_item *q, const struct up_item *peer,
		      uint32_t counted, uint64_t now_ns);
void red_item_call(struct red *r, const char *app, const char *route, const struct up_item *u,
		   uint64_t now_ns);
