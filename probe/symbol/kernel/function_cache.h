// SPDX-License-Identifier: Apache-2.0
/*
 * function_cache.h - which function lies where, as far as it was looked up: an address within it is not
 * looked up again.
 *
 * A space is what addresses count in: a file, the kernel, the memory of a process. Bounded: when
 * there is no room all is forgotten, and looked up anew.
 */
#pragma once

#include "lib/base/base.h"

enum { FUNCTIONS_MAX = 2048 };

struct function_cache;

struct function_cache *function_cache_new(void);
void function_cache_free(struct function_cache *f);

/* NULL: not known; "": no code lies there. Valid until the next add. */
const char *function_cache_find(const struct function_cache *f, uint64_t space, uint64_t at);

/* From up to before to. passing: what a process has there may be something else soon. */
void function_cache_add(struct function_cache *f, uint64_t space, uint64_t from, uint64_t to,
		   const char *text, bool passing);
void function_cache_forget_passing(struct function_cache *f);

DEFINE_AUTO(struct function_cache *, function_cache_free)
