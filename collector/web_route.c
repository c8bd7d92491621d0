// SPDX-License-Identifier: Apache-2.0
#include "web_route.h"
#include "web_sql.h"

#define RANGE                                                                                      \
	{ "from", WEB_TIME, NULL, false },                                                         \
	{                                                                                          \
		"to", WEB_TIME, NULL, false                                                        \
	}
#define FILTER(name)                                                                               \
	{                                                                                          \
		name, WEB_TEXTS, NULL, false                                                       \
	}
#define FILTERS                                                                                    \
	RANGE, FILTER("region"), FILTER("node"), FILTER("app"), FILTER("route"),                   \
		{ "status", WEB_STATUSES, NULL, false }, FILTER("reason"),                         \
		{ "remote", WEB_ADDRS, NULL, false }, { "upstream", WEB_ADDRS, NULL, false },      \
	{                                                                                          \
		"q", WEB_TEXT, NULL, false                                                         \
	}

static const struct web_param requests_params[] = {
	FILTERS,
	{ "limit", WEB_COUNT, "100", false },
	{ "cursor", WEB_ID, NULL, false },
};

static const struct web_param plain_params[] = { FILTERS };
static const struct web_param histogram_params[] = { FILTERS, { "bins", WEB_BINS, "60", false } };
static const struct web_param groups_params[] = { FILTERS, { "limit", WEB_COUNT, "100", false } };

static const struct web_param one_params[] = { { "id", WEB_ID, NULL, true } };

static const struct web_param events_params[] = {
	RANGE,
	FILTER("region"),
	FILTER("node"),
	FILTER("kind"),
	{ "limit", WEB_COUNT, "100", false },
	{ "cursor", WEB_ID, NULL, false },
};

static const struct web_param nodes_params[] = { { "region", WEB_TEXT, NULL, false } };

static const char nodes_sql[] = "select coalesce(json_agg(body order by name), '[]') as nodes"
				" from api.node where $1 is null or region = $1";

static const char parts_sql[] =
	"select coalesce(json_agg(body order by place), '[]') as parts from api.part";

static const struct web_param coverage_params[] = { RANGE, FILTER("region"), FILTER("node") };

static const struct web_param red_params[] = {
	RANGE,	       FILTER("region"), FILTER("node"),
	FILTER("app"), FILTER("route"),	 { "step", WEB_SECONDS, NULL, false },
};

static const struct web_param series_params[] = {
	RANGE,
	{ "metric", WEB_NAMES, NULL, true },
	{ "node", WEB_TEXT, NULL, false },
	{ "entity", WEB_TEXT, NULL, false },
	{ "kind", WEB_TEXT, NULL, false },
	{ "step", WEB_SECONDS, NULL, false },
	{ "label", WEB_TEXTS, NULL, false },
	{ "top", WEB_COUNT, NULL, false },
};

static const struct web_param columns_params[] = {
	RANGE,
	{ "metric", WEB_NAMES, NULL, true },
	{ "node", WEB_TEXT, NULL, true },
	{ "entity", WEB_TEXT, NULL, false },
	{ "kind", WEB_TEXT, NULL, false },
	{ "step", WEB_SECONDS, NULL, false },
	{ "top", WEB_BINS, "8", false },
};

static const struct web_param names_params[] = { { "node", WEB_TEXT, NULL, true } };

#define PARAMS(table) .params = table, .nparams = ARRAY_SIZE(table)

static const struct web_route routes[] = {
	{ "/api/v1/requests", WEB_JSON, PARAMS(requests_params), .sql = web_sql_page,
	  .extra = web_sql_coverage },
	{ "/api/v1/requests/count", WEB_JSON, PARAMS(plain_params), .sql = web_sql_count },
	{ "/api/v1/requests/facets", WEB_JSON, PARAMS(plain_params), .sql = web_sql_facets },
	{ "/api/v1/requests/histogram", WEB_JSON, PARAMS(histogram_params),
	  .sql = web_sql_histogram },
	{ "/api/v1/requests/groups", WEB_JSON, PARAMS(groups_params), .sql = web_sql_groups },
	{ "/api/v1/requests.csv", WEB_CSV, PARAMS(plain_params), .sql = web_sql_csv },
	{ "/api/v1/requests.ndjson", WEB_NDJSON, PARAMS(plain_params), .sql = web_sql_ndjson },
	{ "/api/v1/requests/", WEB_JSON, PARAMS(one_params), .sql = web_sql_request,
	  .one = "request" },
	{ "/api/v1/events", WEB_JSON, PARAMS(events_params), .sql = web_sql_events },
	{ "/api/v1/events/", WEB_JSON, PARAMS(one_params), .sql = web_sql_event, .one = "event" },
	{ "/api/v1/parts", WEB_JSON, .sql = parts_sql },
	{ "/api/v1/nodes", WEB_JSON, PARAMS(nodes_params), .sql = nodes_sql },
	{ "/api/v1/coverage", WEB_JSON, PARAMS(coverage_params), .sql = web_sql_coverage },
	{ "/api/v1/red", WEB_JSON, PARAMS(red_params), .sql = web_sql_red,
	  .stepped = web_sql_red_steps, .steps = 500 },
	{ "/api/v1/series", WEB_JSON, PARAMS(series_params), .sql = web_sql_series, .steps = 5000 },
	{ "/api/v1/series/columns", WEB_JSON, PARAMS(columns_params), .sql = web_sql_columns,
	  .steps = 2000 },
	{ "/api/v1/series/names", WEB_JSON, PARAMS(names_params), .sql = web_sql_names },
};

_Static_assert(ARRAY_SIZE(requests_params) <= WEB_PARAMS, "WEB_PARAMS is the longest list");

const struct web_route *web_route_find(const char *url, const char **rest)
{
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		size_t n = strlen(routes[i].path);

		*rest = url + n;
		if (strncmp(url, routes[i].path, n) == 0 && (routes[i].one ? url[n] : !url[n]))
			return &routes[i];
	}
	return NULL;
}
