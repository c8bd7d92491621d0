// SPDX-License-Identifier: Apache-2.0
/*
 * shared.h - what many rows share, kept once by the hash of its content: stacks, lists of checks.
 *
 * Written in the transaction of the rows that use it, once a day from here, so that retention sees
 * what is in use. After a rollback call shared_forget. Errors are pg.h's.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

struct shared;

struct shared *shared_new(void);
void shared_free(struct shared *s); /* NULL is fine */

int shared_store(struct shared *s, struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;
void shared_forget(struct shared *s);
