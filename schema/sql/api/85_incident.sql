-- SPDX-License-Identifier: Apache-2.0
-- Incidents.

create or replace function api.incident_counts(nodes bigint, apps bigint, chinese boolean) returns text language sql immutable parallel safe as $$
	select case when chinese then nodes || ' 个节点，' || apps || ' 个应用'
		else nodes || case nodes when 1 then ' node, ' else ' nodes, ' end || apps || case apps when 1 then ' app' else ' apps' end end
$$;

-- code: slow, slow.way, failed; with .unclear where the first candidate explains less than half; .unknown: no candidate.
create or replace function api.incident_title(code text, p jsonb, chinese boolean) returns text language sql immutable parallel safe as $$
	select case when chinese then api.sentence(case code
			when 'slow' then '{app} 变慢：{of} 中的 {took} 发生在 {host}{reason_zh}'
			when 'slow.way' then '{app} 变慢：{of} 中的 {took} 发生在前往 {host} 的途中'
			when 'slow.unclear' then '{app} 变慢 {of}：原因不明，最多的 {took} 在 {host}'
			when 'slow.unknown' then '{app} 变慢 {of}：原因不明'
			when 'slow.region' then '区域 {region} 变慢：{hosts} 台主机同为 {shared}，{app} 慢 {of}'
			when 'failed.region' then '区域 {region} 出错：{hosts} 台主机同为 {shared}，{app} {count} 个请求失败'
			when 'failed' then '{app} 出错：{count} 个请求失败，{percent} % 始于 {host}{reason_zh}'
			when 'failed.unclear' then '{app} 出错：{count} 个请求失败，原因不明，最多的 {percent} % 始于 {host}'
			else '{app} 出错：{count} 个请求失败，原因不明' end || '，自 {since} 起，{counts_zh}', p)
		else api.sentence(case code
			when 'slow' then '{app} slow: {took} of {of} arose in {host}{reason_en}'
			when 'slow.way' then '{app} slow: {took} of {of} arose on the way to {host}'
			when 'slow.unclear' then '{app} slow by {of}: no clear cause, most of it ({took}) in {host}'
			when 'slow.unknown' then '{app} slow by {of}: no clear cause'
			when 'slow.region' then 'region {region} slow: {hosts} hosts share {shared}, {app} by {of}'
			when 'failed.region' then 'region {region} fails: {hosts} hosts share {shared}, {count} failed requests of {app}'
			when 'failed' then '{app} fails: {percent} % of {count} failed requests began in {host}{reason_en}'
			when 'failed.unclear' then '{app} fails: {count} failed requests, no clear cause, most ({percent} %) in {host}'
			else '{app} fails: {count} failed requests, no clear cause' end || ', since {since}, {counts_en}', p) end
$$;

create or replace view api.incident as
select i.onset, i.incident_id, i.last, api.id_text(i.onset, i.incident_id) as id, coalesce(r.name, '') as region, s.nodes, s.apps, t.state,
	json_build_object('id', api.id_text(i.onset, i.incident_id), 'state', t.state, 'region', r.name,
		'onset', api.rfc3339(i.onset), 'last', api.rfc3339(i.last), 'opened', api.rfc3339(i.opened), 'closed', api.rfc3339(i.closed),
		'mergedInto', (select api.id_text(m.onset, m.incident_id) from incident m where m.incident_id = i.merged_into),
		'nodes', s.nodes, 'apps', s.apps, 'signals', s.signals, 'requests', s.requests,
		'acknowledged', case when i.acknowledged is not null then json_build_object('time', api.rfc3339(i.acknowledged), 'by', i.acknowledged_by) end,
		'clear', i.clear,
		'headline', case when h.app is not null then json_build_object('app', h.app, 'route', h.route, 'class', h.class, 'node', hn.name,
			'count', h.n, 'excess', api.ms(round(h.excess_us::numeric / greatest(h.n, 1)))) end,
		'first', f.body, 'code', t.code, 'params', t.params,
		'text', json_build_object('en', api.incident_title(t.code, t.params, false), 'zh', api.incident_title(t.code, t.params, true)),
		'diagnosis', '/incidents/' || api.id_text(i.onset, i.incident_id)) as body
from incident i
left join region r using (region_id)
left join incident_signal h on h.incident_id = i.incident_id and h.signal_id = i.headline
left join node hn on hn.node_id = h.host_id
left join incident_candidate c on c.incident_id = i.incident_id and c.place = 1
	and c.ranking = case when h.class in ('error', 'error.up') then 1 else 0 end
left join node cn on cn.node_id = c.host_id
cross join lateral (select coalesce(array_agg(distinct n.name), '{}') as nodes, coalesce(array_agg(distinct g.app), '{}') as apps,
	count(*) as signals, coalesce(sum(g.n), 0) as requests
	from incident_signal g left join node n on n.node_id = g.host_id where g.incident_id = i.incident_id) s
cross join lateral (select case when c.share is not null then json_build_object('node', cn.name, 'address', nullif(c.address, ''),
	'external', c.host_id is null, 'share', round(c.share::numeric, 3), 'own', c.own, 'edge', c.edge,
	'ms', case c.ranking when 0 then api.ms(round((c.share * h.excess_us / greatest(h.n, 1))::numeric)) end,
	'reason', (select e.code from incident_signal g join reason e using (reason_id) where g.incident_id = i.incident_id
		and g.host_id = c.host_id and g.class not in ('up', 'error.up', 'client') and e.code <> 'unknown' order by g.excess_us desc, g.n desc limit 1),
	'event', (select e.kind from incident_event e where e.incident_id = i.incident_id and e.host_id = c.host_id order by e.n desc, e.kind limit 1)) end as body) f
cross join lateral (select
	case when i.merged_into is not null then 'merged' when i.closed is null then 'open' else 'closed' end as state,
	case when h.class in ('error', 'error.up') then 'failed' else 'slow' end
		|| case when c.share is null then '.unknown' when i.shared <> '' and not i.clear then '.region' when not i.clear then '.unclear' when c.ranking = 0 and c.edge > c.own then '.way' else '' end as code,
	jsonb_build_object('app', coalesce(h.app, '?'), 'host', coalesce(cn.name, nullif(c.address, ''), '?'), 'count', h.n,
		'percent', round(100 * c.share::numeric), 'took', api.span_text(c.share * h.excess_us / greatest(h.n, 1)),
		'of', api.span_text(h.excess_us::float8 / greatest(h.n, 1)), 'since', to_char(i.onset at time zone 'utc', 'HH24:MI "UTC"'),
		'reason_en', coalesce(' (' || coalesce(f.body ->> 'reason', f.body ->> 'event') || ')', ''),
		'reason_zh', coalesce('（' || coalesce(f.body ->> 'reason', f.body ->> 'event') || '）', ''),
		'shared', i.shared, 'hosts', i.shared_hosts, 'region', coalesce(r.name, '?'),
		'counts_en', api.incident_counts(cardinality(s.nodes), cardinality(s.apps), false),
		'counts_zh', api.incident_counts(cardinality(s.nodes), cardinality(s.apps), true)) as params) t;

create or replace view api.incident_open as
select incident_id, onset from incident where closed is null and merged_into is null;

create or replace view api.incident_key as
select incident_id, onset, api.id_text(onset, incident_id) as id from incident;

create or replace view api.incident_signal as
select incident_id, host_id as node_id, app, route, first, last, class from incident_signal;

-- The incidents of regions that an incident here consists of, each with its id in its region.
create or replace view api.incident_part as
select p.incident_id, t.onset, t.incident_id as told_id, json_build_object('region', g.name, 'id', api.id_text(t.onset, t.incident_id),
	'state', case when t.into_id is not null then 'merged' when t.closed is null then 'open' else 'closed' end,
	'onset', api.rfc3339(t.onset), 'last', api.rfc3339(t.last), 'closed', api.rfc3339(t.closed), 'first', n.name, 'title', t.title) as body
from incident_part p join incident_told t on t.incident_id = p.told_id left join region g using (region_id) left join node n on n.node_id = t.first_host;

-- The node that failed first. Each start is known to an interval: the uncertainty of its clock, and ten seconds for counts, which
-- are that coarse. A node was first if its interval ends before every other begins; else it is not known. Null: only one node failed.
create or replace function api.incident_order(of bigint) returns json language sql stable parallel safe as $$
	with s as (select n.name as node, extract(epoch from g.first) * 1000000 + coalesce(k.offset_us, 0) as us,
			k.uncertainty_us + case g.class when 'slow' then 10000000 else 0 end as unsure
		from api.incident_signal g join api.node_name n using (node_id) left join lateral api.clock_here(g.node_id, g.first, true) k on true
		where g.incident_id = of),
	b as materialized (select s.node, min(s.us) as us, min(s.us - s.unsure) as least, min(s.us + s.unsure) as most, bool_and(s.unsure is not null) as has_clock from s group by s.node),
	a as materialized (select b.* from b order by b.us, b.node limit 1),
	o as materialized (select b.* from b where b.node <> (select a.node from a) order by b.has_clock, b.least, b.node limit 1),
	d as (select a.node as first, o.node as next, o.us - a.us as apart, case when a.has_clock and o.has_clock then o.us - a.us - (o.least - a.most) end as within,
			coalesce(a.has_clock and o.has_clock and a.most < o.least, false) as known, case when a.has_clock then o.node else a.node end as whose from a, o),
	p as (select d.*, jsonb_build_object('first', d.first, 'next', d.next, 'apart', api.span_text(d.apart::float8), 'within', api.span_text(d.within::float8), 'whose', d.whose) as params from d)
	select json_build_object('first', p.first, 'next', p.next, 'apart', api.ms(p.apart), 'within', api.ms(p.within), 'known', p.known, 'text', json_build_object(
		'en', api.sentence(case when p.known then '{first} went wrong first, {apart} before {next}; that is exact to {within}.'
			when p.within is not null then 'Which of {first} and {next} went wrong first is not known: the {apart} between them are exact to {within} only.'
			else 'Which of {first} and {next} went wrong first is not known: the clock offset of {whose} is not known.' end, p.params),
		'zh', api.sentence(case when p.known then '{first} 最先出错，比 {next} 早 {apart}，误差不超过 {within}。'
			when p.within is not null then '无法确定 {first} 与 {next} 谁先出错：二者相差 {apart}，而误差可达 {within}。'
			else '无法确定 {first} 与 {next} 谁先出错：{whose} 的时钟偏差未知。' end, p.params)))
	from p
$$;

-- An incident's candidates, graph, evidence, events and steps, with times by this collector's clock.
create or replace view api.incident_detail as
select i.onset, i.incident_id, json_build_object(
	'candidates', (select coalesce(json_agg(json_build_object('ranking', case c.ranking when 0 then 'time' else 'errors' end, 'place', c.place,
			'node', n.name, 'address', nullif(c.address, ''), 'external', c.host_id is null,
			'own', case c.ranking when 0 then api.ms(round(c.own::numeric)) else round(c.own::numeric) end,
			'edge', case c.ranking when 0 then api.ms(round(c.edge::numeric)) else round(c.edge::numeric) end,
			'share', round(c.share::numeric, 3), 'parts', c.parts) order by c.ranking, c.place), '[]')
		from incident_candidate c left join node n on n.node_id = c.host_id where c.incident_id = i.incident_id),
	'whole', i.whole_us,
	'graph', (select g.parts from incident_graph g where g.incident_id = i.incident_id),
	'evidence', (select coalesce(json_agg(json_build_object('signal', lpad(to_hex(g.signal_id), 16, '0'), 'node', n.name, 'app', g.app, 'route', g.route, 'class', g.class,
			'reason', coalesce(e.code, 'unknown'), 'first', api.rfc3339(g.first), 'last', api.rfc3339(g.last), 'count', g.n,
			'excess', api.ms(round(g.excess_us::numeric / greatest(g.n, 1))),
			'began', api.rfc3339(g.first + coalesce(h.offset_us, 0) * interval '1 microsecond'), 'ended', api.rfc3339(g.last + coalesce(h.offset_us, 0) * interval '1 microsecond'),
			'clock', case when h.offset_us is not null then json_build_object('ahead', api.ms(-h.offset_us), 'uncertainty', api.ms(h.uncertainty_us)) end,
			'samples', (select coalesce(json_agg(api.id_text(t, k) order by o), '[]') from unnest(g.worst, g.worst_ids) with ordinality w(t, k, o)))
			order by g.excess_us desc, g.n desc, g.signal_id), '[]')
		from incident_signal g left join node n on n.node_id = g.host_id left join reason e using (reason_id)
		left join lateral api.clock_here(g.host_id, g.first, true) h on true where g.incident_id = i.incident_id),
	'order', api.incident_order(i.incident_id),
	'events', (select coalesce(json_agg(json_build_object('node', n.name, 'kind', v.kind, 'reason', coalesce(e.code, 'unknown'), 'count', v.n,
			'first', api.rfc3339(v.first), 'last', api.rfc3339(v.last), 'worst', '/events/' || api.id_text(v.worst, v.worst_id),
			'began', api.rfc3339(v.first + coalesce(h.offset_us, 0) * interval '1 microsecond'), 'ended', api.rfc3339(v.last + coalesce(h.offset_us, 0) * interval '1 microsecond'))
			order by v.host_id = i.first_host desc nulls last, v.n desc, n.name, v.kind), '[]')
		from incident_event v left join node n on n.node_id = v.host_id left join reason e using (reason_id)
		left join lateral api.clock_here(v.host_id, v.first, true) h on true where v.incident_id = i.incident_id),
	'steps', (select coalesce(json_agg(json_build_object('time', api.rfc3339(s.at), 'made', api.rfc3339(s.made), 'kind', s.kind,
			'who', nullif(s.who, ''), 'detail', s.detail) order by s.step), '[]') from incident_step s where s.incident_id = i.incident_id)) as body
from incident i;

-- The incidents that these requests are a part of: the newest where there are several.
create or replace function api.incidents_of(times timestamptz[], numbers bigint[]) returns table (i bigint, incident text)
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	return query select distinct on (k.i) k.i, c.id from unnest(times, numbers) with ordinality k(ts, request_id, i)
		join api.request_key r on r.ts = k.ts and r.request_id = k.request_id
		join api.incident_signal s on s.node_id = r.node_id and s.app = r.app and s.route = r.route and r.ts >= s.first and r.ts <= s.last
		join api.incident_key c using (incident_id)
		order by k.i, c.onset desc, c.id;
end $$;
