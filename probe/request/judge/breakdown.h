// SPDX-License-Identifier: Apache-2.0
/*
 * breakdown.h - breaks the time of one request down into parts, from its kernel record. Pure.
 *
 * The parts are whole microseconds, never negative, and always sum to queue_us + request_us: excess
 * in the record is cut, missing time is OTHER.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/request.h"
#include "lib/wire/item.h"

struct breakdown {
	uint64_t us[PART_END];
	bool measured; /* false: only queue and calls are known, the rest is OTHER */
};

/* help: time of helper threads; NULL: none. */
void breakdown_of(const struct req_head *h, const struct req_split *help,
		  const struct request_item *r, struct breakdown *out);

/* The helper times of a record of this length; NULL: the record is too short to have them. */
const struct req_split *breakdown_help(const struct req_event *e, size_t len);

/* The part of s that is judged: without the time after the first byte, if judged by that. */
void breakdown_judged(const struct breakdown *s, const struct request_item *r,
		      struct breakdown *out);

enum part breakdown_part(uint32_t wait); /* wait: enum req_wait; OTHER if invalid */

/* Upper bound for the time that retransmissions can have cost. */
uint64_t breakdown_loss_us(const struct req_net *n, uint32_t srtt_us);
