-- SPDX-License-Identifier: Apache-2.0
-- 043_rollups.sql - samples by the minute go to the global collector: of hours that are over as they are packed, of the one that is not
-- every five minutes. There a node of a region has no others.

create table relay_rolled (                        -- of what is told before its hour is over: up to here all is in the outbox
	slot_s      bigint not null,                   -- the next five minutes begin then, in s since 1970
	upto        bigint not null                    -- of them the nodes up to this one are
);

create function set_relay_rolled(slot bigint, last_node bigint) returns void language sql as $$
	delete from relay_rolled;
	insert into relay_rolled values (slot, last_node);
$$;

-- A part of what a region told of an hour: in the place of the whole hour, or of the part of that number. What is told of an hour
-- that is over, which has numbers below 2^24, ends what was told of it before.
create function take_rollup(of_hour timestamptz, the_node bigint, the_layout bigint, the_part int, whole boolean, ids bigint[], packed bytea)
returns void language plpgsql as $$
begin
	perform ensure_partition('sample_1m', 'day', of_hour); -- where two collectors do so at once, one tries again
	delete from sample_1m s where s.hour = of_hour and s.node_id = the_node and s.layout_id = the_layout
		and (whole or s.part = the_part or (s.part >= 16777216 and the_part < 16777216));
	insert into sample_1m (hour, node_id, layout_id, part, entities, chunk, made_by) values (of_hour, the_node, the_layout, the_part, ids, packed, 2);
end $$;

-- Nodes that never brought anything here by themselves.
create view api.node_relayed as
select n.name as node from node n where not exists (select from ingest_mark m where m.node_id = n.node_id);

-- As in 017; of a node of a region there are minutes alone.
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

revoke execute on all functions in schema public from public;
do $$ begin perform grant_web(); end $$;
