// SPDX-License-Identifier: Apache-2.0
/*
 * hist.h - histograms of durations in microseconds.
 *
 * hist_slot is the coarse form used on the wire (struct red_item): powers of two, an edge belongs
 * to the slot below. struct hist stays in the process and gives quantiles: 16 slots per power of
 * two, up to 2^40 us. Old values fade: each time it is full (HIST_WINDOW), every count is halved.
 */
#pragma once

#include "lib/base/base.h"

enum { HIST_SUB = 16, HIST_SLOTS = 37 * HIST_SUB, HIST_WINDOW = 1 << 16 };

struct hist {
	uint32_t count;
	uint32_t b[HIST_SLOTS];
};

/* 0: up to 1 us; i: (2^(i-1), 2^i] us; the last one, ITEM_MAX_SLOTS - 1, has no upper edge. */
uint32_t hist_slot(uint64_t us);

void hist_add(struct hist *h, uint64_t us);
void hist_merge(struct hist *h, const struct hist *from, uint64_t max_us); /* above: as max_us */
void hist_halve(struct hist *h); /* drops half of the values; the quantiles stay */
/* Not below the value of that rank, and at most a sixteenth above; 0 if empty. */
uint64_t hist_quantile(const struct hist *h, double q);
