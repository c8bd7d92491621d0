// SPDX-License-Identifier: Apache-2.0
/*
 * stack_dedup.h - which stacks the collector has been told of: each once, and again after an hour of use.
 *
 * Bounded: what was told the longest ago is forgotten, and then told again. Ids are salted with the
 * boot: addresses mean nothing beyond it.
 */
#pragma once

#include "lib/base/base.h"

enum { TOLD_STACKS = 1024 };
#define TOLD_AGAIN_NS (3600 * 1000000000ull)

struct stack_dedup {
	uint64_t salt;
	struct stack_dedup_one {
		uint64_t id, ns;
	} one[TOLD_STACKS];
};

void stack_dedup_open(struct stack_dedup *t, const char *procfs);
uint64_t stack_dedup_id(const struct stack_dedup *t, const void *frames, size_t len);
bool stack_dedup_is(const struct stack_dedup *t, uint64_t id, uint64_t now_ns);
void stack_dedup_add(struct stack_dedup *t, uint64_t id, uint64_t now_ns); /* it is going to be */
