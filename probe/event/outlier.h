// SPDX-License-Identifier: Apache-2.0
/*
 * outlier.h - by how much durations of one kind are over what is usual for it: more than the median
 * and three times the distance of the quartiles. That is what a fault adds, and what hosts are
 * ranked by; which requests are abnormal is another question (baseline.h), and asks for more
 * memory.
 *
 * Small, as there are many: the first 64 durations tell around what they are, and then each is
 * counted in one of 64 slots, eight to a power of two. 100 must be learnt before anything is
 * judged.
 *
 * They gather in a window: at least a minute, and as many as are learnt already, at most 1,000. One
 * with twice the usual share of what is over, and 5 of 100 more, is a fault that goes on: it is not
 * learnt. After a day of nothing else it is what is usual now.
 */
#pragma once

#include "lib/base/base.h"

enum { EXCESS_SLOTS = 64, EXCESS_FIRST = 100 };

struct outlier {
	uint64_t p50_us, limit_us; /* 0: not known */
	uint32_t n, n_window, over; /* learnt; in the window, and of these over the limit */
	uint32_t began_s, fault_s; /* of the window; of the first of those refused in a row */
	uint16_t usual_over; /* of 1,000 learnt, are over the limit */
	uint8_t faults; /* windows refused in a row, up to what adopts one */
	uint8_t first; /* what slot 0 counts, as a time_code */
	uint8_t window[EXCESS_SLOTS]; /* counts; at first, the durations themselves */
	uint16_t base[EXCESS_SLOTS];
};

/* False: it cannot be told. */
bool outlier_judge(const struct outlier *e, uint64_t us, uint64_t *over_us);
void outlier_learn(struct outlier *e, uint64_t us, uint64_t now_ns); /* after it was judged */
