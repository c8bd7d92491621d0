-- SPDX-License-Identifier: Apache-2.0
-- 018_rollups.sql - steps of a minute and more are added up from what was rolled up, as far as hours are sealed.

-- As in 017, which has what it returns, but by the hour, too, so that sealed hours are found. Of whole minutes (and ten of
-- them, and hours, if steps are) of sealed hours the rollups are read; their first and last tick are where they begin and end.
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
		select s.entity_kind, s.entity, s.metric, date_bin(step, s.ts, timestamptz 'epoch') as t,
			count(*) as ticks, count(s.value) as n, sum(s.value) as total, min(s.value) as low, max(s.value) as high,
			min(s.ts) as first_tick, max(s.ts) as last_tick
		from api.series_unsealed s
		where s.ts >= since and s.ts < until and s.node = the_node and s.metric = any(metrics) and s.entity_kind = any(kinds)
			and (the_entity is null or s.entity = the_entity)
		group by 1, 2, 3, 4
		union all
		select s.entity_kind, s.entity, s.metric, date_bin(step, s.ts, timestamptz 'epoch'),
			count(*), count(s.value), sum(s.value), min(s.value), max(s.value), min(s.ts), max(s.ts)
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

-- As in 002, but that the coverage of the last hour is not looked for in all that is sealed.
create or replace view api.node as
select n.name, coalesce(g.name, '') as region, n.last_seen,
	json_build_object(
		'id', lpad(to_hex(n.node_id), 16, '0'),
		'name', n.name, 'region', g.name, 'tags', n.tags, 'version', n.version,
		'firstSeen', api.rfc3339(n.first_seen),
		'lastSeen', api.rfc3339(n.last_seen),
		'lag', greatest(0, round(extract(epoch from now() - n.last_seen) * 1000)),
		'lostBatches', (select coalesce(sum(m.lost), 0) from ingest_mark m where m.node_id = n.node_id),
		'sources', (select coalesce(json_agg(json_build_object(
				'name', s.name,
				'state', case s.state when 0 then 'off' when 1 then 'attached' else 'throttled' end,
				'why', s.why, 'since', api.rfc3339(s.since)) order by s.name), '[]')
			from source s where s.node_id = n.node_id),
		'coverage', (select coalesce(json_object_agg(c.name, c.total order by c.name), '{}')
			from (select name, coalesce(sum(value), 0) as total from api.coverage
				where node_id = n.node_id and ts > now() - interval '1 hour' and hour > now() - interval '2 hours' group by name) c),
		'unread', (select coalesce(json_agg(json_build_object('app', u.app, 'kind', u.kind, 'count', u.total)
				order by u.total desc, u.app, u.kind), '[]')
			from (select app, kind, sum(n) as total from unread
				where node_id = n.node_id and ts > now() - interval '1 hour' group by app, kind) u)) as body
from node n
left join region g using (region_id);

do $$ begin perform grant_web(); end $$;
