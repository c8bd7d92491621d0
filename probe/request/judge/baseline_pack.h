// SPDX-License-Identifier: Apache-2.0
/*
 * baseline_pack.h - a known baseline as bytes: msgpack [route, used_s, base, up, by_first,
 * parts], a histogram as [slot, count, slot, count, ...], slots rising, parts as bytes (part_baseline.h).
 * Older ones end after up or by_first; what a later one appends is left unread. What is read may
 * come from anybody.
 */
#pragma once

#include "lib/base/buf.h"
#include "lib/wire/mp.h"
#include "probe/request/judge/baseline.h"
#include "probe/request/judge/part_baseline.h"

void baseline_put(struct buf *out, uint64_t route, uint64_t used_s, const struct baseline *b,
		  const struct part_baseline *parts);

/* m goes bad unless it is one, whole and possible; b then means nothing. */
void baseline_take(struct mp *m, uint64_t *route, uint64_t *used_s, struct baseline *b,
		   struct part_baseline *parts);

void baseline_put_count(struct buf *out, uint32_t n); /* so many baselines follow */
