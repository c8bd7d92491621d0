// SPDX-License-Identifier: Apache-2.0
#include "collector/web/query/web_sql.h"

/* Keep each line of SQL on one line. */
/* clang-format off */

/*
 * Slot i holds (2^(i-1), 2^i] us. A percentile is interpolated within its slot, as if it were
 * evenly filled. Makes a table mark(key, p50, p99) of a table slot(key, slot, c).
 */
#define MARK(key) \
	"run as (select *, sum(c) over w as upto, sum(c) over (partition by " key ") as whole," \
	"  case slot when 0 then 0 else 2 ^ (slot - 1) end as low from slot" \
	"  window w as (partition by " key " order by slot))," \
	"mark as materialized (select " key "," \
	"  min(low + (2 ^ slot - low) * greatest(0, 0.50 * whole - (upto - c)) / c)" \
	"   filter (where upto >= 0.50 * whole) as p50," \
	"  min(low + (2 ^ slot - low) * greatest(0, 0.99 * whole - (upto - c)) / c)" \
	"   filter (where upto >= 0.99 * whole) as p99 from run group by " key ")"
#define SLOT(key, from) \
	"slot as (select " key ", (lo + i - 1)::float8 as slot, sum(c) as c" \
	"  from " from ", unnest(b) with ordinality u(c, i)" \
	"  where c > 0 and lo + i - 1 between 0 and 62 group by " key ", lo + i - 1),"
#define WHOSE "node, app, route, peer, role"
#define KEY WHOSE ", status_class"

const char web_sql_red[] =
	"with d as (select " KEY ", n, sum_us, lo, b from api.red where " WEB_RANGE_SQL " and " WEB_KEY_SQL "),"
	"total as (select " KEY ", sum(n) as n, sum(sum_us) as us from d group by " KEY " order by n desc limit 1000),"
	SLOT(KEY, "d") MARK(KEY)
	"select coalesce(json_agg(json_build_object('node', node, 'app', app, 'route', route, 'peer', peer,"
	" 'role', role, 'statusClass', status_class, 'count', n, 'sumTime', api.ms(us),"
	" 'p50', api.ms(round(p50::numeric)), 'p99', api.ms(round(p99::numeric)))"
	" order by n desc, " KEY "), '[]') as red"
	" from total left join mark using (" KEY ")";

/*
 * The series with the most requests, numbered s; the rest works on (s, t), t being a step. By app
 * ($11) a series is the sum over nodes, routes and peers. Numbering and padding use no join, since
 * the planner could not estimate its number of rows.
 */
#define UNLESS_BY_APP(column) "case when $11 <> 'app' then " column " end as " column
#define MOST_SERIES "case when $11 = 'app' then 100 else 50 end"
const char web_sql_red_steps[] =
	"with one as (select " UNLESS_BY_APP("node") ", app, " UNLESS_BY_APP("route") ", " UNLESS_BY_APP("peer") ", role,"
	"  node as of_node, status_class, ts, n, lo, b from api.red where " WEB_RANGE_SQL " and " WEB_KEY_SQL "),"
	"d as (select " KEY ", of_node, n, lo, b, sum(n) over (partition by " WHOSE ") as whole,"
	"  date_bin(make_interval(secs => $12::float8), ts, timestamptz 'epoch') as t from one),"
	"k as materialized (select *, dense_rank() over (order by whole desc, " WHOSE ") as s from d),"
	"key as (select s, " WHOSE ", whole, min(of_node) as some_node, count(distinct of_node) as nodes"
	"  from k where s <= " MOST_SERIES " group by s, " WHOSE ", whole),"
	"f as materialized (select s, t, status_class, n, lo, b from k where s <= " MOST_SERIES "),"
	"step as (select s, t, sum(n) as n, coalesce(sum(n) filter (where status_class in (0, 5)), 0) as errors,"
	"  json_object_agg(status_class, n order by status_class) as classes"
	"  from (select s, t, status_class, sum(n) as n from f group by 1, 2, 3) c group by 1, 2),"
	SLOT("s, t", "f") MARK("s, t")
	", filled as (select s, t, slot, sum(c) as c from (select s, t, slot, c from slot union all"
	"   select s, t, generate_series(min(slot)::int, max(slot)::int)::float8, 0 from slot group by 1, 2) u"
	"  group by 1, 2, 3),"
	"heat as (select s, t, min(slot) as low, json_agg(c order by slot) as b from filled group by 1, 2),"
	"every as (select s, t, n, errors, classes::text, null::float8 as p50, null::float8 as p99, null::float8 as low, null::text as b from step"
	"  union all select s, t, null, null, null, p50, p99, null, null from mark"
	"  union all select s, t, null, null, null, null, null, low, b::text from heat),"
	"point as (select s, t, max(n) as n, max(errors) as errors, max(classes)::json as classes,"
	"  max(p50) as p50, max(p99) as p99, max(low) as low, max(b)::json as b from every group by 1, 2),"
	"line as materialized (select s, json_agg(json_build_object('time', api.rfc3339(t), 'count', n, 'errors', errors,"
	"  'statusClasses', classes, 'p50', api.ms(round(p50::numeric)), 'p99', api.ms(round(p99::numeric)),"
	"  'slots', case when b is not null then json_build_object('lo', low, 'b', b) end) order by t) as points"
	"  from point group by 1)"
	"select $12 as step, (select coalesce(max(s), 0) from k) as total,"
	" coalesce(json_agg(json_build_object('node', case when nodes = 1 then some_node end, 'nodes', nodes, 'app', app,"
	"  'route', route, 'peer', peer, 'role', role, 'count', whole, 'points', points) order by s), '[]') as series"
	" from key join line using (s)";
