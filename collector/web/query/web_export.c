// SPDX-License-Identifier: Apache-2.0
#include "collector/web/query/web_sql.h"

/* Keep each line of SQL on one line. */
/* clang-format off */

/* One row beyond the limit shows that there are more. */
#define ROWS \
	"page as materialized (select row_number() over (order by ts desc, request_id desc) as i, ts, request_id from (" \
	"  select ts, request_id from api.request_key where " WEB_FIND_RANGE " and " WEB_FIND_ALL \
	"  order by " WEB_NEWEST " limit 10001) r)," \
	"rows as materialized (select i, body from page join api.request using (ts, request_id) where " WEB_RANGE_SQL ")"

const char web_sql_ndjson[] = "with " ROWS "select body from rows order by i";

/* Parses the body once for all columns. */
const char web_sql_csv[] =
	"with " ROWS
	"select id, time, \"end\", region, node, app, pid, comm, \"remoteAddr\", \"upstreamAddr\","
	" method, path, route, status, \"requestTime\", \"queueTime\", \"totalTime\", \"upstreamResponseTime\","
	" \"normalTime\", \"limitTime\", \"timesNormal\", \"bytesIn\", \"bytesOut\","
	" json_array_length(upstreams) as \"upstreamTries\", socket ->> 'retransmits' as retransmits,"
	" (select string_agg(f, ' ') from json_array_elements_text(flags) f) as flags,"
	" reason ->> 'code' as reason, reason #>> '{text,en}' as \"reasonText\", diagnosis"
	" from rows, json_to_record(body) as b (id text, time text, \"end\" text, region text, node text,"
	" app text, pid text, comm text, \"remoteAddr\" text, \"upstreamAddr\" text, method text, path text, route text,"
	" status text, \"requestTime\" text, \"queueTime\" text, \"totalTime\" text, \"upstreamResponseTime\" text,"
	" \"normalTime\" text, \"limitTime\" text, \"timesNormal\" text, \"bytesIn\" text, \"bytesOut\" text,"
	" upstreams json, socket json, flags json, reason json, diagnosis text) order by i";
