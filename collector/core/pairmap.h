// SPDX-License-Identifier: Apache-2.0
/*
 * pairmap.h - a map from two numbers to a value of fixed size, for one thread.
 *
 * A value starts zeroed and keeps its address until it is removed or the map is emptied or freed.
 */
#pragma once

#include "lib/base/base.h"

struct pairmap;

typedef bool pairmap_keep(void *arg, uint64_t a, uint64_t b, void *value);

struct pairmap *pairmap_new(size_t value_size);
void pairmap_free(struct pairmap *m); /* NULL is fine */

void *pairmap_find(const struct pairmap *m, uint64_t a, uint64_t b); /* NULL: not there */
void *pairmap_add(struct pairmap *m, uint64_t a, uint64_t b); /* or the existing value */
size_t pairmap_count(const struct pairmap *m);
void pairmap_forget(struct pairmap *m); /* removes everything */
void pairmap_each(struct pairmap *m, pairmap_keep *keep, void *arg); /* false removes */
