// SPDX-License-Identifier: Apache-2.0
#include "collector/web/query/web_sql.h"

/* Keep each line of SQL on one line. */
/* clang-format off */

/*
 * Counting is bounded to the newest 100,000 matching rows. If there are more the answer says so,
 * and since is the time from which the counts are complete. i numbers rows from the newest.
 */
#define SEEN(columns, range, remain, newest) \
	"most as materialized (select row_number() over () as i, * from (select ts, request_id, " columns \
	"  from api.request_key where " range " and " remain " order by " newest " limit 100001) r)," \
	"cut as (select exact, api.rfc3339(case when exact then $1 else (select ts from most where i = 100000) end) as since" \
	"  from (select count(*) <= 100000 as exact from most) e)," \
	"seen as not materialized (select * from most where i <= 100000),"
#define REASON "coalesce(code, 'unknown')"
#define NAMES "coalesce(region, '') as region, coalesce(node, '') as node, " REASON " as reason"
#define NAMED(t) t " left join api.node_key using (node_id) left join api.reason_key using (reason_id)"
#define CUT "(select to_json(exact) from cut) as exact, (select to_json(since) from cut) as since"

/* The bin of n (from 0) that a row's time falls into. Uses floats: a numeric of extract() costs
 * 6 us a row. */
#define BIN(n) \
	"least(" n " - 1, floor(date_part('epoch', ts - $1) * " n " / date_part('epoch', $2 - $1)))::int"

/* bad has a bit for each filter that a row fails: a facet counts the rows that fail no other
 * filter. */
#define FAILS(filter, bit) "case when " filter " then 0 else " bit " end"
#define FACET_OF(name, text, value, rows, bit) \
	"'" name "', (select coalesce(json_agg(json_build_object('value', " text ", 'count', n) order by n desc, v), '[]')" \
	"  from (select " value " as v, sum(n)::bigint as n from " rows " where bad & ~" bit " = 0 group by 1 order by 2 desc, 1 limit 20) f)"
#define FACET(name, bit) FACET_OF(name, "v", "coalesce(nullif(" name "::text, ''), '-') collate \"C\"", "named", bit)
#define FACET_TEXT(name, bit) FACET_OF(name, "v", "coalesce(nullif(" name ", ''), '-') collate \"C\"", name "s", bit)
/* As in remote but without the port, which differs for each connection. */
#define HOST "coalesce(case family(v) when 4 then host(v) else '[' || host(v) || ']' end, '-')"

/*
 * Each row is read a few times only: few combinations of node, app, status and reason are counted
 * first, and then named. Texts are sorted as bytes: by the rules of a language it takes five times
 * as long.
 */
const char web_sql_facets[] =
	"with "
	SEEN("node_id, app, route, status, reason_id, upstream, client, "
	     FAILS(WEB_FIND_REGION, "1") " + " FAILS(WEB_FIND_NODE, "2") " + " FAILS(WEB_FIND_APP, "4") " + "
	     FAILS(WEB_FIND_ROUTE, "8") " + " FAILS(WEB_FIND_STATUS, "16") " + " FAILS(WEB_FIND_REASON, "32") " + "
	     FAILS(WEB_FIND_UPSTREAM, "64") " + " FAILS(WEB_FIND_TAG, "128") " as bad", WEB_RANGE_SQL, WEB_FIND_REMOTE " and " WEB_FIND_Q,
	     "ts desc, request_id desc")
	"cube as materialized (select node_id, reason_id, status, app collate \"C\" as app, bad, count(*) as n from seen group by 1, 2, 3, 4, 5),"
	"named as (select " NAMES ", app, status, bad, n from " NAMED("cube") "),"
	"routes as materialized (select route collate \"C\" as route, bad, count(*) as n from seen group by 1, 2),"
	"upstreams as materialized (select upstream collate \"C\" as upstream, bad, count(*) as n from seen group by 1, 2),"
	"clients as materialized (select client, bad, count(*) as n from seen group by 1, 2),"
	/* A row is counted under each tag that its node had at that time: of nodes whose tags changed, row by row. */
	"had as materialized (select node_id, tag, since <= $1 and until >= $2 as whole from api.tag where entity_id = 0 and since < $2 and until > $1),"
	"tags as (select tag, bad, n from cube left join had using (node_id)"
	"  where (cube.node_id in (select node_id from had where not whole)) is not true"
	"  union all select tag, bad, 1 from seen r left join api.tag t"
	"   on t.node_id = r.node_id and t.entity_id = 0 and t.since <= r.ts and t.until > r.ts"
	"   where (r.node_id in (select node_id from had where not whole)) is true)"
	"select json_build_object("
	FACET("region", "1") ", " FACET("node", "2") ", " FACET("app", "4") ", " FACET_TEXT("route", "8") ", "
	FACET("status", "16") ", " FACET("reason", "32") ", " FACET_TEXT("upstream", "64") ", "
	FACET_OF("remote", HOST, "client", "clients", "0") ", " FACET_TEXT("tag", "128") ") as facets,"
	" (select coalesce(sum(n), 0)::bigint from cube where bad = 0) as total, " CUT;

/* $22: number of bins */
const char web_sql_histogram[] =
	"with "
	SEEN("reason_id", WEB_FIND_RANGE, WEB_FIND_ALL, WEB_NEWEST)
	"n as (select bin, " REASON " as reason, sum(n)::bigint as n from (select " BIN("$22") " as bin, reason_id, count(*) as n"
	"  from seen group by 1, 2) b left join api.reason_key using (reason_id) group by 1, 2),"
	"names as (select reason, sum(n) as n from n group by 1),"
	"bins as (select bin, json_object_agg(reason, n order by n desc, reason) as counts from n group by 1)"
	"select to_json(api.rfc3339($1)) as \"from\", to_json(api.rfc3339($2)) as \"to\","
	" trim_scale(round(extract(epoch from $2 - $1) / $22, 6)) as \"binSeconds\","
	" (select coalesce(json_agg(reason order by n desc, reason), '[]') from names) as reasons,"
	" (select json_agg(json_build_object('time', api.rfc3339($1 + ($2 - $1) / $22 * bin),"
	"  'counts', coalesce(counts, '{}')) order by bin)"
	"  from generate_series(0, $22 - 1) bin left join bins using (bin)) as bins,"
	" (select coalesce(sum(n), 0) from n) as total, " CUT;

/*
 * $22: number of groups; $23: their order. k stands for node, app, route and reason: to sort and
 * compare a number is cheap. i of a group's newest row, which gives the sentence, is g. There are
 * no joins of many rows, since the planner could not estimate their number.
 */
#define WHOSE "hashtextextended(route, hashtextextended(app, hashint8extended(node_id, reason_id)))"
/* The first two that are known decide; groups that are equal by them stand by their newest row. */
#define FIRST_BY "case $23 when 'harm' then count(*) filter (where failed) when 'count' then count(*) when 'slowest' then max(total_us) end desc nulls last"
#define THEN_BY "case $23 when 'harm' then sum(excess_us) end desc nulls last"
const char web_sql_groups[] =
	"with "
	SEEN(WHOSE " as k, app, route, status, total_us, excess_us, status >= 500 or status = 0 as failed", WEB_FIND_RANGE, WEB_FIND_ALL, WEB_NEWEST)
	"every_k as materialized (select k, min(i) as g, count(*) filter (where failed) as failed, sum(excess_us) as excess,"
	"  row_number() over (order by " FIRST_BY ", " THEN_BY ", min(i)) as place from seen group by 1),"
	"o as materialized (select * from every_k order by place limit $22),"
	"f as materialized (select *, " BIN("20") " as bin from seen where (k in (select k from o)) is true),"
	"whole as (select k, max(app) as app, max(route) as route, count(*) as n, min(ts) as first, max(ts) as last,"
	"  max(request_id) filter (where i in (select g from o)) as newest,"
	"  percentile_disc(0.5) within group (order by total_us) as p50, max(total_us) as top from f group by 1),"
	"status as (select k, json_object_agg(status, n order by n desc, status) as statuses"
	"  from (select k, status, count(*) as n from f group by 1, 2) s group by 1),"
	"spark as (select k, jsonb_object_agg(bin, n) as bins from (select k, bin, count(*) as n from f group by 1, 2) b group by 1),"
	"every as (select *, null::text as statuses, null::text as bins from whole"
	"  union all select k, null, null, null, null, null, null, null, null, statuses::text, null from status"
	"  union all select k, null, null, null, null, null, null, null, null, null, bins::text from spark),"
	"page as materialized (select k, max(app) as app, max(route) as route, max(n) as n, max(first) as first, max(last) as last,"
	"  max(newest) as newest, max(p50) as p50, max(top) as top, max(statuses)::json as statuses, max(bins)::jsonb as bins"
	"  from every group by 1),"
	"listed as materialized (select *, (select r.body from api.request r where " WEB_RANGE_SQL
	"   and r.ts = last and r.request_id = newest limit 1) as body from page join o using (k))"
	"select coalesce(json_agg(json_build_object('region', body -> 'region', 'node', body -> 'node', 'app', app,"
	"  'route', route, 'reason', body -> 'reason',"
	"  'count', n, 'first', api.rfc3339(first), 'last', api.rfc3339(last),"
	"  'totalTimeP50', api.ms(p50), 'totalTimeMax', api.ms(top), 'statuses', statuses,"
	"  'spark', (select json_agg(coalesce((bins ->> b::text)::int, 0) order by b) from generate_series(0, 19) b),"
	"  'newest', api.id_text(last, newest), 'failed', failed, 'excess', api.ms(excess)) order by place), '[]') as groups,"
	" (select count(*) from every_k) as total, " CUT " from listed";
