// SPDX-License-Identifier: Apache-2.0
/*
 * function_cache.h - caches address ranges of functions that were looked up, so that no address in
 * such a range is looked up again.
 *
 * A space is an address space: a file, the kernel, the memory of a process. The cache is bounded:
 * when it is full, all entries are dropped.
 */
#pragma once

#include "lib/base/base.h"

enum { FUNCTIONS_MAX = 2048 };

struct function_cache;

struct function_cache *function_cache_new(void);
void function_cache_free(struct function_cache *f);

/* NULL: not known; "": no code at this address. Valid until the next add. */
const char *function_cache_find(const struct function_cache *f, uint64_t space, uint64_t at);

/* The range from..to, without to. passing: belongs to a process whose mappings may change soon. */
void function_cache_add(struct function_cache *f, uint64_t space, uint64_t from, uint64_t to,
			const char *text, bool passing);
void function_cache_forget_passing(struct function_cache *f);

DEFINE_AUTO(struct function_cache *, function_cache_free)
