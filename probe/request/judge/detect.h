// SPDX-License-Identifier: Apache-2.0
/*
 * detect.h - which requests are abnormal, and why.
 *
 * Abnormal: status >= 500 or 499 or none; an upstream try that failed; or slower than the route's
 * limit: the route's own (baseline.h), or one fixed number for all. totalTime (queue + request) is
 * judged; of an event stream, an answer of more than 1 MB, and on a route where most bodies end
 * late (by 1 s or more), the time to the first byte.
 *
 * A 499 is not abnormal on a long poll, which is a route with a median of 5 s or more, as long as
 * the client waited no longer than others do.
 *
 * What the parts of its time usually are is learnt from what did not fail and was not slower than
 * the route's own limit, which is there also where a fixed one judges.
 *
 * 512 routes have a baseline. One that is not known yet, or was not seen for a day, makes room;
 * when there is none, those that do not fit share one.
 */
#pragma once

#include "lib/base/buf.h"
#include "lib/wire/item.h"
#include "probe/request/judge/breakdown.h"
#include "probe/request/judge/part_baseline.h"

struct detect;

struct detect *detect_new(double fixed_ms); /* < 0: each route's own limit */
void detect_free(struct detect *d);

struct judged { /* what the reason is found by */
	struct breakdown split; /* of the time that it was judged by */
	const struct part_baseline_part *usual; /* [part] of its route; NULL unless it is abnormal */
	uint64_t up_normal_us; /* the route's median in upstream calls */
};

/*
 * Judges r, whose time is split as s, by what its route did before, then learns from it. True: it
 * is abnormal. Fills normal_us and limit_us, and *out, which is valid until the next call. Sets
 * REQUEST_BY_FIRST where the route asks for it.
 */
bool detect_judge(struct detect *d, struct request_item *r, const struct breakdown *s,
		  struct judged *out);

/*
 * The known routes that were used in the last two weeks, as bytes, and back. -EBADMSG: not such
 * bytes, and nothing has changed.
 */
void detect_save(struct detect *d, struct buf *out, uint64_t wall_ns);
int detect_load(struct detect *d, const void *data, size_t len, uint64_t wall_ns) MUST_CHECK;

DEFINE_AUTO(struct detect *, detect_free)
