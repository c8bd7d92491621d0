// SPDX-License-Identifier: Apache-2.0
/*
 * usual.h - what each part of a request's time usually is on one route: the parts of 64 requests
 * that were not slow. The first 64, then one every two seconds takes the place of the oldest, so
 * that they stand for the last two minutes or more. A time is kept in one byte, to 6 % of it.
 */
#pragma once

#include "lib/base/buf.h"
#include "probe/request/judge/split.h"

enum { USUAL_SAMPLES = 64, USUAL_BYTES = PART_END - 1 };
#define USUAL_EVERY_NS (2 * 1000000000ull)

struct usual_part {
	uint32_t p50_us, iqr_us; /* iqr: from the first to the third quarter */
};

struct usual {
	uint64_t sampled_ns; /* the newest */
	uint8_t n, next;
	bool fresh; /* part is of these samples */
	uint8_t sample[USUAL_SAMPLES][USUAL_BYTES]; /* [part - 1] */
	struct usual_part part[PART_END];
};

/* s: as judged, of a request that was neither slow nor failed. */
void usual_learn(struct usual *u, const struct split *s, uint64_t now_ns);

/* [part]: all 0 while nothing is known. Valid until the next usual_learn. */
const struct usual_part *usual_parts(struct usual *u);

/*
 * As one string: how many parts there are, then sample after sample. And back; false: this is no
 * such string. One with fewer or more parts is, and then all is learnt anew.
 */
void usual_put(struct buf *out, const struct usual *u);
bool usual_take(struct usual *u, const uint8_t *p, size_t len);
