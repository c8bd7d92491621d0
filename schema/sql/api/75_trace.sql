-- SPDX-License-Identifier: Apache-2.0
-- Traces: one request across hosts.

-- The first known row of a request, and why nothing is known before it.
create or replace function api.trace_root(at timestamptz, number bigint) returns table (ts timestamptz, request_id bigint, addr text, node_id bigint, app text, how text, silence text)
language plpgsql stable parallel safe as $$
declare
	up record;
begin
	for depth in 1 .. 8 loop
		select c.* into up from api.caller_of(at, number) c;
		exit when up.ts is null;
		at := up.ts;
		number := up.request_id;
	end loop;
	return query select at, number, api.addr(q.remote, q.remote_port), up.node_id, up.app, up.how, case when up.ts is null then up.silence else 'tooDeep' end
	from api.request_call q where q.ts = at and q.request_id = number limit 1;
end $$;

-- How long a request waited for any of its calls, and the sum of all calls: calls may overlap.
create or replace function api.trace_waits(tries jsonb, request_us bigint) returns table (covered float8, whole float8) language sql immutable parallel safe as $$
	with t as (select api.trace_us((u.try ->> 'startUs')::bigint) as began, api.trace_us((u.try ->> 'responseUs')::bigint) as us from jsonb_array_elements(tries) u(try)),
	m as (select range_agg(numrange(began::numeric, least(began + us, api.trace_us(request_us))::numeric)) as r from t where began < api.trace_us(request_us) and us > 0)
	select coalesce((select sum(upper(x) - lower(x)) from m, unnest(m.r) x), 0)::float8, coalesce((select sum(us) from t), 0)
$$;

-- The hops of a trace, callers before callees: depth is at most 12, and there are at most 64. Where the time arose: own_us at the
-- hop itself, net_us on the way to it, behind_us at callees without a row. Together they are the time of the first row: calls that
-- overlap share their time by duration. begun_us: start of the call, after the start of the first row; came_us: when it arrived,
-- if both ways took equally long.
create or replace function api.trace_hops(root_ts timestamptz, root_id bigint)
returns table (n bigint, parent bigint, depth int, i bigint, try jsonb, ts timestamptz, request_id bigint, silence text, node_id bigint, app text, how text,
	begun_us float8, came_us float8, own_us float8, net_us float8, behind_us float8) language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	return query
	with recursive hop as (
		select 1 as depth, '{}'::bigint[] as way, null::jsonb as try, q.ts, q.request_id, null::text as silence, q.node_id, q.app, null::text as how,
			0::float8 as begun, 0::float8 as came, 1::float8 as weight, (api.trace_us(q.queue_us) + api.trace_us(q.request_us)) as total, 0::float8 as net, 0::float8 as behind
		from api.request_call q where q.ts = root_ts and q.request_id = root_id
		union all
		select h.depth + 1, h.way || c.i, c.try, c.ts, c.request_id, c.silence, c.node_id, coalesce(q.app, c.app), c.how,
			b.begun, b.begun + greatest(0, b.us - b.total) / 2, case when b.total > 0 then b.call * least(b.total, b.us) / b.us / b.total else 0 end, b.total,
			case when c.ts is not null then b.call * (b.us - least(b.total, b.us)) / b.us else 0 end, case when c.ts is null then b.call else 0 end
		from hop h join api.request_call r on r.ts = h.ts and r.request_id = h.request_id
		cross join lateral api.trace_waits(r.upstreams, r.request_us) w
		cross join lateral api.callees_of(r.ts, r.node_id, r.request_id, r.path, r.upstreams) c
		left join api.request_call q on q.ts = c.ts and q.request_id = c.request_id
		cross join lateral (select h.came + api.trace_us(r.queue_us) + api.trace_us((c.try ->> 'startUs')::bigint) as begun,
			greatest(1, api.trace_us((c.try ->> 'responseUs')::bigint)) as us, (api.trace_us(q.queue_us) + api.trace_us(q.request_us)) as total,
			case when w.whole > 0 then h.weight * w.covered * api.trace_us((c.try ->> 'responseUs')::bigint) / w.whole else 0 end as call) b
		where h.depth < 12),
	kept as materialized (select row_number() over () - 1 as n, l.* from (select * from hop limit 64) l)
	select k.n, p.n, k.depth, k.way[cardinality(k.way)], k.try, k.ts, k.request_id, k.silence, k.node_id, k.app, k.how, k.begun, k.came,
		case when k.ts is not null then k.weight * (k.total - w.covered) else 0 end, k.net, k.behind
	from kept k left join kept p on p.depth = k.depth - 1 and p.way = k.way[: cardinality(k.way) - 1]
	left join api.request_call r on r.ts = k.ts and r.request_id = k.request_id
	left join lateral api.trace_waits(r.upstreams, r.request_us) w on true;
end $$;

-- Each hop for the API. ends: why calls of it are missing; failed and slow: by its own row, else by its answer.
create or replace function api.trace_told(root_ts timestamptz, root_id bigint) returns jsonb language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	return (with h as materialized (select * from api.trace_hops(root_ts, root_id) t),
	s as (select parent, count(*) as n from h group by parent)
	select jsonb_agg(jsonb_build_object('hop', h.n, 'parent', h.parent, 'try', h.i, 'addr', h.try ->> 'addr', 'how', h.how, 'node', k.node, 'region', k.region, 'app', h.app,
		'callTime', case when h.i is not null then api.ms(h.begun_us::numeric) end, 'responseTime', api.ms((h.try ->> 'responseUs')::bigint),
		'callStatus', nullif((h.try ->> 'status')::int, 0), 'silence', h.silence, 'id', case when q.ts is not null then api.id_text(q.ts, q.request_id) end,
		'time', api.rfc3339(q.ts), 'startTime', case when q.ts is not null then api.ms(h.came_us::numeric) end, 'request', q.method || ' ' || q.path,
		'status', nullif(q.status, 0), 'queueTime', api.ms(q.queue_us), 'requestTime', api.ms(q.request_us), 'totalTime', api.ms(q.queue_us::numeric + q.request_us),
		'upstreamTime', api.ms(w.covered::numeric),
		'networkTime', case when q.ts is not null and h.i is not null then api.ms(greatest(0, (h.try ->> 'responseUs')::numeric - q.queue_us - q.request_us)) end,
		'reason', case when q.ts is not null then coalesce(c.code, 'unknown') end,
		'shares', case when q.shares is not null then api.shares(q.shares, false, (select codes from api.part_codes))::jsonb end,
		'failed', coalesce(q.status, (h.try ->> 'status')::int) not between 1 and 499, 'slow', q.queue_us::numeric + q.request_us > f.limit_us,
		'arose', jsonb_build_object('own', api.ms(h.own_us::numeric), 'network', api.ms(h.net_us::numeric), 'behind', api.ms(h.behind_us::numeric)),
		'ends', case when f.flags & 8 <> 0 then 'unknownCalls' when f.flags & 32 <> 0 then 'moreCalls'
			when jsonb_array_length(q.upstreams) > coalesce(s.n, 0) then case when h.depth < 12 then 'tooMany' else 'tooDeep' end end) order by h.n)
	from h left join s on s.parent = h.n left join api.node_key k on k.node_id = h.node_id
	left join api.request_call q on q.ts = h.ts and q.request_id = h.request_id left join api.request_hop f on f.ts = h.ts and f.request_id = h.request_id
	left join api.reason_key c on c.reason_id = q.reason_id left join lateral api.trace_waits(q.upstreams, q.request_us) w on q.ts is not null);
end $$;

-- The place to look at: the node, way or address that most of the time arose at or behind, if that is at least half; for a
-- request that failed without being slow, the deepest hop that failed while none of its calls did. Null: no single place.
create or replace function api.trace_blame(hops jsonb) returns json language plpgsql stable parallel safe as $$
begin
	return (with h as materialized (select e, (e ->> 'hop')::int as hop, (e ->> 'parent')::int as parent, (e ->> 'failed')::bool as failed, (e -> 'arose' ->> 'own')::numeric as own,
			(e -> 'arose' ->> 'network')::numeric as net, (e -> 'arose' ->> 'behind')::numeric as behind
		from jsonb_array_elements(hops) e),
	place as (select 'node' as kind, (array_agg(h.hop order by h.own desc, h.hop))[1] as hop, sum(h.own) as ms from h where h.own > 0 group by h.e ->> 'node'
		union all select 'network', h.hop, h.net from h where h.net > 0 union all select 'behind', h.hop, h.behind from h where h.behind > 0),
	whole as (select sum(p.ms) as ms from place p),
	fault as (select 'failed' as kind, h.hop, null::numeric as ms from h where h.failed and (select not (f.e ->> 'slow')::bool from h f where f.hop = 0)
		and not exists (select from h c where c.parent = h.hop and c.failed) order by h.hop desc limit 1),
	most as (select p.* from place p, whole w where p.ms * 2 >= w.ms order by p.ms desc, p.hop limit 1),
	pick as (select * from fault union all select * from most where not exists (select from fault))
	select json_build_object('kind', p.kind, 'hop', p.hop, 'node', h.e -> 'node', 'app', h.e -> 'app', 'addr', h.e -> 'addr', 'from', c.e -> 'node',
		'reason', h.e -> 'reason', 'ms', p.ms, 'share', round(p.ms / w.ms, 3))
	from whole w, pick p join h on h.hop = p.hop left join h c on c.hop = h.parent);
end $$;

-- One request across hosts: from any of its rows up to the first known row, and down through each call. api.callees_of alone
-- decides which row belongs to which call. A row that may belong to another request is not shown: the chain ends there, with the
-- reason.
create or replace function api.trace(at timestamptz, number bigint) returns json language plpgsql stable parallel safe as $$
declare
	top record;
	hops jsonb;
begin
	select t.* into top from api.trace_root(at, number) t;
	hops := api.trace_told(top.ts, top.request_id);
	return json_build_object('id', api.id_text(at, number), 'hop', (select e -> 'hop' from jsonb_array_elements(hops) e where e ->> 'id' = api.id_text(at, number)),
		'caller', json_build_object('addr', top.addr, 'node', (select n.node from api.node_key n where n.node_id = top.node_id), 'app', top.app, 'how', top.how,
			'silence', top.silence),
		'hops', hops, 'lookAt', api.trace_blame(hops));
end $$;
