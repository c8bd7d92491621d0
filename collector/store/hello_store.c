// SPDX-License-Identifier: Apache-2.0
#include "collector/store/hello_store.h"

#include "collector/db/columns.h"
#include "collector/store/writer_log.h"

/* A HELLO with nothing new changes no row, so nothing is written and no disk is waited for. */
static const char sql[] =
	"with said as materialized (select distinct on (node) node, name, machine, version, "
	"region, wall, i"
	" from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[],"
	" $6::timestamptz[]) with ordinality u(node, name, machine, version, region, wall, i) "
	"order by node, i desc),"
	" news as (insert into node (node_id, region_id, name, machine, version,"
	" last_seen) select s.node, s.region, s.name, s.machine, s.version, least(s.wall, now())"
	" from said s left join node n on n.node_id = s.node where n.node_id is null"
	" or (n.region_id, n.machine, n.version) is distinct from (s.region, s.machine, s.version)"
	" order by s.node on conflict (node_id) do update set region_id = excluded.region_id,"
	" machine = excluded.machine, version = excluded.version)"
	" select s.i - 1, n.machine from said s join node n on n.node_id = s.node"
	" where n.machine <> '' and s.machine <> '' and n.machine <> s.machine";

static int store_hellos(struct pg *p, uint64_t region, const struct hello *g, size_t n)
{
	static const enum array_type types[] = { ARRAY_INT8, ARRAY_TEXT, ARRAY_TEXT,
						 ARRAY_TEXT, ARRAY_INT8, ARRAY_TIME };
	AUTO(columns_free) struct columns c = { 0 };
	AUTO(PQclear) PGresult *res = NULL;
	int r;

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < n; i++) {
		copy_int8(&c.column[0], (int64_t)g[i].node);
		copy_text(&c.column[1], g[i].name);
		copy_text(&c.column[2], g[i].machine);
		copy_text(&c.column[3], g[i].version);
		copy_int8(&c.column[4], (int64_t)region);
		copy_time(&c.column[5], g[i].wall_ns);
		columns_row(&c);
	}
	r = columns_ask(&c, p, sql, &res);
	if (r < 0)
		return r;
	for (int row = 0; row < PQntuples(res); row++) {
		const struct hello *of = &g[strtoul(PQgetvalue(res, row, 0), NULL, 10)];

		writer_log_machine(of->name, of->machine, PQgetvalue(res, row, 1));
	}
	return 0;
}

/* Falls back to one statement per HELLO, so that a refused one does not hold up the others. */
int hello_store(struct pg *p, uint64_t region, struct hello *g, size_t n)
{
	int r = n ? store_hellos(p, region, g, n) : 0;

	if (r != -EINVAL)
		return r;
	for (size_t i = 0; i < n; i++) {
		r = store_hellos(p, region, &g[i], 1);
		g[i].refused = r == -EINVAL;
		if (r < 0 && r != -EINVAL)
			return r;
	}
	return 0;
}
