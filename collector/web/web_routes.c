// SPDX-License-Identifier: Apache-2.0
#include "collector/web/web_routes.h"
#include "collector/web/query/web_sql.h"
#include "collector/web/query/web_where.h"

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
		{ "q", WEB_TEXT, NULL, false }, FILTER("tag")

static const struct web_param requests_params[] = {
	FILTERS,
	{ "limit", WEB_COUNT, "100", false },
	{ "cursor", WEB_ID, NULL, false },
};

static const struct web_param plain_params[] = { FILTERS };
static const struct web_param histogram_params[] = { FILTERS, { "bins", WEB_BINS, "60", false } };
static const struct web_param groups_params[] = {
	FILTERS,
	{ "limit", WEB_COUNT, "100", false },
	{ "sort", WEB_ORDER, "last", false },
};

static const struct web_param one_params[] = { { "id", WEB_ID, NULL, true } };

static const struct web_param events_params[] = {
	RANGE,
	FILTER("region"),
	FILTER("node"),
	FILTER("kind"),
	{ "limit", WEB_COUNT, "100", false },
	{ "cursor", WEB_ID, NULL, false },
	FILTER("tag"),
	FILTER("severity"),
};

static const struct web_param incidents_params[] = {
	RANGE,
	FILTER("region"),
	FILTER("node"),
	FILTER("app"),
	{ "state", WEB_TEXT, NULL, false },
	{ "limit", WEB_COUNT, "100", false },
	{ "cursor", WEB_ID, NULL, false },
};

static const struct web_param nodes_params[] = { { "region", WEB_TEXT, NULL, false },
						 FILTER("tag") };

static const char nodes_sql[] = "select coalesce(json_agg(body order by name), '[]') as nodes"
				" from api.node where ($1 is null or region = $1)"
				" and ($2 is null or api.tagged(name, now(), $2))"
				" and ($3 is null or not api.tagged(name, now(), $3))";

static const struct web_param fleet_params[] = {
	FILTER("region"),
	FILTER("tag"),
	FILTER("app"),
	{ "q", WEB_TEXT, NULL, false },
	{ "by", WEB_TEXT, "worst", false },
	{ "limit", WEB_COUNT, "100", false },
	{ "skip", WEB_SKIP, "0", false },
};

static const char fleet_sql[] =
	"select f -> 'total' as total, f -> 'silent' as silent, f -> 'unknown' as unknown,"
	" f -> 'bad' as bad, f -> 'nodes' as nodes, f -> 'next' as next"
	" from api.fleet($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) f";

static const char regions_sql[] =
	"select coalesce(json_agg(body order by name), '[]') as regions from api.region";

static const struct web_param tags_params[] = { { "node", WEB_TEXT, NULL, true },
						{ "at", WEB_TIME, NULL, false } };

static const char tags_sql[] =
	"select coalesce(json_agg(json_build_object('kind', kind, 'entity', entity, 'tags', tags)"
	" order by entity_id <> 0, kind, entity), '[]') as tagged from (select kind, entity, "
	"entity_id, json_object_agg(key, value order by key) as tags from api.tag where node = $1"
	" and since <= coalesce($2, now()) and until > coalesce($2, now())"
	" group by kind, entity, entity_id) t";

static const char parts_sql[] =
	"select coalesce(json_agg(body order by place), '[]') as parts from api.part";

static const struct web_param coverage_params[] = { RANGE, FILTER("region"), FILTER("node") };

static const struct web_param red_params[] = {
	RANGE,
	FILTER("region"),
	FILTER("node"),
	FILTER("app"),
	FILTER("route"),
	{ "by", WEB_SERIES, "series", false },
	{ "step", WEB_SECONDS, NULL, false },
};

static const struct web_param topology_params[] = {
	RANGE,
	{ "region", WEB_TEXT, NULL, false },
	{ "node", WEB_TEXT, NULL, false },
	{ "app", WEB_TEXT, NULL, false },
	{ "limit", WEB_COUNT, "200", false },
};

static const struct web_param where_params[] = {
	RANGE,
	{ "region", WEB_TEXT, NULL, false },
	{ "node", WEB_TEXT, NULL, false },
};

/* One row with two members, made by one query. */
static const char topology_sql[] = "select t -> 'edges' as edges, t -> 'total' as total"
				   " from api.topology($1, $2, $3, $4, $5, $6::int) t";

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

static const struct web_param profile_params[] = {
	RANGE,
	{ "node", WEB_TEXT, NULL, false },
	{ "app", WEB_TEXT, NULL, false },
	{ "base_from", WEB_TIME, NULL, false },
	{ "base_to", WEB_TIME, NULL, false },
};

static const struct web_param names_params[] = { { "node", WEB_TEXT, NULL, true } };

#define PARAMS(table) .params = table, .nparams = ARRAY_SIZE(table)

static const struct web_route routes[] = {
	{ "/api/v1/requests", WEB_JSON, PARAMS(requests_params),
	  .members = "requests next coverage", .sql = web_sql_page, .extra = web_sql_coverage },
	{ "/api/v1/requests/count", WEB_JSON, PARAMS(plain_params), .members = "count more source",
	  .sql = web_sql_count },
	{ "/api/v1/requests/facets", WEB_JSON, PARAMS(plain_params),
	  .members = "facets total exact since", .sql = web_sql_facets },
	{ "/api/v1/requests/histogram", WEB_JSON, PARAMS(histogram_params),
	  .members = "from to binSeconds reasons bins total exact since",
	  .sql = web_sql_histogram },
	{ "/api/v1/requests/groups", WEB_JSON, PARAMS(groups_params),
	  .members = "groups total exact since", .sql = web_sql_groups },
	{ "/api/v1/requests.csv", WEB_CSV, PARAMS(plain_params), .sql = web_sql_csv },
	{ "/api/v1/requests.ndjson", WEB_NDJSON, PARAMS(plain_params), .sql = web_sql_ndjson },
	{ "/api/v1/requests/", WEB_JSON, PARAMS(one_params), .members = "id hop caller hops lookAt",
	  .sql = web_sql_trace, .one = "request", .tail = "/trace" },
	{ "/api/v1/requests/", WEB_JSON, PARAMS(one_params), .members = "id",
	  .sql = web_sql_request, .one = "request" },
	{ "/api/v1/events", WEB_JSON, PARAMS(events_params), .members = "events next",
	  .sql = web_sql_events },
	{ "/api/v1/events/", WEB_JSON, PARAMS(one_params), .members = "id", .sql = web_sql_event,
	  .one = "event" },
	{ "/api/v1/incidents", WEB_JSON, PARAMS(incidents_params), .members = "incidents next",
	  .sql = web_sql_incidents },
	{ "/api/v1/incidents/", WEB_JSON, PARAMS(one_params), .members = "id",
	  .sql = web_sql_incident, .one = "incident" },
	{ "/api/v1/where", WEB_JSON, PARAMS(where_params),
	  .members = "usual nodes clear whole candidates missed graph", .sql = web_sql_where,
	  .extra = web_sql_where_calls, .put = web_where_put },
	{ "/api/v1/parts", WEB_JSON, .members = "parts", .sql = parts_sql },
	{ "/api/v1/regions", WEB_JSON, .members = "regions", .sql = regions_sql },
	{ "/api/v1/nodes", WEB_JSON, PARAMS(nodes_params), .members = "nodes", .sql = nodes_sql },
	{ "/api/v1/fleet", WEB_JSON, PARAMS(fleet_params),
	  .members = "total silent unknown bad nodes next", .sql = fleet_sql },
	{ "/api/v1/fleet/values", WEB_JSON, .members = "facets",
	  .sql = "select api.fleet_values() as facets" },
	{ "/api/v1/storage", WEB_JSON, .members = "storage",
	  .sql = "select (select body from api.storage) as storage" },
	{ "/api/v1/tags", WEB_JSON, PARAMS(tags_params), .members = "tagged", .sql = tags_sql },
	{ "/api/v1/coverage", WEB_JSON, PARAMS(coverage_params), .members = "coverage",
	  .sql = web_sql_coverage },
	{ "/api/v1/red", WEB_JSON, PARAMS(red_params), .members = "red|step total series",
	  .sql = web_sql_red, .stepped = web_sql_red_steps, .steps = 500 },
	{ "/api/v1/profile", WEB_JSON, PARAMS(profile_params),
	  .members = "samples ms baseSamples baseMs otherSamples otherMs otherBaseMs stacks",
	  .sql = web_sql_profile },
	{ "/api/v1/profile.folded", WEB_FOLDED, PARAMS(profile_params), .sql = web_sql_folded },
	/* A first piece of ten minutes is read by minutes and rows (api.red_tiles). */
	{ "/api/v1/topology", WEB_JSON, PARAMS(topology_params), .members = "edges total",
	  .sql = topology_sql, .whole_s = 600 },
	{ "/api/v1/series", WEB_JSON, PARAMS(series_params), .members = "series",
	  .sql = web_sql_series, .steps = 5000 },
	{ "/api/v1/series/columns", WEB_JSON, PARAMS(columns_params),
	  .members = "from to step series cut", .sql = web_sql_columns, .steps = 2000 },
	{ "/api/v1/series/names", WEB_JSON, PARAMS(names_params), .members = "kinds",
	  .sql = web_sql_names },
};

_Static_assert(ARRAY_SIZE(requests_params) <= WEB_PARAMS, "WEB_PARAMS is the longest list");

static bool leads_to(const struct web_route *r, const char *rest)
{
	size_t len = strlen(rest), tail = r->tail ? strlen(r->tail) : 0;

	if (!r->one)
		return !len;
	return len > tail && (!tail || strcmp(rest + len - tail, r->tail) == 0);
}

const struct web_route *web_route_at(size_t i)
{
	return i < ARRAY_SIZE(routes) ? &routes[i] : NULL;
}

const struct web_route *web_route_find(const char *url, const char **rest)
{
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		size_t n = strlen(routes[i].path);

		*rest = url + n;
		if (strncmp(url, routes[i].path, n) == 0 && leads_to(&routes[i], url + n))
			return &routes[i];
	}
	return NULL;
}
