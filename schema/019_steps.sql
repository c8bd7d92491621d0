-- SPDX-License-Identifier: Apache-2.0
-- 019_steps.sql - what is not sealed yet is added up with the places of its metrics known beforehand; what is not told at
-- every tick is known by the metric.
--
-- By the view, the names of a layout were looked through for every row: 140 of 200 ms of CPU time for 20 metrics of an hour.

create view api.layout_place as
select l.layout_id, l.entity_kind, m.name as metric, m.i::int as i, cardinality(l.names) as width
from layout l cross join lateral unnest(l.names) with ordinality m(name, i);

create view api.entity_key as
select n.name as node, e.node_id, e.entity_id, e.kind as entity_kind, e.name as entity from entity e join node n using (node_id);

create view api.sample_row as select ts, node_id, entity_id, layout_id, v from sample;

create view api.sample_raw_row as select ts, node_id, layout_id, entities, a, b from sample_raw;

-- The samples of one node that are not sealed, by step; columns as of api.series_steps.
create function api.unsealed_steps(metrics text[], kinds text[], the_node text, the_entity text, since timestamptz, until timestamptz,
	step interval)
returns table (entity_kind text, entity text, metric text, t timestamptz, ticks bigint, n bigint, total float8, low float8, high float8,
	first_tick timestamptz, last_tick timestamptz)
language plpgsql stable parallel safe set plan_cache_mode = force_custom_plan set enable_sort = off as $$
#variable_conflict use_column
declare
	nodes bigint[] := array(select distinct k.node_id from api.entity_key k where k.node = the_node);
	layouts bigint[] := array(select distinct p.layout_id from api.layout_place p where p.metric = any(metrics) and p.entity_kind = any(kinds));
begin
	return query
	with who as materialized (select entity_id, entity_kind, entity from api.entity_key
		where node_id = any(nodes) and entity_kind = any(kinds) and (the_entity is null or entity = the_entity)),
	place as materialized (select layout_id, metric, i, width from api.layout_place where layout_id = any(layouts) and metric = any(metrics)),
	told as (
		select s.entity_id, s.layout_id, s.ts, s.v, null::float4[] as a, null::float8[] as b, 0 as k from api.sample_row s
		where s.node_id = any(nodes) and s.layout_id = any(layouts) and s.ts >= since and s.ts < until
			and s.entity_id = any(array(select entity_id from who))
		union all
		select x.entity_id, r.layout_id, r.ts, null, r.a, r.b, x.k::int - 1 from api.sample_raw_row r
		cross join lateral unnest(r.entities) with ordinality x(entity_id, k)
		where r.node_id = any(nodes) and r.layout_id = any(layouts) and r.ts >= since and r.ts < until),
	value as (select who.entity_kind, who.entity, p.metric, d.ts, -- no NaN: it is above all
			nullif(case when d.a is null and d.b is null and d.v is not null then d.v[p.i] else coalesce(d.a[d.k * p.width + p.i], d.b[d.k * p.width + p.i], 0) end, 'NaN') as value
		from told d join who using (entity_id) join place p using (layout_id))
	select entity_kind, entity, metric, date_bin(step, ts, timestamptz 'epoch'), count(*), count(value) filter (where abs(value) < 1e290),
		sum(value) filter (where abs(value) < 1e290), min(value) filter (where abs(value) < 1e290), max(value) filter (where abs(value) < 1e290), min(ts), max(ts)
	from value group by 1, 2, 3, 4;
end $$;

-- As in 018, but for that.
create or replace function api.series_steps(metrics text[], kinds text[], the_node text, the_entity text, since timestamptz, until timestamptz,
	step interval)
returns table (entity_kind text, entity text, metric text, t timestamptz, ticks bigint, n bigint, total float8, low float8, high float8,
	first_tick timestamptz, last_tick timestamptz)
language plpgsql stable parallel safe set plan_cache_mode = force_custom_plan set enable_sort = off as $$
#variable_conflict use_column
declare
	seconds bigint := extract(epoch from step);
	span text := case when step <> make_interval(secs => seconds) then null when seconds % 3600 = 0 then '1 hour'
		when seconds % 600 = 0 then '10 minutes' when seconds % 60 = 0 then '1 minute' end;
	-- what is read of the rollups: as much of the range as is whole spans
	begins timestamptz := case when span is null then until else least(until, date_bin(span::interval, since + span::interval - interval '1 us', timestamptz 'epoch')) end;
	ends timestamptz := case when span is null then until else greatest(begins, date_bin(span::interval, until, timestamptz 'epoch')) end;
begin
	return query
	with part as (
		select * from api.unsealed_steps(metrics, kinds, the_node, the_entity, since, until, step)
		union all
		select s.entity_kind, s.entity, s.metric, date_bin(step, s.ts, timestamptz 'epoch') as t,
			count(*) as ticks, count(s.value) as n, sum(s.value) as total, min(s.value) as low, max(s.value) as high,
			min(s.ts) as first_tick, max(s.ts) as last_tick
		from api.series_sealed s
		where s.ts >= since and s.ts < until and (s.ts < begins or s.ts >= ends or span is null)
			and s.hour > since - interval '1 hour' and s.hour < until and (span is null or s.hour < begins or s.hour > ends - interval '1 hour')
			and s.node = the_node and s.metric = any(metrics) and s.entity_kind = any(kinds)
			and (the_entity is null or s.entity = the_entity)
		group by 1, 2, 3, 4
		union all
		select s.entity_kind, s.entity, s.metric, date_bin(step, s.ts, timestamptz 'epoch'),
			sum(s.n)::bigint, sum(s.n)::bigint, sum(s.sum), min(s.min), max(s.max), min(s.ts), max(s.ts) + span::interval
		from (select * from api.series_1m where span = '1 minute' union all select * from api.series_10m where span = '10 minutes'
			union all select * from api.series_1h where span = '1 hour') s
		where s.ts >= begins and s.ts < ends and s.hour > begins - interval '1 hour' and s.hour < ends
			and s.node = the_node and s.metric = any(metrics) and s.entity_kind = any(kinds)
			and (the_entity is null or s.entity = the_entity)
		group by 1, 2, 3, 4)
	select entity_kind, entity, metric, t, sum(ticks)::bigint, sum(n)::bigint, sum(total), min(low), max(high), min(first_tick), max(last_tick)
	from part group by 1, 2, 3, 4;
end $$;

-- Not of every tick: packets dropped by a reason, kills and reclaim are told when there were any, what programs of the
-- operator's own count when it changed, and once a minute.
create function api.tells_changes(kind text, metric text) returns bool language sql immutable parallel safe as $$
	select api.tells_changes(kind) or kind like 'own.%' or metric like 'memory\_reclaim\_%' or metric like 'memory\_cgroup\_reclaim\_%'
		or metric like 'memory\_compaction\_%' or metric = 'oom_killed_processes_total'
$$;

-- As in 017, but for that.
create or replace function api.series_points(wanted text[], the_kind text, the_node text, the_entity text, since timestamptz, until timestamptz,
	step interval)
returns table (pattern text, entity_kind text, entity text, metric text, unit text, counter bool, i int, n bigint, total float8,
	value float8, low float8, high float8)
language plpgsql stable parallel safe as $$
#variable_conflict use_column
begin
	return query
	with want as materialized (select * from api.metrics_named(wanted, the_kind)),
	read as (select * from api.series_steps((select array_agg(distinct metric) from want), (select array_agg(distinct entity_kind) from want),
		the_node, the_entity, since - greatest(step, interval '1 minute'), until, step)),
	after as (select *, lag(last_tick) over (partition by entity collate "C", metric collate "C", entity_kind collate "C" order by t) as before from read),
	timed as (select *, api.step_seconds(case when api.tells_changes(entity_kind, metric) then 'drop' else entity_kind end, ticks, n, first_tick, last_tick, before, step) as secs from after)
	select w.pattern, entity_kind, entity, metric, w.unit, w.counter,
		round(date_part('epoch', t - since) / date_part('epoch', step))::int, n, total,
		case when w.counter then total / secs else total / nullif(n, 0) end,
		case when w.counter then low * n / secs else low end, case when w.counter then high * n / secs else high end
	from timed join want w using (entity_kind, metric) where t >= since;
end $$;

create or replace function api.series_lines(wanted text[], the_kind text, the_node text, the_entity text, since timestamptz, until timestamptz,
	step interval, top int)
returns table (metric text, entity_kind text, place bigint, body json)
language plpgsql stable parallel safe set extra_float_digits = -5 as $$
#variable_conflict use_column
begin
	return query
	with point as materialized (select * from api.series_points(wanted, the_kind, the_node, the_entity, since, until, step)),
	line as (select entity_kind, entity, metric, unit, counter, max(value) as most, bool_or(n > 1) as many from point group by 1, 2, 3, 4, 5),
	ranked as materialized (select *, row_number() over (partition by metric, entity_kind order by most desc nulls last, entity) as place from line),
	grid as (select r.metric, r.entity_kind, r.entity, r.place, g.i from ranked r
		cross join generate_series(0, round(date_part('epoch', until - since) / date_part('epoch', step))::int - 1) g(i) where place <= top),
	filled as (select metric, entity_kind, entity, place, array_agg(value order by i) as value, array_agg(low order by i) as low,
			array_agg(high order by i) as high
		from grid left join point using (metric, entity_kind, entity, i) group by 1, 2, 3, 4)
	select metric, entity_kind, r.place, case when r.place > top then null else concat(
		'{"metric":', to_json(metric), ',"node":', to_json(the_node), ',"entity":', to_json(entity), ',"labels":{"kind":', to_json(entity_kind),
		'},"unit":', to_json(unit), ',"kind":"', case when counter then 'rate' else 'gauge' end, '"',
		case when api.tells_changes(entity_kind, metric) then ',"onlyChanges":true' end, ',"values":', api.json_list(value),
		case when many then concat(',"min":', api.json_list(low), ',"max":', api.json_list(high)) end, '}')::json end
	from ranked r left join filled using (metric, entity_kind, entity);
end $$;

do $$ begin perform grant_web(); end $$;
