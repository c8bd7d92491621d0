// SPDX-License-Identifier: Apache-2.0
/*
 * item_time.h - the times of a finished request that it is judged by, and whether it failed.
 */
#pragma once

#include "lib/wire/item.h"

/* queueTime + requestTime. Of a stream, which is judged by its first byte, the time to that byte.
 */
uint64_t item_judged_us(const struct request_item *r);

/* The response time of one upstream call. Of a stream, only the part before the first byte. */
uint64_t item_try_us(const struct request_item *r, const struct up_item *u);

/* The sum of item_try_us over all upstream calls. */
uint64_t item_upstream_us(const struct request_item *r);

/* The status is 500 or more, or the server sent no answer. */
bool item_failed(const struct request_item *r);
