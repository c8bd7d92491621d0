// SPDX-License-Identifier: Apache-2.0
/*
 * ustacks.h - user stacks: the id is available at once; the frames follow a little later, sent
 * once.
 *
 * Each stack is looked up by itself (usym.h), a few pieces of files per step, those first whose
 * process has cost least of late: a process that is costly to read does not delay the names of the
 * others. A stack that takes too long is sent with the names found so far, else with build ids and
 * offsets.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/request.h"
#include "probe/core/sink.h"

enum { USTACKS_PENDING = 64 };

struct ustacks;

struct ustacks *ustacks_new(const char *procfs);
void ustacks_free(struct ustacks *s);

/* To be called for each incoming stack: the process may be gone when its id is needed. */
void ustacks_notice(struct ustacks *s, const struct req_stack *stack);

uint64_t ustacks_id(struct ustacks *s, const struct req_stack *stack,
		    uint64_t now_ns); /* 0: too many stacks are pending */

/* Does a part of the lookups and sends the stacks that are ready. */
void ustacks_step(struct ustacks *s, struct sink *out, uint64_t now_ns);
bool ustacks_wait(const struct ustacks *s); /* stacks are pending: call ustacks_step */

DEFINE_AUTO(struct ustacks *, ustacks_free)
