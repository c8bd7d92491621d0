// SPDX-License-Identifier: Apache-2.0
/*
 * score_publish.h - the score of each node that this collector hears, of what it stored; every ten
 * seconds into the table node_score.
 *
 * Of the writer's thread. Made from what comes and not from the tables: at ten thousand nodes a
 * minute of their rows is more than can be read every ten seconds.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

struct score_publish;

struct score_publish *score_publish_new(void);
void score_publish_free(struct score_publish *s); /* NULL is fine */

void score_publish_take(struct score_publish *s, const struct batch *b); /* that was stored */
/* If it is due; what fails is made anew when it is due again. Errors are pg.h's. */
int score_publish_write(struct score_publish *s, struct pg *p) MUST_CHECK;
