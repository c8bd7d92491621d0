// SPDX-License-Identifier: Apache-2.0
#include "collector/store/clocks.h"

#include "collector/db/columns.h"

/* An uncertainty above a century is stored as a century, so that sums of several fit a bigint. */
static int64_t uncertain_us(const struct clock_item *c)
{
	const uint64_t most = (uint64_t)WIRE_MAX_OFFSET_US;

	return (int64_t)(c->uncertainty_us < most ? c->uncertainty_us : most);
}

/* The last clock item of a batch counts: a probe has one offset at a time. */
int clocks_store(struct pg *p, struct batch *const *b, size_t n)
{
	static const char sql[] =
		"select take_clocks($1::bigint[], $2::timestamptz[], $3::bigint[], $4::bigint[])";
	static const enum array_type types[] = { ARRAY_INT8, ARRAY_TIME, ARRAY_INT8, ARRAY_INT8 };
	AUTO(columns_free) struct columns c = { 0 };

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < n; i++) {
		const struct wire_body *w = &b[i]->items;

		if (!w->nclocks)
			continue;
		copy_int8(&c.column[0], (int64_t)b[i]->of.node_id);
		copy_time(&c.column[1], w->clocks[w->nclocks - 1].since_ns);
		copy_int8(&c.column[2], w->clocks[w->nclocks - 1].offset_us);
		copy_int8(&c.column[3], uncertain_us(&w->clocks[w->nclocks - 1]));
		columns_row(&c);
	}
	return columns_execute(&c, p, sql);
}
