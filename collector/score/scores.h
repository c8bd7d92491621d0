// SPDX-License-Identifier: Apache-2.0
/*
 * scores.h - the score of each node that this collector hears, of what it stored; every ten seconds
 * into the table node_score.
 *
 * Of the writer's thread. Made from what comes and not from the tables: at ten thousand nodes a
 * minute of their rows is more than can be read every ten seconds.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

struct scores;

struct scores *scores_new(void);
void scores_free(struct scores *s); /* NULL is fine */

void scores_take(struct scores *s, const struct batch *b); /* that was stored */
/* If it is due; what fails is made anew when it is due again. Errors are pg.h's. */
int scores_write(struct scores *s, struct pg *p) MUST_CHECK;
