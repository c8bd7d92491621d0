// SPDX-License-Identifier: Apache-2.0
/*
 * verdict.h - the reason of an abnormal request: the first rule of the table in verdict.c that
 * holds. A rule is one function; what it claims stands above it in plain words.
 */
#pragma once

#include "../lib/item.h"

struct verdict_base { /* what is usual on this route; 0: not known yet */
	uint64_t normal_us, up_normal_us;
};

struct verdict_text { /* room for the texts that params point to */
	char addr[ADDR_TEXT];
	char error[96];
};

/* queueTime and requestTime, or of one judged by its first byte the time to that. */
uint64_t item_judged_us(const struct request_item *r);
bool item_failed(const struct request_item *r); /* status >= 500, or no answer at all */
uint64_t item_upstream_us(const struct request_item *r); /* of that, the sum over the tries */

void verdict_find(struct request_item *r, const struct verdict_base *base, struct verdict_text *t);
