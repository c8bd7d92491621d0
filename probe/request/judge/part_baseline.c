// SPDX-License-Identifier: Apache-2.0
#include "probe/request/judge/part_baseline.h"

#include "probe/event/time_code.h"

enum { LEAST = 5 }; /* fewer samples are not enough */

/* The middle of the range of this code. */
static uint32_t time_of(uint8_t code)
{
	uint32_t others, least = time_of_code(code, &others);

	return least + (others + 1) / 2;
}

void part_baseline_learn(struct part_baseline *u, const struct breakdown *s, uint64_t now_ns)
{
	uint8_t *to;

	if (u->n == USUAL_SAMPLES && now_ns - u->sampled_ns < USUAL_EVERY_NS)
		return;
	to = u->sample[u->next];
	for (size_t p = 1; p < PART_END; p++)
		to[p - 1] = time_code(s->us[p]);
	u->next = (uint8_t)((u->next + 1) % USUAL_SAMPLES);
	u->n = (uint8_t)(u->n + (u->n < USUAL_SAMPLES));
	u->sampled_ns = now_ns;
	u->fresh = false;
}

/* Counts samples by code, then finds the quartiles. */
static struct part_baseline_part part_of(const struct part_baseline *u, size_t p)
{
	uint8_t have[TIME_CODE_MAX + 1] = { 0 };
	uint32_t rank[3] = { (u->n + 3u) / 4, (u->n + 1u) / 2, (u->n * 3u + 3) / 4 };
	uint32_t at[3] = { 0 }, seen = 0, q = 0;

	for (size_t i = 0; i < u->n; i++)
		have[u->sample[i][p - 1]]++;
	for (uint32_t code = 0; code <= TIME_CODE_MAX && q < 3; code++) {
		seen += have[code];
		while (q < 3 && seen >= rank[q])
			at[q++] = time_of((uint8_t)code);
	}
	return (struct part_baseline_part){ .p50_us = at[1], .iqr_us = at[2] - at[0] };
}

const struct part_baseline_part *part_baseline_parts(struct part_baseline *u)
{
	if (u->fresh)
		return u->part;
	memset(u->part, 0, sizeof(u->part));
	for (size_t p = 1; p < PART_END && u->n >= LEAST; p++)
		u->part[p] = part_of(u, p);
	u->fresh = true;
	return u->part;
}

void part_baseline_put(struct buf *out, const struct part_baseline *u)
{
	const uint8_t width = USUAL_BYTES;

	buf_put(out, &width, 1);
	buf_put(out, u->sample, (size_t)u->n * USUAL_BYTES);
}

bool part_baseline_take(struct part_baseline *u, const uint8_t *p, size_t len)
{
	*u = (struct part_baseline){ 0 };
	if (!len || p[0] != USUAL_BYTES)
		return len != 0;
	if (--len % USUAL_BYTES || len > sizeof(u->sample))
		return false;
	u->n = (uint8_t)(len / USUAL_BYTES);
	u->next = u->n % USUAL_SAMPLES;
	memcpy(u->sample, p + 1, len);
	return true;
}
