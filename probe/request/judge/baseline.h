// SPDX-License-Identifier: Apache-2.0
/*
 * baseline.h - the usual duration of one route, learnt from its requests. Times in us.
 *
 * The limit is the larger of p50 + 20 ms and the 99.8th percentile. Until the route is known, by
 * its first 100 requests, the limit is 300 ms. But if the median of the first ten was longer, the
 * route is slow by design (a long poll), and its limit is the longest duration so far.
 *
 * Durations gather in a window: at least 10 s and as many requests as are known already, at most
 * 2,000. A window in which more than 5 of 1,000 were far over the limit (by an eighth) is a lasting
 * fault: it is not learnt, so that the fault does not become normal. A smaller excess is drift.
 * After a day of only faulty windows the last one becomes the baseline. In a good window, durations
 * over the limit count as at most a sixteenth over it, so that rare faults raise the limit slowly.
 * A young baseline (fewer than 1,000 requests) learns them unchanged, because its tail is not known
 * yet; shares then refer to the number of known requests.
 *
 * Halves its counts when full (HIST_WINDOW), and after each hour without a fault if it has more
 * than it needs, so that rare routes also follow changes within a day.
 */
#pragma once

#include "lib/wire/hist.h"

#define BASELINE_WINDOW_NS (10 * 1000000000ull)
#define BASELINE_FORGET_NS (3600 * 1000000000ull)
#define BASELINE_ADOPT_NS (24 * 3600 * 1000000000ull)

enum {
	BASELINE_EARLY = 10, /* requests to recognise a route that is slow by design */
	BASELINE_FIRST = 100, /* requests before a route is judged by itself */
	BASELINE_GROWN = 1000, /* from here on the tail is known */
	BASELINE_WINDOW = 2000, /* largest window */
	BASELINE_FIRST_LIMIT_US = 300000,
	BASELINE_EFFECT_US = 20000, /* a smaller slowdown does not matter */
};

struct baseline {
	uint64_t p50_us, tail_us, up_p50_us; /* tail: p99.8; 0: not known */
	uint64_t window_ns, forgot_ns; /* start of the window; last halving of base */
	uint64_t fault_ns; /* end of the first faulty window in a row */
	uint32_t far; /* far over the limit in the window */
	uint32_t faults; /* faulty windows in a row */
	bool known; /* BASELINE_FIRST requests were seen */
	bool by_first; /* durations end at the first byte of the answer; set by the caller */
	struct hist base, window, up;
};

uint64_t baseline_limit_us(const struct baseline *b);

/* Completes a baseline read from a file: base and up are set. */
void baseline_restore(struct baseline *b, uint64_t now_ns);

/* up_us: time in upstream calls, < 0 for none. Call only for requests that did not fail. */
void baseline_learn(struct baseline *b, uint64_t us, int64_t up_us, uint64_t now_ns);
