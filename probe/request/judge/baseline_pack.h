// SPDX-License-Identifier: Apache-2.0
/*
 * baseline_pack.h - a known baseline as bytes: msgpack [route, used_s, base, up, by_first, parts].
 * A histogram is [slot, count, slot, count, ...] with rising slots; parts are bytes
 * (part_baseline.h). Older files end after up or by_first; fields that later versions append are
 * skipped. The input is not trusted.
 */
#pragma once

#include "lib/base/buf.h"
#include "lib/wire/mp.h"
#include "probe/request/judge/baseline.h"
#include "probe/request/judge/part_baseline.h"

void baseline_put(struct buf *out, uint64_t route, uint64_t used_s, const struct baseline *b,
		  const struct part_baseline *parts);

/* Marks m as bad unless it holds a complete, valid baseline; b is then undefined. */
void baseline_take(struct mp *m, uint64_t *route, uint64_t *used_s, struct baseline *b,
		   struct part_baseline *parts);

void baseline_put_count(struct buf *out, uint32_t n); /* n baselines follow */
