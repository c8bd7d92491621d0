// SPDX-License-Identifier: Apache-2.0
/*
 * columns.h - many rows as one array parameter per column, for "... from unnest($1::bigint[],
 * ...)".
 *
 * For each row, fill column[i] with copy_X, then call columns_row. columns_execute sends nothing if
 * there are no rows.
 */
#pragma once

#include "collector/db/copy.h"
#include "collector/db/pg.h"

enum { COLUMNS_MAX = 8 };

struct columns {
	int n;
	uint32_t rows;
	struct buf column[COLUMNS_MAX];
};

void columns_begin(struct columns *c, int n, const enum array_type *types);
void columns_free(struct columns *c);

static inline void columns_row(struct columns *c)
{
	c->rows++;
}

int columns_ask(struct columns *c, struct pg *p, const char *sql, PGresult **out) MUST_CHECK;
int columns_execute(struct columns *c, struct pg *p, const char *sql) MUST_CHECK;

static inline void columns_free_autop(struct columns *c)
{
	columns_free(c);
}
