// SPDX-License-Identifier: Apache-2.0
/*
 * part_baseline.h - the usual duration of each part of a request on one route: samples of 64
 * requests that were not slow. After the first 64, a new sample replaces the oldest every two
 * seconds at most, so that they cover at least the last two minutes. A time is stored in one byte,
 * to 6 %.
 */
#pragma once

#include "lib/base/buf.h"
#include "probe/request/judge/breakdown.h"

enum { USUAL_SAMPLES = 64, USUAL_BYTES = PART_END - 1 };
#define USUAL_EVERY_NS (2 * 1000000000ull)

struct part_baseline_part {
	uint32_t p50_us, iqr_us; /* iqr: between the first and third quartile */
};

struct part_baseline {
	uint64_t sampled_ns; /* of the newest sample */
	uint8_t n, next;
	bool fresh; /* part is up to date */
	uint8_t sample[USUAL_SAMPLES][USUAL_BYTES]; /* [part - 1] */
	struct part_baseline_part part[PART_END];
};

/* s: the judged breakdown of a request that was neither slow nor failed. */
void part_baseline_learn(struct part_baseline *u, const struct breakdown *s, uint64_t now_ns);

/* [part]: all 0 until known. Valid until the next part_baseline_learn. */
const struct part_baseline_part *part_baseline_parts(struct part_baseline *u);

/*
 * Encodes as one string: the number of parts, then the samples. take returns false for a malformed
 * string; one with another number of parts is accepted and learning starts over.
 */
void part_baseline_put(struct buf *out, const struct part_baseline *u);
bool part_baseline_take(struct part_baseline *u, const uint8_t *p, size_t len);
