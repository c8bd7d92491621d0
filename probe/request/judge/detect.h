// SPDX-License-Identifier: Apache-2.0
/*
 * detect.h - decides which requests are abnormal.
 *
 * Abnormal: status >= 500, 499 or none; a failed upstream try; or slower than the limit: that of
 * the route (baseline.h), or one fixed number for all. The judged time is totalTime (queue +
 * request); for event streams, answers of more than 1 MB, and routes where most bodies end late (by
 * 1 s or more), the time to the first byte.
 *
 * A 499 is normal on a long poll, a route with a median of 5 s or more, if the client waited no
 * longer than the limit.
 *
 * The usual parts of the time are learnt from requests that did not fail and were within the
 * route's own limit, which exists even if a fixed limit judges.
 *
 * 512 routes have a baseline. A new route replaces one that is not known yet or was unused for a
 * day; if there is none, all routes without a baseline share one.
 */
#pragma once

#include "lib/base/buf.h"
#include "lib/wire/item.h"
#include "probe/request/judge/breakdown.h"
#include "probe/request/judge/part_baseline.h"

struct detect;

struct detect *detect_new(double fixed_ms); /* < 0: each route's own limit */
void detect_free(struct detect *d);

struct judged { /* input for the reason */
	struct breakdown split; /* of the judged time */
	const struct part_baseline_part
		*usual; /* [part] of its route; NULL unless it is abnormal */
	uint64_t up_normal_us; /* the route's median in upstream calls */
};

/*
 * Judges r, with time breakdown s, by the history of its route, then learns from it. True:
 * abnormal. Fills normal_us, limit_us and *out, which is valid until the next call. Sets
 * REQUEST_BY_FIRST if the route is judged by the first byte.
 */
bool detect_judge(struct detect *d, struct request_item *r, const struct breakdown *s,
		  struct judged *out);

/*
 * Saves the known routes that were used in the last two weeks as bytes, and loads them. -EBADMSG:
 * malformed, nothing was loaded.
 */
void detect_save(struct detect *d, struct buf *out, uint64_t wall_ns);
int detect_load(struct detect *d, const void *data, size_t len, uint64_t wall_ns) MUST_CHECK;

DEFINE_AUTO(struct detect *, detect_free)
