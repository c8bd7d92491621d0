// SPDX-License-Identifier: Apache-2.0
/* fold_stack.h - the state that the user and the kernel half of fold.h share, and sending a stack.
 */
#pragma once

#include "probe/source/profile/fold.h"
#include "probe/symbol/kernel/function_cache.h"
#include "probe/symbol/stack_dedup.h"

struct fold_common {
	struct function_cache *functions;
	struct stack_dedup sent;
	struct sink *out;
	uint64_t now_ns;
	void (*named)(void *arg, uint64_t was, uint64_t is);
	void *arg;
};

/* Returns the id; sends the stack unless it was sent before. 0: no frames. */
uint64_t fold_send_stack(struct fold_common *c, struct stack_item *s);
