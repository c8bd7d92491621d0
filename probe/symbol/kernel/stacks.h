// SPDX-License-Identifier: Apache-2.0
/*
 * stacks.h - kernel stacks: the id is available at once; the frames follow a little later, sent
 * once.
 *
 * The frames of many stacks are looked up in one pass (ksym.h) and sent as STACK items.
 */
#pragma once

#include <linux/types.h>

#include "probe/core/sink.h"

enum { STACKS_PENDING = 32 };

enum stacks_flag {
	STACKS_CUT = 1, /* there were more frames than these */
	STACKS_IN_IRQ = 2, /* interrupts may be on top; their frames are not sent */
};

struct stacks;

struct stacks *stacks_new(const char *procfs);
void stacks_free(struct stacks *s);

/* 0: no frames, or too many stacks are pending. flags: enum stacks_flag. */
uint64_t stacks_id(struct stacks *s, const __u64 *frame, uint32_t n, uint32_t flags,
		   uint64_t now_ns);

/* Does a part of the lookups and sends the stacks that are ready. */
void stacks_step(struct stacks *s, struct sink *out, uint64_t now_ns);

bool stacks_wait(const struct stacks *s); /* stacks are pending: call stacks_step */
bool stacks_hidden(const struct stacks *s); /* kptr_restrict: frames are sent as addresses */

DEFINE_AUTO(struct stacks *, stacks_free)
