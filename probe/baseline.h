// SPDX-License-Identifier: Apache-2.0
/*
 * baseline.h - what is usual on one route, learnt from what it did before.
 *
 * Durations gather in a window. A window in which more than 0.5 % were over the limit (and more
 * than one) is a fault that goes on: it is not learnt, so the fault does not become normal while it
 * lasts. After BASELINE_ADOPT_NS of nothing but such windows the route has changed, and the last
 * one becomes the baseline. What is over the limit in a good window is clamped, not dropped. Times
 * in us.
 */
#pragma once

#include "../lib/hist.h"

#define BASELINE_WINDOW_NS (10 * 1000000000ull)
#define BASELINE_ADOPT_NS (3600 * 1000000000ull)

enum {
	BASELINE_FIRST = 100, /* requests before a route is judged by itself */
	BASELINE_FIRST_LIMIT_US = 300000,
	BASELINE_EFFECT_US = 20000, /* slower than normal by less than this is nobody's problem */
};

struct baseline {
	uint64_t p50_us, tail_us, up_p50_us; /* tail: the p99.8 */
	uint64_t window_ns, good_ns; /* when the window began, when one was last learnt */
	uint32_t over; /* in the window */
	bool known; /* has seen its first requests */
	struct hist base, window, up;
};

/* The larger of p99.8 and p50 + 20 ms; 300 ms until the route is known. */
uint64_t baseline_limit_us(const struct baseline *b);

/* One that was kept: base and up are there, and the rest follows. */
void baseline_restore(struct baseline *b, uint64_t now_ns);

/* up_us: time in upstream calls, < 0 for none. Only requests that did not fail belong here. */
void baseline_learn(struct baseline *b, uint64_t total_us, int64_t up_us, uint64_t now_ns);
