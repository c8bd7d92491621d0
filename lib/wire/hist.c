// SPDX-License-Identifier: Apache-2.0
#include "lib/wire/hist.h"

#include <math.h>

#include "lib/wire/item.h"

enum { SUB_BITS = 4, MAX_BITS = 40 };

_Static_assert(1 << SUB_BITS == HIST_SUB, "");
_Static_assert((MAX_BITS - SUB_BITS + 1) * HIST_SUB == HIST_SLOTS, "");

static uint32_t bits(uint64_t v)
{
	return v ? 64 - (uint32_t)__builtin_clzll(v) : 0;
}

uint32_t hist_slot(uint64_t us)
{
	uint32_t slot = us ? bits(us - 1) : 0;

	return slot < ITEM_MAX_SLOTS ? slot : ITEM_MAX_SLOTS - 1;
}

/* Values up to 31 have a slot each; above, each power of two is cut into 16 equal slots. */
static uint32_t fine_slot(uint64_t us)
{
	uint32_t shift;

	if (us >> MAX_BITS)
		us = (UINT64_C(1) << MAX_BITS) - 1;
	if (us < HIST_SUB)
		return (uint32_t)us;
	shift = bits(us) - SUB_BITS - 1;
	return shift * HIST_SUB + (uint32_t)(us >> shift);
}

static uint64_t last_of(uint32_t slot)
{
	uint32_t shift = slot < HIST_SUB ? 0 : slot / HIST_SUB - 1;
	uint64_t first = (uint64_t)(slot - shift * HIST_SUB) << shift;

	return first + (UINT64_C(1) << shift) - 1;
}

/* The odd count of a slot is carried to the next odd slot, so the tail and the sum are kept. */
void hist_halve(struct hist *h)
{
	uint32_t odd = 0, count = 0;

	for (uint32_t i = 0; i < HIST_SLOTS; i++) {
		odd += h->b[i];
		h->b[i] = odd / 2;
		count += odd / 2;
		odd %= 2;
	}
	h->count = count;
}

void hist_add(struct hist *h, uint64_t us)
{
	h->b[fine_slot(us)]++;
	if (++h->count == HIST_WINDOW)
		hist_halve(h);
}

void hist_merge(struct hist *h, const struct hist *from, uint64_t max_us)
{
	uint32_t top = fine_slot(max_us);

	for (uint32_t i = 0; i < HIST_SLOTS; i++)
		h->b[i < top ? i : top] += from->b[i];
	h->count += from->count;
	while (h->count >= HIST_WINDOW)
		hist_halve(h);
}

uint64_t hist_quantile(const struct hist *h, double q)
{
	double rank = ceil(q * h->count), seen = 0;
	uint32_t i = 0;

	if (!h->count)
		return 0;
	for (; i < HIST_SLOTS - 1; i++) {
		seen += h->b[i];
		if (seen >= rank && seen > 0)
			break;
	}
	return last_of(i);
}
