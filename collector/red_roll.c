// SPDX-License-Identifier: Apache-2.0
#include "red_roll.h"

#include <stdio.h>

#include "counters.h"

/* The newest first: that is what is looked at. */
int red_roll(struct pg *p, const atomic_bool *stop)
{
	AUTO(PQclear) PGresult *slots = NULL;
	int r = pg_do(p, "select close_red()");

	if (r == 0)
		r = pg_ask(p,
			   "select extract(epoch from slot)::bigint from red_late group by slot "
			   "order by slot desc",
			   &(struct pg_args){ 0 }, &slots);
	for (int i = 0; r == 0 && i < PQntuples(slots) && !atomic_load(stop); i++) {
		char sql[96];

		snprintf(sql, sizeof(sql), "select roll_red(to_timestamp(%s))",
			 PQgetvalue(slots, i, 0));
		r = pg_do(p, sql);
		counter_add(C_RED_ROLLS, r == 0);
	}
	return r;
}
