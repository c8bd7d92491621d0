// SPDX-License-Identifier: Apache-2.0
/*
 * ksym_cache.h - the names of functions of the kernel, each looked up once, some of /proc/kallsyms
 * (ksym.h) with each read of a source: it takes some reads until one is known.
 */
#pragma once

#include "lib/base/base.h"

struct ksym_cache;

struct ksym_cache *ksym_cache_new(const char *procfs); /* while the probe may see addresses */
void ksym_cache_free(struct ksym_cache *n); /* NULL is fine */

/* "hrtimer_wakeup", "?" if it has no name, NULL: not known yet. */
const char *ksym_cache_of(struct ksym_cache *n, uint64_t addr);
void ksym_cache_step(struct ksym_cache *n); /* once a read */
