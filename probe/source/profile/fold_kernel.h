// SPDX-License-Identifier: Apache-2.0
/* fold_kernel.h - the kernel half of fold.h; used by fold.c only. */
#pragma once

#include "probe/source/profile/fold_stack.h"

struct fold_kernel;

struct fold_kernel *fold_kernel_new(const char *procfs, struct fold_common *c);
void fold_kernel_free(struct fold_kernel *k); /* NULL is fine */

uint64_t fold_kernel_id(struct fold_kernel *k, const __u64 *frame, uint32_t n);
void fold_kernel_step(struct fold_kernel *k);
uint64_t fold_kernel_unknown(const struct fold_kernel *k);
