// SPDX-License-Identifier: Apache-2.0
/*
 * arena.h - memory that lives exactly as long as one batch.
 *
 * Pipeline stages allocate from the batch's arena and free nothing; the arena is released with the
 * batch. arena_alloc dies when memory runs out and never returns NULL. arena_try is for sizes read
 * from the wire: it returns -ENOMEM above the limit given to arena_new.
 */
#pragma once

#include "lib/base/base.h"

struct arena;

struct arena *arena_new(size_t limit);
void arena_free(struct arena *a); /* NULL is fine */
void arena_reset(struct arena *a);

void *arena_alloc(struct arena *a, size_t size) __attribute__((malloc, returns_nonnull));
int arena_try(struct arena *a, size_t n, size_t size, void **out) MUST_CHECK;
char *arena_strndup(struct arena *a, const char *s, size_t len);

DEFINE_AUTO(struct arena *, arena_free)
