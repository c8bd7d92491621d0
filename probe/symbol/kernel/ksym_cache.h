// SPDX-License-Identifier: Apache-2.0
/*
 * ksym_cache.h - caches the names of kernel functions. Each is looked up once; each read of a
 * source advances the pass over /proc/kallsyms (ksym.h) by a part, so a name is known after some
 * reads.
 */
#pragma once

#include "lib/base/base.h"

struct ksym_cache;

struct ksym_cache *ksym_cache_new(const char *procfs); /* while the probe is privileged */
void ksym_cache_free(struct ksym_cache *n); /* NULL is fine */

/* "hrtimer_wakeup", "?" if it has no name, NULL: not known yet. */
const char *ksym_cache_of(struct ksym_cache *n, uint64_t addr);
void ksym_cache_step(struct ksym_cache *n); /* once a read */
