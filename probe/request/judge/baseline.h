// SPDX-License-Identifier: Apache-2.0
/*
 * baseline.h - what is usual on one route, learnt from what it did before. Times in us.
 *
 * The limit is the larger of p50 + 20 ms and of what 2 of 1,000 exceed; 300 ms until the route is
 * known, by its first 100. But if most of the first ten took longer than that, the route is slow by
 * design (a long poll), and until it is known its limit is the longest so far.
 *
 * Durations gather in a window: at least 10 s and as many requests as are known already, at most
 * 2,000. One in which more than 5 of 1,000 were far over the limit (by an eighth) is a fault that
 * goes on: it is not learnt, so the fault does not become normal while it lasts. Less far is drift.
 * After a day of nothing but faults this is what the route is now: the last window becomes the
 * baseline. In a good window what is over counts as a sixteenth over at most, so that faults too
 * rare to be told from a tail raise the limit slowly; only a young baseline (less than 1,000)
 * learns it as it is, because its tail is not known yet. There, shares are those of as many as are
 * known.
 *
 * It forgets half when full (HIST_WINDOW), and after each hour without a fault what it does not
 * need, so that a rare route, too, follows its day.
 */
#pragma once

#include "lib/wire/hist.h"

#define BASELINE_WINDOW_NS (10 * 1000000000ull)
#define BASELINE_FORGET_NS (3600 * 1000000000ull)
#define BASELINE_ADOPT_NS (24 * 3600 * 1000000000ull)

enum {
	BASELINE_EARLY = 10, /* requests that tell a route that is slow by design */
	BASELINE_FIRST = 100, /* requests before a route is judged by itself */
	BASELINE_GROWN = 1000, /* from here on its tail is known */
	BASELINE_WINDOW = 2000, /* the most that a window waits for */
	BASELINE_FIRST_LIMIT_US = 300000,
	BASELINE_EFFECT_US = 20000, /* slower than normal by less than this is nobody's problem */
};

struct baseline {
	uint64_t p50_us, tail_us, up_p50_us; /* tail: what 2 of 1,000 exceed; 0: not known */
	uint64_t window_ns, forgot_ns; /* when the window began, when base was last halved */
	uint64_t fault_ns; /* when the first of the faulty windows in a row was over */
	uint32_t far; /* far over the limit in the window */
	uint32_t faults; /* faulty windows in a row */
	bool known; /* has seen its first requests */
	bool by_first; /* durations end with the first byte of the answer; the caller's to decide */
	struct hist base, window, up;
};

uint64_t baseline_limit_us(const struct baseline *b);

/* One that was kept: base and up are there, and the rest follows. */
void baseline_restore(struct baseline *b, uint64_t now_ns);

/* up_us: time in upstream calls, < 0 for none. Only requests that did not fail belong here. */
void baseline_learn(struct baseline *b, uint64_t us, int64_t up_us, uint64_t now_ns);
