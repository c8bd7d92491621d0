// SPDX-License-Identifier: Apache-2.0
/*
 * score_publish.h - writes the score of each node that this collector receives to the table
 * node_score, every ten seconds.
 *
 * For the writer's thread. Scores are made from the batches as they are stored, not from the
 * tables: with ten thousand nodes, a minute of their rows is more than can be read every ten
 * seconds.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

struct score_publish;

struct score_publish *score_publish_new(void);
void score_publish_free(struct score_publish *s); /* NULL is fine */

void score_publish_take(struct score_publish *s, const struct batch *b); /* b was stored */
/* Writes if it is due; after a failure the next write covers the same nodes. Errors are
 * pg.h's. */
int score_publish_write(struct score_publish *s, struct pg *p) MUST_CHECK;
