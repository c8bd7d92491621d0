// SPDX-License-Identifier: Apache-2.0
/*
 * commit.h - stores a group of batches in the tables, each exactly once.
 *
 * Watermarks and rows go in one transaction. After any failure the same group may be tried again:
 * batches that are stored already are then recognised as duplicates. A batch that PostgreSQL
 * refuses for its data is found by halving the group and goes into quarantine. When the
 * call succeeds, every batch has an outcome and every epoch has a watermark entry.
 */
#pragma once

#include "collector/store/row/dims.h"
#include "collector/store/watermark_store.h"
#include "collector/store/outbox.h"
#include "collector/store/session.h"

struct commit;

/* The caller owns both; o may be NULL: no outbox. */
struct commit *commit_new(struct session *s, struct outbox *o);
void commit_free(struct commit *c); /* NULL is fine */

int commit_group(struct commit *c, struct batch *const *b, size_t n) MUST_CHECK;
int commit_load(struct commit *c, struct entry *const *e, size_t n) MUST_CHECK;
struct entry *commit_entry(struct commit *c, uint64_t node, uint64_t epoch);
void commit_invalidate(struct commit *c); /* after a lost connection or a moved watermark */

DEFINE_AUTO(struct commit *, commit_free)
