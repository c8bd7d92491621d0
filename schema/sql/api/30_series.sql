-- SPDX-License-Identifier: Apache-2.0
-- Samples in steps, as a drawing needs them: a rate or an average for each step, its least and its most, and null where the
-- node sent nothing.

-- Metrics that are not sent at every tick: packet drops by reason, kills and reclaim are sent when there were any; counts of
-- the operator's own programs when they changed, and once a minute.
create or replace function api.tells_changes(kind text, metric text) returns bool language sql immutable parallel safe as $$
	select kind = 'drop' or kind like 'own.%' or metric like 'memory\_reclaim\_%' or metric like 'memory\_cgroup\_reclaim\_%'
		or metric like 'memory\_compaction\_%' or metric = 'oom_killed_processes_total'
$$;

-- The seconds over which the counts of a step were added. Ticks do not fall on steps, so this is the time from the last tick
-- of the step before to the step's own last tick. Where a tick has no value (the first one, and after a counter went back) or
-- there is no step before, it is the number of ticks with a value times the length of a tick. For a single tick it is unknown.
create or replace function api.step_seconds(only_changes bool, ticks bigint, n bigint, first_tick timestamptz, last_tick timestamptz, before timestamptz,
	step interval) returns float8 language sql immutable parallel safe as $$
	select nullif(case when only_changes then date_part('epoch', step)
		when n = ticks and before is not null then date_part('epoch', last_tick - before)
		when ticks > 1 then date_part('epoch', last_tick - first_tick) / (ticks - 1) * n end, 0)
$$;

-- At most 600 steps, of a round length.
create or replace function api.nice_step(since timestamptz, until timestamptz) returns interval language sql immutable parallel safe as $$
	select make_interval(secs => coalesce(min(s) filter (where s * 600 >= extract(epoch from until - since)), 86400)::float8)
	from unnest(array[2, 4, 6, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400]) s
$$;

-- The unsealed samples of one node, by step; columns as in api.series_steps. Planned for its values at each call: kinds and
-- range decide what is read at all. Through the view, the names of a layout were looked through for every row.
create or replace function api.unsealed_steps(metrics text[], kinds text[], the_node text, the_entity text, since timestamptz, until timestamptz,
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
	delivered as (
		select s.entity_id, s.layout_id, s.ts, s.v, null::bytea as raw, null::float4[] as a, null::float8[] as b, 0 as k from api.sample_row s
		where s.node_id = any(nodes) and s.layout_id = any(layouts) and s.ts >= since and s.ts < until
			and s.entity_id = any(array(select entity_id from who))
		union all
		select x.entity_id, r.layout_id, r.ts, null, r.v, r.a, r.b, x.k::int - 1 from api.sample_raw_row r
		cross join lateral unnest(r.entities) with ordinality x(entity_id, k)
		where r.node_id = any(nodes) and r.layout_id = any(layouts) and r.ts >= since and r.ts < until),
	value as (select who.entity_kind, who.entity, p.metric, d.ts, -- no NaN: it is above all
			nullif(case when d.v is not null then d.v[p.i] else api.sample_value(d.raw, d.a, d.b, d.k * p.width + p.i) end, 'NaN') as value
		from delivered d join who using (entity_id) join place p using (layout_id))
	select entity_kind, entity, metric, date_bin(step, ts, timestamptz 'epoch'), count(*), count(value) filter (where abs(value) < 1e290),
		sum(value) filter (where abs(value) < 1e290), min(value) filter (where abs(value) < 1e290), max(value) filter (where abs(value) < 1e290), min(ts), max(ts)
	from value group by 1, 2, 3, 4;
end $$;

-- All samples of a drawing are read here. For steps of whole minutes, ten minutes or hours, sealed hours are read from the
-- rollups; their first and last tick are the start and the end of the rollup's span. `hour` is part of each condition, so that
-- sealed hours are found by it. A node of another region has minutes only.
create or replace function api.series_steps(metrics text[], kinds text[], the_node text, the_entity text, since timestamptz, until timestamptz,
	step interval)
returns table (entity_kind text, entity text, metric text, t timestamptz, ticks bigint, n bigint, total float8, low float8, high float8,
	first_tick timestamptz, last_tick timestamptz)
language plpgsql stable parallel safe set plan_cache_mode = force_custom_plan set enable_sort = off as $$
#variable_conflict use_column
declare
	seconds bigint := extract(epoch from step);
	relayed bool := exists (select from api.node_relayed r where r.node = the_node);
	span text := case when step <> make_interval(secs => seconds) or (relayed and seconds % 60 <> 0) then null when relayed then '1 minute' when seconds % 3600 = 0 then '1 hour'
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

-- A point of a counter is a rate: the sum of a step divided by its seconds. Its least and most are those of single ticks.
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
	timed as (select *, api.step_seconds(api.tells_changes(entity_kind, metric), ticks, n, first_tick, last_tick, before, step) as secs from after)
	select w.pattern, entity_kind, entity, metric, w.unit, w.counter,
		round(date_part('epoch', t - since) / date_part('epoch', step))::int, n, total,
		case when w.counter then total / secs else total / nullif(n, 0) end,
		case when w.counter then low * n / secs else low end, case when w.counter then high * n / secs else high end
	from timed join want w using (entity_kind, metric) where t >= since;
end $$;

-- The lines among the points: for each metric the entities with the highest values.
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

-- Metrics whose names end in a number or in _more are the buckets of one histogram: the counts of each bucket.
create or replace function api.series_heats(wanted text[], the_kind text, the_node text, the_entity text, since timestamptz, until timestamptz,
	step interval, top int)
returns table (metric text, entity_kind text, place bigint, body json)
language plpgsql stable parallel safe set extra_float_digits = -5 as $$
#variable_conflict use_column
begin
	return query
	with slot as materialized (select *, substring(metric from '[^_]*$') as edge
		from api.series_points(wanted, the_kind, the_node, the_entity, since, until, step)),
	edges as (select pattern, entity_kind, array_agg(edge order by nullif(edge, 'more')::numeric) as edges
		from (select distinct pattern, entity_kind, edge from slot) e group by 1, 2),
	heat as (select pattern, entity_kind, entity, i, jsonb_object_agg(edge, total) as counts, sum(total) as whole
		from slot where total is not null group by 1, 2, 3, 4),
	ranked as materialized (select pattern, entity_kind, entity, edges, unit, row_number() over (partition by pattern, entity_kind order by whole desc, entity) as place
		from (select pattern, entity_kind, entity, sum(whole) as whole from heat group by 1, 2, 3) h
		join edges using (pattern, entity_kind) join (select pattern, entity_kind, min(unit) as unit from slot group by 1, 2) u using (pattern, entity_kind)),
	filled as (select pattern, entity_kind, entity, json_agg((select json_agg(counts -> edge order by k)
			from unnest(edges) with ordinality u(edge, k) where counts is not null) order by i) as buckets
		from ranked r cross join generate_series(0, round(date_part('epoch', until - since) / date_part('epoch', step))::int - 1) g(i)
		left join heat using (pattern, entity_kind, entity, i) where place <= top group by 1, 2, 3)
	select pattern, entity_kind, place, case when place <= top then json_build_object('metric', pattern, 'node', the_node, 'entity', entity,
		'labels', json_build_object('kind', entity_kind), 'unit', unit, 'kind', 'histogram', 'edgeUnit', substring(pattern from '_([a-z]+)_\*$'),
		'edges', (select json_agg(case edge when 'more' then null else edge::numeric end order by k) from unnest(edges) with ordinality u(edge, k)),
		'buckets', buckets) end
	from ranked left join filled using (pattern, entity_kind, entity);
end $$;

create or replace function api.series_columns(since timestamptz, until timestamptz, wanted text[], the_kind text, the_node text, the_entity text,
	seconds int, top int)
returns table ("from" json, "to" json, step json, series json, cut json) language plpgsql stable parallel safe as $$
#variable_conflict use_column
declare
	asked interval := coalesce(make_interval(secs => seconds), api.nice_step(since, until));
	step interval := case when exists (select from api.node_relayed r where r.node = the_node) then ceil(extract(epoch from asked) / 60) * interval '1 minute' else asked end;
	begins timestamptz := date_bin(step, since, timestamptz 'epoch');
	ends timestamptz := begins + ceil(extract(epoch from until - begins) / extract(epoch from step)) * step;
	heats text[] := array(select pattern from api.metrics_named(wanted, the_kind) group by 1
		having right(pattern, 2) = '_*' and bool_and(substring(metric from length(pattern)) ~ '^(\d{1,18}|more)$'));
begin
	return query
	with found as materialized (
		select * from api.series_lines(array(select w from unnest(wanted) w where w <> all(heats)), the_kind, the_node, the_entity, begins, ends, step, top)
		union all select * from api.series_heats(heats, the_kind, the_node, the_entity, begins, ends, step, top)),
	short as (select metric, entity_kind, count(*) as n from found group by 1, 2 having count(*) > top)
	select to_json(api.rfc3339(begins)), to_json(api.rfc3339(ends)), to_json(extract(epoch from step)),
		(select coalesce(json_agg(body order by metric, entity_kind, place), '[]') from found where place <= top),
		(select coalesce(json_agg(json_build_object('metric', metric, 'kind', entity_kind, 'shown', top, 'total', n) order by metric, entity_kind), '[]') from short);
end $$;
