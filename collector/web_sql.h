// SPDX-License-Identifier: Apache-2.0
/*
 * web_sql.h - the queries behind the routes. Constant texts; every value of a URL is a parameter.
 *
 * All that look at requests have the same first parameters: $1 from, $2 to, then two for each
 * filter, the values wanted and those not (null: none), then $19 for q. Those of numbers have the
 * first four filters, coverage the first two.
 */
#pragma once

#define WEB_IS(column, yes, no)                                                                    \
	"((" yes " is null or " column " = any(" yes ")) and (" no " is null or " column           \
	" <> all(" no ")))"
#define WEB_LIKE(column, yes, no)                                                                  \
	"((" yes " is null or " column " like any(" yes ")) and (" no " is null or " column        \
	" not like all(" no ")))"

#define WEB_REGION WEB_IS("region", "$3", "$4")
#define WEB_NODE WEB_IS("node", "$5", "$6")
#define WEB_APP WEB_IS("app", "$7", "$8")
#define WEB_ROUTE WEB_IS("route", "$9", "$10")
#define WEB_STATUS_IN "(($11 is null or status <@ $11) and ($12 is null or not status <@ $12))"
#define WEB_REASON WEB_IS("reason", "$13", "$14")
#define WEB_REMOTE WEB_LIKE("remote", "$15", "$16")
#define WEB_UPSTREAM WEB_LIKE("upstream", "$17", "$18")
#define WEB_Q "($19 is null or strpos(lower(search), lower($19)) > 0)"

#define WEB_RANGE_SQL "ts >= $1 and ts < $2"
#define WEB_PLACE_SQL WEB_REGION " and " WEB_NODE
#define WEB_KEY_SQL WEB_PLACE_SQL " and " WEB_APP " and " WEB_ROUTE
#define WEB_FILTER_SQL                                                                             \
	WEB_PLACE_SQL " and " WEB_APP " and " WEB_ROUTE " and " WEB_STATUS_IN " and " WEB_REASON   \
		      " and " WEB_REMOTE " and " WEB_UPSTREAM " and " WEB_Q

extern const char web_sql_coverage[]; /* web_coverage.c */
extern const char web_sql_facets[], web_sql_histogram[], web_sql_groups[]; /* web_explore.c */
extern const char web_sql_csv[], web_sql_ndjson[]; /* web_export.c */
extern const char web_sql_red[], web_sql_red_steps[]; /* web_red.c */
