// SPDX-License-Identifier: Apache-2.0
#include "collector/db/columns.h"

#include <assert.h>

void columns_begin(struct columns *c, int n, const enum array_type *types)
{
	assert(n <= COLUMNS_MAX);
	c->n = n;
	c->rows = 0;
	for (int i = 0; i < n; i++)
		array_begin(&c->column[i], types[i]);
}

void columns_free(struct columns *c)
{
	for (int i = 0; i < COLUMNS_MAX; i++)
		buf_free(&c->column[i]);
}

int columns_ask(struct columns *c, struct pg *p, const char *sql, PGresult **out)
{
	struct pg_args a = { 0 };

	assert(c->rows);
	for (int i = 0; i < c->n; i++) {
		array_end(&c->column[i], c->rows);
		pg_arg_binary(&a, &c->column[i]);
	}
	return pg_ask(p, sql, &a, out);
}

int columns_execute(struct columns *c, struct pg *p, const char *sql)
{
	AUTO(PQclear) PGresult *res = NULL;

	return c->rows ? columns_ask(c, p, sql, &res) : 0;
}
