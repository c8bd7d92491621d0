// SPDX-License-Identifier: Apache-2.0
/* fold_kernel.h - the kernel half of fold.h, and the state both halves share; used by fold*.c only.
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

struct fold_kernel;

struct fold_kernel *fold_kernel_new(const char *procfs, struct fold_common *c);
void fold_kernel_free(struct fold_kernel *k); /* NULL is fine */

uint64_t fold_kernel_id(struct fold_kernel *k, const __u64 *frame, uint32_t n);
void fold_kernel_step(struct fold_kernel *k);
uint64_t fold_kernel_unknown(const struct fold_kernel *k);

/* Returns the id; sends the stack unless it was sent before. 0: no frames. Defined in fold.c. */
uint64_t fold_send_stack(struct fold_common *c, struct stack_item *s);
