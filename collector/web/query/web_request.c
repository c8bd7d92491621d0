// SPDX-License-Identifier: Apache-2.0
/* web_request.c - one request with its evidence, and its trace across hosts; events, always with
 * evidence. */
#include "collector/web/query/web_sql.h"

/* Keep each line of SQL on one line. */
/* clang-format off */

/* After the body: the second in the id, and the first second that is kept. */
#define ONE(body) \
	"select (" body ") as body, extract(epoch from api.id_time($1))::bigint as second," \
	" extract(epoch from (select ts from api.oldest))::bigint as oldest"
#define BY_ID(number) "ts = api.id_time($1) and " number " = api.id_number($1)"

/* The body as in a list, with one more member: null if retention has dropped it. */
const char web_sql_request[] =
	ONE("select left((select b.body from api.named_bodies(array[ts], array[request_id], ts, ts + interval '1 microsecond') b), -1)"
	    "  || ',\"calls\":' || coalesce(api.calls(ts, request_id)::text, '[]') || ',\"calledBy\":' || coalesce(api.called_by(ts, request_id)::text, 'null')"
	    "  || ',\"ids\":' || coalesce(api.ids_of(ts, request_id)::text, 'null')"
	    "  || ', \"evidence\" : ' || case when ts < (select ts from api.oldest_evidence) then 'null'"
	    "  else coalesce((select json_agg(e.body order by place)::text from api.evidence e where " BY_ID("owner_id") "), '[]') end"
	    "  || ', \"incident\" : ' || coalesce((select '\"' || incident || '\"' from api.incidents_of(array[api.id_time($1)], array[api.id_number($1)])), 'null') || '}'"
	    " from api.request_key where " BY_ID("request_id") " limit 1");

const char web_sql_trace[] = ONE("select api.trace(ts, request_id) from api.request_key where " BY_ID("request_id") " limit 1");

const char web_sql_event[] = ONE("select body from api.event where " BY_ID("event_id") " limit 1");

/* $3 to $8: region, node, kind; $9: limit, $10: cursor, $11 and $12: tag, $13 and $14: severity.
 * One extra row shows that there is a next page. */
const char web_sql_events[] =
	"with page as materialized (select row_number() over (order by ts desc, event_id desc) as i, id, body from ("
	"  select ts, event_id, id, body from api.event where " WEB_RANGE_SQL " and " WEB_PLACE_SQL " and " WEB_IS("kind", "$7", "$8")
	"  and " WEB_IS("severity", "$13", "$14")
	"  and ($11 is null or api.tagged(node, ts, $11)) and ($12 is null or not api.tagged(node, ts, $12))"
	"  and ($10 is null or ts <= api.id_time($10))"
	"  and ($10 is null or (ts, event_id) < (api.id_time($10), api.id_number($10)))"
	"  order by ts desc, event_id desc limit $9 + 1) r)"
	"select coalesce((select json_agg(body order by i) from page where i <= $9), '[]') as events,"
	" (select to_json(id) from page where i = $9 and exists (select from page where i > $9)) as next";
