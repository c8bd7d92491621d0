// SPDX-License-Identifier: Apache-2.0
/*
 * told.h - which stacks the collector has been told of: each once, and again after an hour of use.
 *
 * Bounded: what was told the longest ago is forgotten, and then told again. Ids are salted with the
 * boot: addresses mean nothing beyond it.
 */
#pragma once

#include "lib/base/base.h"

enum { TOLD_STACKS = 1024 };
#define TOLD_AGAIN_NS (3600 * 1000000000ull)

struct told {
	uint64_t salt;
	struct told_one {
		uint64_t id, ns;
	} one[TOLD_STACKS];
};

void told_open(struct told *t, const char *procfs);
uint64_t told_id(const struct told *t, const void *frames, size_t len);
bool told_is(const struct told *t, uint64_t id, uint64_t now_ns);
void told_add(struct told *t, uint64_t id, uint64_t now_ns); /* it is going to be */
