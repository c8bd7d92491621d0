// SPDX-License-Identifier: Apache-2.0
/*
 * breakdown.h - where the time of one request went, by what the kernel tells of it. Pure.
 *
 * The parts are whole microseconds, none is negative, and together they are queue_us + request_us,
 * whatever the record says: what does not fit is cut, what is missing is OTHER.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/request.h"
#include "lib/wire/item.h"

struct breakdown {
	uint64_t us[PART_END];
	bool measured; /* false: only the queue and the calls are known, all else is OTHER */
};

/* help: of helper threads, beside its own; NULL: none. */
void breakdown_of(const struct req_head *h, const struct req_split *help, const struct request_item *r,
	      struct breakdown *out);

/* Of a record that is so long; NULL: it is shorter. */
const struct req_split *breakdown_help(const struct req_event *e, size_t len);

/* Of it what the request is judged by: of one judged by its first byte, without what came after. */
void breakdown_judged(const struct breakdown *s, const struct request_item *r, struct breakdown *out);

enum part breakdown_part(uint32_t wait); /* of an enum req_wait; OTHER of what is none */

/* At most so much can the segments that were sent again have cost. Wrong by too much, not too
 * little. */
uint64_t breakdown_loss_us(const struct req_net *n, uint32_t srtt_us);
