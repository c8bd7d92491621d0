// SPDX-License-Identifier: Apache-2.0
/*
 * arena.h - memory that lives exactly as long as one batch.
 *
 * Everything made while a batch moves down the line comes from the batch's
 * arena and goes away with it, so no stage frees anything. arena_alloc never
 * returns NULL: it dies. What an arena may hold is bounded at its making, and
 * arena_try (for sizes that came off the wire) says -ENOMEM past that bound.
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
