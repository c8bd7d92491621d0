// SPDX-License-Identifier: Apache-2.0
/*
 * stacks.h - kernel stacks: an id at once, their frames a little later, once.
 *
 * The frames of many are looked up together (ksym.h) and told as STACK items.
 */
#pragma once

#include <linux/types.h>

#include "probe/core/sink.h"

enum { STACKS_PENDING = 32 };

enum stacks_flag {
	STACKS_CUT = 1, /* there were more frames than these */
	STACKS_IN_IRQ = 2, /* the frames of an interrupt are on top: they are not told */
};

struct stacks;

struct stacks *stacks_new(const char *procfs);
void stacks_free(struct stacks *s);

/* 0: it has no frames, or too many others wait. flags: enum stacks_flag. */
uint64_t stacks_id(struct stacks *s, const __u64 *frame, uint32_t n, uint32_t flags,
		   uint64_t now_ns);

/* A little of the work; tells those that are ready. */
void stacks_step(struct stacks *s, struct sink *out, uint64_t now_ns);

bool stacks_wait(const struct stacks *s); /* there is more for stacks_step */
bool stacks_hidden(const struct stacks *s); /* kptr_restrict: frames are told as addresses */

DEFINE_AUTO(struct stacks *, stacks_free)
