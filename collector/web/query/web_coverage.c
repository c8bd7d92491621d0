// SPDX-License-Identifier: Apache-2.0
#include "collector/web/query/web_sql.h"

/* Keep each line of SQL on one line. */
/* clang-format off */

/*
 * What the probes of these regions and nodes saw in a range, and what they lost. Every nonzero
 * counter is a loss, except those that count successes; this includes counters of a newer probe.
 * Rows are counted as far as an index allows quickly; beyond that the probes' own count of sent
 * rows is used.
 */
#define STORED_MAX "10000"
#define WELL "('requests_seen', 'rows', 'client_calls', 'unread')"

const char web_sql_coverage[] =
	"with place as (select * from api.coverage where " WEB_RANGE_SQL " and " WEB_HOURS_SQL " and " WEB_PLACE_SQL "),"
	"c as materialized (select node, name, max(unit) as unit, sum(value) as n,"
	"  min(ts) filter (where value > 0) as first, max(ts) filter (where value > 0) as last"
	"  from place where value > 0 group by node, name),"
	"u as (select app, kind, array_agg(distinct node order by node) as nodes, sum(n) as n,"
	"  max(ts) as last from api.unread where " WEB_RANGE_SQL " and " WEB_PLACE_SQL
	"  group by app, kind order by n desc, app, kind limit 200),"
	"s as (select count(*) as n from (select from api.request_key where " WEB_RANGE_BY(WEB_ONE_NODE, "$2")
	"  and " WEB_FIND_REGION " and " WEB_FIND_NODE " limit " STORED_MAX " + 1) r),"
	"named as (select node, 'names_refused' as name, 'names' as unit, sum(n) as n, min(first) as first,"
	"  max(last) as last from api.name_refused where last >= $1 and first < $2 and " WEB_PLACE_SQL " group by node),"
	"loss as (select * from (select * from c where name not in " WELL " union all select * from named) l"
	"  order by n desc, node, name limit 500)"
	"select json_build_object("
	" 'seen', coalesce((select sum(n) from c where name = 'requests_seen'), 0),"
	" 'stored', (select case when s.n <= " STORED_MAX " then s.n else greatest(s.n,"
	"  coalesce((select sum(n) from c where name = 'rows'), 0)) end from s),"
	" 'storedExact', (select s.n <= " STORED_MAX " from s),"
	" 'withheld', coalesce((select sum(n) from c where name = 'rows_withheld'), 0),"
	" 'lost', coalesce((select sum(n) from c where name in ('ring_full', 'head_missed')), 0),"
	" 'lostBatches', (select coalesce(sum(batches), 0) from api.gap where " WEB_RANGE_SQL
	"  and stream = 1 and " WEB_PLACE_SQL "),"
	" 'losses', (select coalesce(json_agg(json_build_object('node', node, 'name', name,"
	"  'unit', unit, 'count', n, 'first', api.rfc3339(first), 'last', api.rfc3339(last))"
	"  order by n desc, node, name), '[]') from loss),"
	" 'unread', (select coalesce(json_agg(json_build_object('app', app, 'kind', kind,"
	"  'count', n, 'nodes', nodes, 'last', api.rfc3339(last)) order by n desc, app, kind), "
	"'[]')"
	"  from u)) as coverage";
