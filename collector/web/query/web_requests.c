// SPDX-License-Identifier: Apache-2.0
#include "collector/web/query/web_sql.h"

/* Keep each line of SQL on one line. */
/* clang-format off */

/*
 * One row beyond the limit shows that there is a next page. The rows are selected from the keys
 * alone; then their bodies are made, by a function whose plan the connection keeps.
 */
const char web_sql_page[] =
	"with page as materialized (select row_number() over (order by ts desc, request_id desc) as i, ts, request_id from ("
	"  select ts, request_id from api.request_key where " WEB_FIND_UNTIL("coalesce(api.id_time($23), $2)")
	"  and " WEB_FIND_ALL
	"  and ($23 is null or ts <= api.id_time($23))"
	"  and ($23 is null or (ts, request_id) < (api.id_time($23), api.id_number($23)))"
	"  order by " WEB_NEWEST " limit $22 + 1) r),"
	"k as materialized (select array_agg(ts order by i) as times, array_agg(request_id order by i) as numbers from page where i <= $22),"
	"part as materialized (select o.i, o.incident from k, api.incidents_of(times, numbers) o),"
	"shown as materialized (select b.i, b.id, left(b.body, -1) || ',\"incident\":' || coalesce('\"' || incident || '\"', 'null') || '}' as body"
	"  from k, api.named_bodies(times, numbers, $1, $2) b left join part using (i))"
	"select coalesce((select json_agg(body::json order by i) from shown), '[]') as requests,"
	" (select to_json(id) from shown where i = $22 and exists (select from page where i > $22)) as next";

/*
 * Rows are counted up to 10,000. Beyond that only red has a number, and only for requests that
 * always make a row: a status of class 5, or none.
 */
#define ERRORS "int4multirange '{[0,1), [500,600)}'"
#define RED_KNOWS \
	"$11 <@ " ERRORS " and ($11 @> int4range(0, 1) or lower($11) > 0) and ($11 @> int4range(500, 600) or upper($11) = 1)" \
	" and $12 is null and $13 is null and $14 is null and $15 is null and $16 is null" \
	" and $17 is null and $18 is null and $19 is null and $20 is null and $21 is null"

const char web_sql_count[] =
	"with k as materialized (select count(*) as n from (select from api.request_key"
	"  where " WEB_FIND_RANGE " and " WEB_FIND_ALL " limit 10001) k),"
	"c as materialized (select case when n <= 10000 then n when " RED_KNOWS " then (select sum(n) from api.red"
	"   where " WEB_RANGE_SQL " and " WEB_KEY_SQL " and role = 'server'"
	"   and (status_class = 5 and upper($11) > 1 or status_class = 0 and lower($11) = 0)) end as n, n > 10000 as many from k)"
	"select greatest(n, case when many then 10000 end) as count, to_json(many and n is null) as more,"
	" to_json(case when many and n is not null then 'red' else 'rows' end) as source from c";
