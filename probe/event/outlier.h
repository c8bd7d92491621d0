// SPDX-License-Identifier: Apache-2.0
/*
 * outlier.h - the excess of durations of one kind over their usual limit: the median plus three
 * times the interquartile range. The excess estimates the time that a fault adds, and hosts are
 * ranked by it. Which requests are abnormal is decided by baseline.h, which needs more memory.
 *
 * Small, because there are many: the first 64 durations show the order of magnitude, then each
 * duration is counted in one of 64 slots, eight per power of two. Nothing is judged before 100 are
 * learnt.
 *
 * Durations are collected in a window: at least a minute, and as many as are already learnt, at
 * most 1,000. A window with more than twice the usual share of durations over the limit plus 5 % is
 * a continuing fault and is not learnt. After a day of only such windows their level becomes usual.
 */
#pragma once

#include "lib/base/base.h"

enum { EXCESS_SLOTS = 64, EXCESS_FIRST = 100 };

struct outlier {
	uint64_t p50_us, limit_us; /* 0: not known */
	uint32_t n, n_window, over; /* learnt; in the window; in the window and over the limit */
	uint32_t began_s, fault_s; /* start of the window; time of the first refused in a row */
	uint16_t usual_over; /* number over the limit per 1,000 learnt */
	uint8_t faults; /* windows refused in a row, up to FAULTS_TO_ADOPT */
	uint8_t first; /* the time_code of slot 0 */
	uint8_t window[EXCESS_SLOTS]; /* counts; for the first 64, the durations as time_code */
	uint16_t base[EXCESS_SLOTS];
};

/* False: too few durations are learnt yet. */
bool outlier_judge(const struct outlier *e, uint64_t us, uint64_t *over_us);
void outlier_learn(struct outlier *e, uint64_t us, uint64_t now_ns); /* after outlier_judge */
