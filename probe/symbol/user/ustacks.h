// SPDX-License-Identifier: Apache-2.0
/*
 * ustacks.h - user stacks: an id at once, their frames a little later, once.
 *
 * Each is looked up by itself (usym.h), a few pieces of files in a step. Who has waited for too
 * long is told as it is: by build ids and offsets.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/request.h"
#include "probe/core/sink.h"

enum { USTACKS_PENDING = 64 };

struct ustacks;

struct ustacks *ustacks_new(const char *procfs);
void ustacks_free(struct ustacks *s);

/* Of every stack that comes: its process may be gone when it is asked for. */
void ustacks_notice(struct ustacks *s, const struct req_stack *stack);

uint64_t ustacks_id(struct ustacks *s, const struct req_stack *stack,
		    uint64_t now_ns); /* 0: too many others wait */

/* A little of the work; tells those that are ready. */
void ustacks_step(struct ustacks *s, struct sink *out, uint64_t now_ns);
bool ustacks_wait(const struct ustacks *s); /* there is more for it */

DEFINE_AUTO(struct ustacks *, ustacks_free)
