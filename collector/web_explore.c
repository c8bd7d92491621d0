// SPDX-License-Identifier: Apache-2.0
#include "web_sql.h"

/* A line of SQL stays a line. */
/* clang-format off */

/*
 * Counting is bounded: it looks at the newest 100,000 rows of the range, whatever the filters, and
 * says so when there are more; since is the time from which the counts are whole.
 */
#define SEEN(columns) \
	"seen as materialized (select ts, " columns " from api.request where " WEB_RANGE_SQL \
	"  order by ts desc, request_id desc limit 100000)," \
	"cut as (select exact, api.rfc3339(case when exact then $1 else (select min(ts) from seen) end) as since" \
	"  from (select not exists (select from api.request where " WEB_RANGE_SQL \
	"   order by ts desc, request_id desc offset 100000 limit 1) as exact) e),"
#define GOOD "(" WEB_FILTER_SQL ") as good"
#define CUT "(select to_json(exact) from cut) as exact, (select to_json(since) from cut) as since"

/* Which bin of n a row's time falls into, from 0. */
#define BIN(n) \
	"least(" n " - 1, floor(extract(epoch from ts - $1)::float8 * " n \
	" / extract(epoch from $2 - $1)::float8))::int"

/* bad has a bit for each filter that a row fails: a facet counts what fails no other. */
#define FAILS(filter, bit) "case when " filter " then 0 else " bit " end"
#define FACET(name, bit) \
	"'" name "', (select coalesce(json_agg(json_build_object('value', v, 'count', n) order by n desc, v), '[]')" \
	"  from (select coalesce(nullif(" name "::text, ''), '-') as v, count(*) as n from seen" \
	"   where bad & ~" bit " = 0 group by 1 order by 2 desc, 1 limit 20) f)"

const char web_sql_facets[] =
	"with "
	SEEN("region, node, app, route, status, reason, upstream, "
	     FAILS(WEB_REGION, "1") " + " FAILS(WEB_NODE, "2") " + " FAILS(WEB_APP, "4") " + "
	     FAILS(WEB_ROUTE, "8") " + " FAILS(WEB_STATUS_IN, "16") " + " FAILS(WEB_REASON, "32") " + "
	     FAILS(WEB_UPSTREAM, "64") " + " FAILS(WEB_REMOTE " and " WEB_Q, "128") " as bad")
	"total as (select count(*) as n from seen where bad = 0)"
	"select json_build_object("
	FACET("region", "1") ", " FACET("node", "2") ", " FACET("app", "4") ", " FACET("route", "8") ", "
	FACET("status", "16") ", " FACET("reason", "32") ", " FACET("upstream", "64") ") as facets,"
	" (select n from total) as total, " CUT;

/* $20: how many bins */
const char web_sql_histogram[] =
	"with "
	SEEN("reason, " GOOD)
	"n as (select " BIN("$20") " as bin, reason, count(*) as n from seen where good group by 1, 2),"
	"names as (select reason, sum(n) as n from n group by 1),"
	"bins as (select bin, json_object_agg(reason, n order by n desc, reason) as counts from n group by 1)"
	"select to_json(api.rfc3339($1)) as \"from\", to_json(api.rfc3339($2)) as \"to\","
	" trim_scale(round(extract(epoch from $2 - $1) / $20, 6)) as \"binSeconds\","
	" (select coalesce(json_agg(reason order by n desc, reason), '[]') from names) as reasons,"
	" (select json_agg(json_build_object('time', api.rfc3339($1 + ($2 - $1) / $20 * bin),"
	"  'counts', coalesce(counts, '{}')) order by bin)"
	"  from generate_series(0, $20 - 1) bin left join bins using (bin)) as bins,"
	" (select coalesce(sum(n), 0) from n) as total, " CUT;

/* $20: how many groups. The newest row of a group gives the sentence. */
const char web_sql_groups[] =
	"with "
	SEEN("region, node, app, route, reason, status, total_us, id, " GOOD)
	"m as materialized (select *, " BIN("20") " as bin from seen where good),"
	"g as (select region, node, app, route, reason, count(*) as n, min(ts) as first, max(ts) as last,"
	"  percentile_disc(0.5) within group (order by total_us) as p50, max(total_us) as top,"
	"  max(id collate \"C\") as newest from m group by 1, 2, 3, 4, 5),"
	"page as materialized (select row_number() over (order by last desc, newest desc) as i, *"
	"  from (select * from g order by last desc, newest desc limit $20) g),"
	"own as materialized (select i, status, bin, count(*) as n from m"
	"  join page using (region, node, app, route, reason) group by 1, 2, 3),"
	"status as (select i, json_object_agg(status, n order by n desc, status) as statuses"
	"  from (select i, status, sum(n) as n from own group by 1, 2) s group by 1),"
	"spark as (select i, json_agg(coalesce(n, 0) order by bin) as spark"
	"  from (select i, bin from page, generate_series(0, 19) bin) b"
	"  left join (select i, bin, sum(n) as n from own group by 1, 2) o using (i, bin) group by 1)"
	"select coalesce(json_agg(json_build_object('region', region, 'node', node, 'app', app,"
	"  'route', route, 'reason', (select r.body -> 'reason' from api.request r"
	"   where r.ts = last and r.request_id = api.id_number(newest) limit 1),"
	"  'count', n, 'first', api.rfc3339(first), 'last', api.rfc3339(last),"
	"  'totalTimeP50', api.ms(p50), 'totalTimeMax', api.ms(top), 'statuses', statuses,"
	"  'spark', spark, 'newest', newest) order by i), '[]') as groups,"
	" (select count(*) from g) as total, " CUT
	" from page join status using (i) join spark using (i)";
