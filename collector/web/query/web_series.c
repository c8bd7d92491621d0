// SPDX-License-Identifier: Apache-2.0
#include "collector/web/query/web_sql.h"

/* Keep each line of SQL on one line. */
/* clang-format off */

/* $3 metric ($4 is never given), $5 node, $6 entity, $7 kind, $8 step; for series $9 and $10
 * label (must have all wanted and no unwanted ones), $11 top */
#define NAMED(column) "array(select " column " from api.metrics_named($3, $7))"

/* Counters are sent as increments since the last tick, so the value of a step is their sum. */
const char web_sql_series[] =
	"with w as (select make_interval(secs => coalesce($8,"
	"  greatest(1, ceil(extract(epoch from $2 - $1) / 300)))::float8) as step),"
	"p as (select node, entity_kind, entity, metric, unit, counter,"
	"  date_bin(step, ts, timestamptz 'epoch') as t,"
	"  case when counter then sum(value) else avg(value) end as v from api.series, w"
	"  where ts >= $1 and ts < $2 and hour > $1 - interval '1 hour' and hour < $2 and $4 is null and metric = any(" NAMED("metric") ") and entity_kind = any(" NAMED("entity_kind") ")"
	"  and ($5 is null or node = $5) and ($6 is null or entity = $6)"
	"  and (coalesce($9, $10) is null or (node, entity_kind, entity) in (select node, entity_kind, entity from api.entity_labels"
	"   where not exists (select from unnest($9) l where not api.label_is(labels, l))"
	"   and not exists (select from unnest($10) l where api.label_is(labels, l)))) group by 1, 2, 3, 4, 5, 6, 7),"
	"s as (select node, entity_kind, entity, metric, unit, counter,"
	"  case when $11 is null then 0 when counter then sum(v) else avg(v) end as size,"
	"  json_agg(json_build_array(api.rfc3339(t), v) order by t) as points"
	"  from p group by 1, 2, 3, 4, 5, 6 order by size desc nulls last, 1, 2, 3, 4 limit coalesce($11, 200))"
	"select coalesce(json_agg(json_build_object('metric', metric, 'node', node, 'entity', entity,"
	" 'labels', coalesce(labels, '{}') || jsonb_build_object('kind', entity_kind), 'unit', unit,"
	" 'kind', case when counter then 'counter' else 'gauge' end, 'points', points)"
	" order by size desc nulls last, node, entity_kind, entity, metric), '[]') as series"
	" from s left join api.entity_labels using (node, entity_kind, entity)";

const char web_sql_columns[] =
	"select * from api.series_columns($1, $2, $3, $7, $5, $6, $8, $9) where $4 is null";

/* What a node has ever reported: its kinds of entities, the metrics of each, and the first 500
 * entities by name. */
const char web_sql_names[] =
	"with e as (select entity_kind, entity, labels, row_number() over (partition by entity_kind order by entity) as i"
	"  from api.entity_labels where node = $1),"
	"k as (select entity_kind, count(*) as n, json_agg(entity order by i) filter (where i <= 500) as entities,"
	"  coalesce(json_object_agg(entity, labels) filter (where i <= 500 and labels <> '{}'), '{}') as labels from e group by 1),"
	"m as (select entity_kind, json_agg(metric order by metric) as metrics from api.metric group by 1)"
	"select coalesce(json_agg(json_build_object('kind', entity_kind, 'metrics', metrics, 'entities', entities, 'labels', labels, 'total', n)"
	" order by entity_kind), '[]') as kinds from k join m using (entity_kind)";
