-- SPDX-License-Identifier: Apache-2.0
-- Scores of nodes in four classes, each with its worst cause, for a page of ten thousand nodes.

-- Scores 0..100, written every ten seconds (collector/score); null: not known. causes: {"saturation": {"code", "what",
-- "value", "unknown": [codes]}, ...}. A silent node has no scores, and counts as an error for a day.
create or replace view api.score as
select n.node_id, n.name, coalesce(g.name, '') as region, n.tags, n.last_seen, s.at, q.silent, q.gone,
	case when not q.silent then s.saturation end as saturation, case when not q.silent then s.load end as load,
	case when not q.silent then s.latency end as latency,
	case when not q.silent then s.error when not q.gone then 100 end as error, s.causes
from node n left join region g using (region_id) left join node_score s using (node_id)
cross join lateral (select n.last_seen < now() - interval '30 s' as silent, n.last_seen < now() - interval '1 day' as gone) q;

create or replace view api.server_app as
select node_id, app from red_key where role = 0;

-- Whether the current tags of a node contain one of these 'key=value'; '' matches a node without tags.
create or replace function api.tagged_now(tags jsonb, wanted text[]) returns boolean language sql immutable parallel safe as $$
	select exists (select from unnest(wanted) w
		where case w when '' then tags = '{}' else tags @> jsonb_build_object(split_part(w, '=', 1), substr(w, strpos(w, '=') + 1)) end)
$$;

create or replace function api.causes(causes jsonb, silent boolean, gone boolean, blind boolean) returns json language sql immutable parallel safe as $$
	select case when silent then json_build_object('saturation', '{"code":"silent"}'::json, 'load', '{"code":"silent"}'::json,
			'latency', '{"code":"silent"}'::json, 'error', '{"code":"silent"}'::json)
		when causes is null then json_build_object('saturation', '{"code":"notMeasured"}'::json, 'load', '{"code":"notMeasured"}'::json,
			'latency', '{"code":"notMeasured"}'::json, 'error', '{"code":"notMeasured"}'::json)
		when blind then replace(causes::text, '"noRequests"', '"requestsNotSeen"')::json
		else causes::json end
$$;

-- The nodes that match, worst first by one class or by the worst of all; by name where that is equal. "bad" counts scores
-- of 50 and more.
create or replace function api.fleet(regions text[], not_regions text[], wanted text[], unwanted text[], apps text[], not_apps text[], text_in text, by text, most int, skip int)
returns json language plpgsql stable parallel safe set plan_cache_mode = force_custom_plan set jit = off as $$
begin
	if by not in ('worst', 'saturation', 'load', 'latency', 'error', 'name') then
		raise exception 'by must be worst, saturation, load, latency, error or name.' using errcode = '22023';
	end if;
	return (with
	fits as materialized (select s.node_id, s.name, s.silent, s.saturation, s.load, s.latency, s.error, greatest(s.saturation, s.load, s.latency, s.error) as worst from api.score s
		where (regions is null or s.region = any(regions)) and (not_regions is null or s.region <> all(not_regions))
		and (wanted is null or api.tagged_now(s.tags, wanted)) and (unwanted is null or not api.tagged_now(s.tags, unwanted))
		and (apps is null or s.node_id in (select a.node_id from api.server_app a where a.app = any(apps)))
		and (not_apps is null or s.node_id not in (select a.node_id from api.server_app a where a.app = any(not_apps)))
		and (text_in is null or strpos(lower(s.name), lower(text_in)) > 0)),
	page as materialized (select row_number() over () as i, p.* from (select f.node_id, f.worst from fits f order by case by when 'worst' then f.worst when 'saturation' then f.saturation
			when 'load' then f.load when 'latency' then f.latency when 'error' then f.error end desc nulls last, case when by <> 'name' then f.worst end desc nulls last, f.name
		limit most offset skip) p)
	select json_build_object('total', c.total, 'silent', c.silent, 'unknown', c.unknown, 'bad', c.bad,
		'nodes', (select coalesce(json_agg(json_build_object('id', lpad(to_hex(p.node_id), 16, '0'), 'name', p.name, 'region', nullif(p.region, ''), 'tags', p.tags,
			'lastSeen', api.rfc3339(p.last_seen), 'silent', p.silent, 'at', api.rfc3339(case when p.silent then p.last_seen else p.at end),
			'worst', p.worst, 'saturation', p.saturation, 'load', p.load, 'latency', p.latency, 'error', p.error,
			'causes', api.causes(p.causes, p.silent, p.gone, r.state = 0)) order by p.i), '[]')
			from (select p.i, p.worst, s.* from page p join api.score s using (node_id)) p left join api.request_source r on r.node_id = p.node_id),
		'next', case when skip + most < c.total then skip + most end)
	from (select count(*) as total, count(*) filter (where f.silent) as silent, count(*) filter (where f.worst is null) as unknown,
		json_build_object('any', count(*) filter (where f.worst >= 50), 'saturation', count(*) filter (where f.saturation >= 50), 'load', count(*) filter (where f.load >= 50),
			'latency', count(*) filter (where f.latency >= 50), 'error', count(*) filter (where f.error >= 50)) as bad from fits f) c);
end $$;

-- The values of each filter, with the number of nodes that have them.
create or replace function api.fleet_values() returns json language sql stable parallel safe set jit = off as $$
	select json_build_object(
		'region', (select coalesce(json_agg(json_build_object('value', coalesce(nullif(v.region, ''), '-'), 'count', v.n) order by v.n desc, v.region), '[]')
			from (select region, count(*) as n from api.score group by 1 order by 2 desc, 1 limit 50) v),
		'tag', (select coalesce(json_agg(json_build_object('value', v.tag, 'count', v.n) order by v.n desc, v.tag), '[]')
			from (select t.tag, count(*) as n from api.score s, lateral (select k || '=' || e as tag from jsonb_each_text(s.tags) j(k, e)
				union all select '-' where s.tags = '{}') t group by 1 order by 2 desc, 1 limit 50) v),
		'app', (select coalesce(json_agg(json_build_object('value', v.app, 'count', v.n) order by v.n desc, v.app), '[]')
			from (select app, count(distinct node_id) as n from api.server_app group by 1 order by 2 desc, 1 limit 50) v))
$$;
