-- SPDX-License-Identifier: Apache-2.0
-- Samples and the names of their metrics and entities. The views of samples read all three tables.

-- Samples that are not sealed yet, one row per entity, from sample and sample_raw.
create or replace view sample_unsealed as
select s.ts, s.node_id, s.entity_id, s.layout_id, s.v from sample s
union all
select r.ts, r.node_id, x.entity_id, r.layout_id,
	(select array_agg(api.sample_value(r.v, r.a, r.b, (x.k - 1) * cardinality(l.names) + i) order by i) from generate_series(1, cardinality(l.names)) i)
from sample_raw r
join layout l using (layout_id)
cross join lateral unnest(r.entities) with ordinality x(entity_id, k);

-- Samples of sealed hours, one row per entity, tick and metric.
create or replace view sample_sealed as -- a row for each entity and tick, with all its values
select t.ts, s.node_id, x.entity_id, s.layout_id, t.v
from sealed s
join layout l using (layout_id)
cross join lateral unnest(s.entities) with ordinality x(entity_id, k)
cross join lateral (select c.ts, array_agg(c.value order by m) as v
	from generate_series(1, cardinality(l.names)) m, api.chunk_series(s.chunk, s.hour, x.k, m) with ordinality c(ts, value, i) group by c.ts, c.i) t;

create or replace view api.sample_row as select ts, node_id, entity_id, layout_id, v from sample;
create or replace view api.sample_raw_row as select ts, node_id, layout_id, entities, a, b, v from sample_raw;

-- What the probes saw, stored and could not read: one row per node, tick and name. `hour` is the start of the hour of ts.
-- Sealed hours are found by it, so a query for a range should name both: ts >= since and ts < until and
-- hour > since - interval '1 hour' and hour < until. The same holds for api.series.
create or replace view api.coverage as
select s.ts, s.node_id, n.name as node, coalesce(g.name, '') as region, m.name, case when abs(s.v[m.i]) < 1e18 then s.v[m.i] end as value,
	m.unit, date_bin('1 hour', s.ts, timestamptz 'epoch') as hour
from layout l
join entity e on e.kind = l.entity_kind
cross join lateral unnest(l.names, l.units) with ordinality m(name, unit, i)
join sample s on s.layout_id = l.layout_id and s.node_id = e.node_id and s.entity_id = e.entity_id
left join node n on n.node_id = s.node_id
left join region g using (region_id)
where l.entity_kind = 'coverage'
union all
select r.ts, r.node_id, n.name, coalesce(g.name, ''), m.name, case when abs(w.v) < 1e18 then w.v end, m.unit,
	date_bin('1 hour', r.ts, timestamptz 'epoch')
from layout l
join sample_raw r using (layout_id)
left join node n on n.node_id = r.node_id
left join region g using (region_id)
cross join lateral generate_series(0, cardinality(r.entities) - 1) k
cross join lateral unnest(l.names, l.units) with ordinality m(name, unit, i)
cross join lateral (select api.sample_value(r.v, r.a, r.b, k * cardinality(l.names) + m.i) as v) w
where l.entity_kind = 'coverage'
union all
select c.ts, s.node_id, n.name, coalesce(g.name, ''), m.name, case when abs(c.value) < 1e18 then c.value end, m.unit, s.hour
from layout l
join sealed s using (layout_id)
left join node n on n.node_id = s.node_id
left join region g using (region_id)
cross join lateral generate_series(1, cardinality(s.entities)) k
cross join lateral unnest(l.names, l.units) with ordinality m(name, unit, i)
cross join lateral api.chunk_series(s.chunk, s.hour, k, m.i) c
where l.entity_kind = 'coverage';

create or replace view api.series_unsealed as
select s.ts, n.name as node, coalesce(g.name, '') as region, e.kind as entity_kind, e.name as entity,
	m.name as metric, m.unit, m.kind = 1 as counter,
	case when abs(s.v[m.i]) < 1e290 then s.v[m.i] end as value, -- no NaN: it is above all
	date_bin('1 hour', s.ts, timestamptz 'epoch') as hour
from layout l
cross join lateral unnest(l.names, l.units, l.kinds) with ordinality m(name, unit, kind, i)
join sample s using (layout_id)
join entity e using (node_id, entity_id)
join node n using (node_id)
left join region g using (region_id)
union all
select r.ts, n.name, coalesce(g.name, ''), e.kind, e.name, m.name, m.unit, m.kind = 1,
	case when abs(w.v) < 1e290 then w.v end, date_bin('1 hour', r.ts, timestamptz 'epoch')
from layout l
cross join lateral unnest(l.names, l.units, l.kinds) with ordinality m(name, unit, kind, i)
join sample_raw r using (layout_id)
join node n using (node_id)
left join region g using (region_id)
cross join lateral unnest(r.entities) with ordinality x(entity_id, k)
join entity e on e.node_id = r.node_id and e.entity_id = x.entity_id
cross join lateral (select api.sample_value(r.v, r.a, r.b, (x.k - 1) * cardinality(l.names) + m.i) as v) w;

create or replace view api.series_sealed as
select c.ts, n.name as node, coalesce(g.name, '') as region, e.kind as entity_kind, e.name as entity,
	m.name as metric, m.unit, m.kind = 1 as counter, case when abs(c.value) < 1e290 then c.value end as value, s.hour
from layout l
cross join lateral unnest(l.names, l.units, l.kinds) with ordinality m(name, unit, kind, i)
join sealed s using (layout_id)
join node n using (node_id)
left join region g using (region_id)
cross join lateral unnest(s.entities) with ordinality x(entity_id, k)
join entity e on e.node_id = s.node_id and e.entity_id = x.entity_id
cross join lateral api.chunk_series(s.chunk, s.hour, x.k, m.i) c;

create or replace view api.series as
select * from api.series_unsealed union all select * from api.series_sealed;

-- Rollups of sealed hours by minute, ten minutes and hour; ts is the start of the span. api.series_unsealed has the rest.
create or replace view api.series_1m as
select c.ts, n.name as node, coalesce(g.name, '') as region, e.kind as entity_kind, e.name as entity,
	m.name as metric, m.unit, m.kind = 1 as counter, c.n, c.min, c.max, c.sum, s.hour
from layout l
cross join lateral unnest(l.names, l.units, l.kinds) with ordinality m(name, unit, kind, i)
join sample_1m s using (layout_id)
join node n using (node_id)
left join region g using (region_id)
cross join lateral unnest(s.entities) with ordinality x(entity_id, k)
join entity e on e.node_id = s.node_id and e.entity_id = x.entity_id
cross join lateral api.chunk_rollup(s.chunk, s.hour, x.k, m.i) c;

create or replace view api.series_10m as
select c.ts, n.name as node, coalesce(g.name, '') as region, e.kind as entity_kind, e.name as entity,
	m.name as metric, m.unit, m.kind = 1 as counter, c.n, c.min, c.max, c.sum, s.hour
from layout l
cross join lateral unnest(l.names, l.units, l.kinds) with ordinality m(name, unit, kind, i)
join sample_10m s using (layout_id)
join node n using (node_id)
left join region g using (region_id)
cross join lateral unnest(s.entities) with ordinality x(entity_id, k)
join entity e on e.node_id = s.node_id and e.entity_id = x.entity_id
cross join lateral api.chunk_rollup(s.chunk, s.hour, x.k, m.i) c;

create or replace view api.series_1h as
select c.ts, n.name as node, coalesce(g.name, '') as region, e.kind as entity_kind, e.name as entity,
	m.name as metric, m.unit, m.kind = 1 as counter, c.n, c.min, c.max, c.sum, s.hour
from layout l
cross join lateral unnest(l.names, l.units, l.kinds) with ordinality m(name, unit, kind, i)
join sample_1h s using (layout_id)
join node n using (node_id)
left join region g using (region_id)
cross join lateral unnest(s.entities) with ordinality x(entity_id, k)
join entity e on e.node_id = s.node_id and e.entity_id = x.entity_id
cross join lateral api.chunk_rollup(s.chunk, s.hour, x.k, m.i) c;

-- Every metric of every layout.
create or replace view api.metric as
select distinct on (l.entity_kind, m.name) l.entity_kind, m.name as metric, m.unit, m.kind = 1 as counter
from layout l cross join lateral unnest(l.names, l.units, l.kinds) m(name, unit, kind)
order by l.entity_kind, m.name, l.layout_id;

-- The metrics that match these names; a name that ends in * matches every metric that begins so.
create or replace function api.metrics_named(wanted text[], the_kind text)
returns table (pattern text, entity_kind text, metric text, unit text, counter bool) language sql stable parallel safe as $$
	select w, m.entity_kind, m.metric, m.unit, m.counter
	from (select distinct unnest(wanted) as w) p
	join api.metric m on case when right(w, 1) = '*' then starts_with(m.metric, left(w, -1)) else m.metric = w end
	where the_kind is null or m.entity_kind = the_kind
$$;

-- The places of metrics in a layout, and the keys of entities, for functions that run with a reader's rights.
create or replace view api.layout_place as
select l.layout_id, l.entity_kind, m.name as metric, m.i::int as i, cardinality(l.names) as width
from layout l cross join lateral unnest(l.names) with ordinality m(name, i);

create or replace view api.entity as
select n.name as node, e.kind as entity_kind, e.name as entity
from entity e join node n using (node_id);

create or replace view api.entity_key as
select n.name as node, e.node_id, e.entity_id, e.kind as entity_kind, e.name as entity from entity e join node n using (node_id);

create or replace view api.entity_labels as
select n.name as node, coalesce(g.name, '') as region, e.kind as entity_kind, e.name as entity, e.labels
from entity e
join node n using (node_id)
left join region g using (region_id);

-- Whether labels match "key=value", "key=prefix*", or "key" (the label exists).
create or replace function api.label_is(labels jsonb, wanted text) returns bool language sql immutable parallel safe as $$
	select coalesce(case
		when strpos(wanted, '=') = 0 then labels ? wanted
		when right(wanted, 1) = '*' then starts_with(labels ->> split_part(wanted, '=', 1), substr(left(wanted, -1), strpos(wanted, '=') + 1))
		else labels ->> split_part(wanted, '=', 1) = substr(wanted, strpos(wanted, '=') + 1) end, false)
$$;
