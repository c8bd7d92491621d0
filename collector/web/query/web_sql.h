// SPDX-License-Identifier: Apache-2.0
/*
 * web_sql.h - the queries behind the routes. Their texts are constant; every value of a URL is a
 * bound parameter.
 *
 * All queries on requests share their first parameters: $1 from, $2 to, then two for each
 * filter, wanted and unwanted values (null: none), then $19 for q, and $20 and $21 for tag.
 * Queries on counts have the first four filters, coverage the first two.
 *
 * Filters come in two forms: WEB_X for views with names, and WEB_FIND_X for api.request_key,
 * which has ids and indexes. The latter are written so that only plain conditions remain once
 * PostgreSQL has inserted the values, as it does for a query that is not prepared.
 */
#pragma once

#define WEB_IS(column, yes, no)                                                                    \
	"((" yes " is null or " column " = any(" yes ")) and (" no " is null or " column           \
	" <> all(" no ")))"

#define WEB_REGION WEB_IS("region", "$3", "$4")
#define WEB_NODE WEB_IS("node", "$5", "$6")
#define WEB_APP WEB_IS("app", "$7", "$8")
#define WEB_ROUTE WEB_IS("route", "$9", "$10")

#define WEB_RANGE_SQL "ts >= $1 and ts < $2"
#define WEB_HOURS_SQL                                                                              \
	"hour > $1 - interval '1 hour' and hour < $2" /* of samples: the compacted hours */
#define WEB_PLACE_SQL WEB_REGION " and " WEB_NODE
#define WEB_KEY_SQL WEB_PLACE_SQL " and " WEB_APP " and " WEB_ROUTE

/* Keep each line of SQL on one line. */
/* clang-format off */

/* A single value becomes an equality: only then does an index keep the order of time. */
#define WEB_FIND_IN(column, values) \
	"case when cardinality(" values ") = 1 then " column " = (" values ")[1] else " column " = any(" values ") end"
#define WEB_FIND_IDS(column, yes, no, ids_yes, ids_no) \
	"((" yes " is null or " WEB_FIND_IN(column, ids_yes) ") and (" no " is null or " column " <> all(" ids_no ")))"

#define WEB_FIND_REGION WEB_FIND_IDS("node_id", "$3", "$4", "api.nodes($3, null)", "api.nodes($4, null)")
#define WEB_FIND_NODE WEB_FIND_IDS("node_id", "$5", "$6", "api.nodes(null, $5)", "api.nodes(null, $6)")
#define WEB_FIND_APP WEB_FIND_IDS("app", "$7", "$8", "$7", "$8")
#define WEB_FIND_ROUTE WEB_FIND_IDS("route", "$9", "$10", "$9", "$10")
#define WEB_ONE_STATUS "upper($11) - lower($11) = 1"
#define WEB_FIND_STATUS \
	"(($11 is null or case when " WEB_ONE_STATUS " then status = lower($11)" \
	"  else status >= lower($11) and status < upper($11) and status::int <@ $11 end)" \
	" and ($12 is null or not status::int <@ $12))"

/* A reason of a later version has no code here and counts as unknown. */
#define WEB_FIND_REASON \
	"(($13 is null or case when 'unknown' = any($13)" \
	"   then reason_id = any(api.reasons($13)) or reason_id <> all(api.reasons(null))" \
	"   else " WEB_FIND_IN("reason_id", "api.reasons($13)") " end)" \
	" and ($14 is null or reason_id <> all(api.reasons($14))" \
	"  and ('unknown' <> all($14) or reason_id = any(api.reasons(null)))))"

/* A single address or prefix is found by index, several are not. A whole address, whose pattern
 * is itself, keeps the order of time. */
#define WEB_ONE_WHOLE(values) "cardinality(" values ") = 1 and right((" values ")[1], 1) <> '%'"
#define WEB_FIND_LIKE(column, yes, no) \
	"((" yes " is null or case when " WEB_ONE_WHOLE(yes) " then " column " = (" yes ")[1]" \
	"  when cardinality(" yes ") = 1 then " column " like (" yes ")[1] else " column " like any(" yes ") end)" \
	" and (" no " is null or " column " not like all(" no ")))"
#define WEB_FIND_REMOTE WEB_FIND_LIKE("remote", "$15", "$16")
#define WEB_FIND_UPSTREAM WEB_FIND_LIKE("upstream", "$17", "$18")
#define WEB_FIND_Q \
	"($19 is null or case when cardinality(api.nodes_with($19)) = 0 then text ilike api.like_text($19)" \
	"  else text ilike api.like_text($19) or node_id = any(api.nodes_with($19)) end)"
/* The node's tags at that time. Nodes that never had such a tag are not read. */
#define WEB_FIND_TAG \
	"(($20 is null or " WEB_FIND_IN("node_id", "api.nodes_tagged($20)") " and api.tagged(node_id, ts, $20))" \
	" and ($21 is null or not api.tagged(node_id, ts, $21)))"

/*
 * A filter with one value has an index ordered by minute; without one the order is by time. The
 * minutes of the range serve only these indexes.
 */
#define WEB_ONE_NODE "$5 is not null and cardinality(api.nodes(null, $5)) = 1"
#define WEB_BY_MINUTE \
	"(" WEB_ONE_NODE " or cardinality($7) = 1 or cardinality($9) = 1 or " WEB_ONE_WHOLE("$17") \
	" or " WEB_ONE_STATUS " or cardinality($13) = 1 and 'unknown' <> all($13))"
#define WEB_MINUTE(t) "date_bin('1 minute', " t ", timestamptz 'epoch')"
#define WEB_RANGE_BY(condition, to) \
	WEB_RANGE_SQL " and case when " condition \
	" then minute >= " WEB_MINUTE("$1") " and minute <= " WEB_MINUTE(to) " else true end"
#define WEB_FIND_UNTIL(to) WEB_RANGE_BY(WEB_BY_MINUTE, to)
#define WEB_FIND_RANGE WEB_FIND_UNTIL("$2")
#define WEB_NEWEST "case when " WEB_BY_MINUTE " then minute end desc, ts desc, request_id desc"

#define WEB_FIND_ALL \
	WEB_FIND_REGION " and " WEB_FIND_NODE " and " WEB_FIND_APP " and " WEB_FIND_ROUTE " and " WEB_FIND_STATUS \
	" and " WEB_FIND_REASON " and " WEB_FIND_REMOTE " and " WEB_FIND_UPSTREAM " and " WEB_FIND_Q " and " WEB_FIND_TAG

/* clang-format on */

extern const char web_sql_page[], web_sql_count[]; /* web_requests.c */
extern const char web_sql_request[], web_sql_trace[], web_sql_events[],
	web_sql_event[]; /* web_request.c */
extern const char web_sql_incidents[], web_sql_incident[]; /* web_incident.c */
extern const char web_sql_coverage[]; /* web_coverage.c */
extern const char web_sql_facets[], web_sql_histogram[], web_sql_groups[]; /* web_explore.c */
extern const char web_sql_csv[], web_sql_ndjson[]; /* web_export.c */
extern const char web_sql_red[], web_sql_red_steps[]; /* web_red.c */
extern const char web_sql_profile[], web_sql_folded[]; /* web_profile.c */
extern const char web_sql_series[], web_sql_columns[], web_sql_names[]; /* web_series.c */
