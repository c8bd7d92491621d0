// SPDX-License-Identifier: Apache-2.0
/*
 * content_store.h - content that many rows share (stacks, lists of checks), stored once under its
 * hash.
 *
 * Written in the transaction of the rows that use it. Each id is written again once a day, so that
 * retention sees what is in use. After a rollback call content_store_forget. Errors are pg.h's.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

struct content_store;

struct content_store *content_store_new(void);
void content_store_free(struct content_store *s); /* NULL is fine */

int content_store_store(struct content_store *s, struct pg *p, struct batch *const *b,
			size_t n) MUST_CHECK;
void content_store_forget(struct content_store *s);
