// SPDX-License-Identifier: Apache-2.0
/*
 * commit.h - a group of batches into the tables, each exactly once.
 *
 * Marks and rows go in one transaction. Whatever fails may be tried again with the same group: what
 * is stored already is then found to be. Data that PostgreSQL refuses is found by halving the
 * group; the culprit goes into quarantine. Every batch ends with an outcome, and its epoch with an
 * entry.
 */
#pragma once

#include "collector/store/row/dims.h"
#include "collector/store/watermark_store.h"
#include "collector/store/outbox.h"
#include "collector/store/session.h"

struct commit;

struct commit *commit_new(struct session *s,
			  struct outbox *o); /* both stay the caller's; o NULL: none */
void commit_free(struct commit *c); /* NULL is fine */

int commit_group(struct commit *c, struct batch *const *b, size_t n) MUST_CHECK;
int commit_load(struct commit *c, struct entry *const *e, size_t n) MUST_CHECK;
struct entry *commit_entry(struct commit *c, uint64_t node, uint64_t epoch);
void commit_doubt(struct commit *c); /* the connection was lost, or a mark moved */

DEFINE_AUTO(struct commit *, commit_free)
