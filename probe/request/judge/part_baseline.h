// SPDX-License-Identifier: Apache-2.0
/*
 * part_baseline.h - what each part of a request's time usually is on one route: the parts of 64 requests
 * that were not slow. The first 64, then one every two seconds takes the place of the oldest, so
 * that they stand for the last two minutes or more. A time is kept in one byte, to 6 % of it.
 */
#pragma once

#include "lib/base/buf.h"
#include "probe/request/judge/breakdown.h"

enum { USUAL_SAMPLES = 64, USUAL_BYTES = PART_END - 1 };
#define USUAL_EVERY_NS (2 * 1000000000ull)

struct part_baseline_part {
	uint32_t p50_us, iqr_us; /* iqr: from the first to the third quarter */
};

struct part_baseline {
	uint64_t sampled_ns; /* the newest */
	uint8_t n, next;
	bool fresh; /* part is of these samples */
	uint8_t sample[USUAL_SAMPLES][USUAL_BYTES]; /* [part - 1] */
	struct part_baseline_part part[PART_END];
};

/* s: as judged, of a request that was neither slow nor failed. */
void part_baseline_learn(struct part_baseline *u, const struct breakdown *s, uint64_t now_ns);

/* [part]: all 0 while nothing is known. Valid until the next part_baseline_learn. */
const struct part_baseline_part *part_baseline_parts(struct part_baseline *u);

/*
 * As one string: how many parts there are, then sample after sample. And back; false: this is no
 * such string. One with fewer or more parts is, and then all is learnt anew.
 */
void part_baseline_put(struct buf *out, const struct part_baseline *u);
bool part_baseline_take(struct part_baseline *u, const uint8_t *p, size_t len);
