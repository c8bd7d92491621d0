-- SPDX-License-Identifier: Apache-2.0
-- 031_trace.sql - one request across hosts: from any of its rows up to the first that is known, and down by each call.
--
-- Which row is whose call is decided by api.callees_of alone. No row is shown that may be another's: where the chain is not
-- known it ends, and says why.

create view api.request_hop as select ts, request_id, node_id, flags, limit_us from request;
create view api.node_heard as select node_id, last_seen from node;

-- Why there is no row of a call at a time, as in 024; and of a node that should have one: not heard since, or rows were left out.
create function api.trace_silence(callee bigint, how text, at timestamptz) returns text language sql stable parallel safe
set enable_hashjoin = off set enable_mergejoin = off as $$
	select case when s.silence <> 'nothingAbnormal' then s.silence
		when at < (select o.ts from api.oldest o) then 'agedOut'
		when exists (select from api.node_heard h where h.node_id = callee and h.last_seen < at) then 'notHeard'
		when exists (select from api.coverage c where c.node_id = callee and c.ts between at - interval '30 s' and at + interval '30 s' and c.value > 0
			and c.hour between at - interval '2 hours' and at + interval '30 s'
			and c.name in ('rows_withheld', 'ring_full', 'head_missed', 'conn_full', 'calls_full')) then 'withheld'
		else s.silence end
	from (select api.callee_silence(callee, how) as silence) s
$$;

-- How far the clock of the callee's node is ahead of the caller's, and within what that is certain. What joins rows of two
-- nodes by time asks here, and nowhere else.
create function api.clocks_apart(caller bigint, callee bigint, at timestamptz) returns table (ahead interval, within interval) language sql stable parallel safe as
	$$ select interval '0', case when caller = callee then interval '5 ms' else interval '5 s' end $$;

-- Numbers come from probes and may be anything that fits.
create function api.trace_us(us bigint) returns float8 language sql immutable parallel safe as
	$$ select greatest(0, least(coalesce(us, 0), 3600000000))::float8 $$;

-- The tries of a row: where each went, when it began and how long it took.
create function api.tries_of(at timestamptz, tries jsonb)
returns table (i bigint, try jsonb, addr text, from_port int, status int, us float8, began timestamptz, ended timestamptz) language sql stable parallel safe as $$
	select u.i, u.try, u.try ->> 'addr', (u.try ->> 'localPort')::int, coalesce((u.try ->> 'status')::int, 0), v.us, v.began, v.began + v.us * interval '1 microsecond'
	from jsonb_array_elements(tries) with ordinality u(try, i)
	cross join lateral (select api.trace_us((u.try ->> 'responseUs')::bigint) as us, at + api.trace_us((u.try ->> 'startUs')::bigint) * interval '1 microsecond' as began) v
$$;

-- Whether a row may be that of a call: begun while it went on, by clocks that agree within that; with the same status; and not
-- longer than the call, but for a host that had no time to end it as soon as the caller had the answer. That is believed where
-- clocks or paths say that it is the same call.
create function api.call_fits(came timestamptz, took bigint, answered int, same boolean, began timestamptz, ended timestamptz, us float8, status int, within interval)
returns boolean language sql immutable parallel safe as $$
	select came between began - within and ended + within and (answered = status or answered in (0, 499) or status = 0)
		and took <= us + case when same or within <= interval '100 ms' then 1000000 else 2000 end
$$;

-- The calls of a row, try by try, each with the callee's row, where that is certain: from the caller's port to the address called,
-- and fitting. On a connection that is used again the same row may fit several calls, and a call several rows: it is certain if
-- none of the others fits as well, where one with the caller's path fits better. Nor is it certain if the callee's client was
-- another node that has a probe. Silence says why there is none.
create function api.callees_of(caller_ts timestamptz, caller_node bigint, caller_id bigint, caller_path text, tries jsonb)
returns table (i bigint, try jsonb, ts timestamptz, request_id bigint, silence text, node_id bigint, app text, how text) language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	return query
	with t as materialized (select x.*, api.peer_ip(x.addr) as ip, api.peer_port(x.addr) as port from api.tries_of(caller_ts, tries) x),
	p as materialized (select a.i[r.i] as i, r.node_id, r.app, r.how from (select array_agg(t.i order by t.i) as i, array_agg(t.ip order by t.i) as ips,
		array_agg(t.port order by t.i) as ports, array_agg(caller_ts) as ats, array_agg(caller_node) as nodes from t) a, api.resolve_all(a.ips, a.ports, a.ats, a.nodes) r),
	a as materialized (select t.*, p.node_id as callee, p.app, coalesce(p.how, 'external') as how, k.ahead, k.within, t.began + k.ahead - k.within as first, t.ended + k.ahead + k.within as last
		from t left join p on p.i = t.i cross join lateral api.clocks_apart(caller_node, p.node_id, caller_ts) k),
	found as materialized (
		select a.i as j, q.* from a join api.request_call q on q.node_id = a.callee and q.ts between a.first and a.last
			and q.minute between date_bin('1 minute', a.first, timestamptz 'epoch') and date_bin('1 minute', a.last, timestamptz 'epoch')
			where q.local = a.ip and q.local_port = a.port and q.remote_port = a.from_port and a.from_port > 0
		union all select a.i, q.* from a join api.request_call q on q.ts between a.first and a.last
			where a.callee is null and q.local = a.ip and q.local_port = a.port and q.remote_port = a.from_port and a.from_port > 0),
	c as materialized (select f.j, f.ts, f.request_id, f.node_id, f.remote, f.remote_port, f.path, f.status, f.request_us, f.path = caller_path as same, f.ts - a.ahead as came, a.within, a.addr, a.from_port
		from found f join a on a.i = f.j
		where api.call_fits(f.ts - a.ahead, f.request_us, f.status, f.path = caller_path, a.began, a.ended, a.us, a.status, a.within)),
	e as materialized (select o.ts as at, o.request_id as number, o.path, x.* from (select min(c.came - c.within) as first, max(c.came + c.within) as last from c) s
		cross join lateral (select distinct c.addr, c.from_port from c) k
		join api.request_call o on o.node_id = caller_node and o.ts between s.first - interval '60 s' and s.last
			and o.minute between date_bin('1 minute', s.first - interval '60 s', timestamptz 'epoch') and date_bin('1 minute', s.last, timestamptz 'epoch')
			and o.ts + api.trace_us(o.request_us) * interval '1 microsecond' >= s.first
			and o.upstreams @> jsonb_build_array(jsonb_build_object('addr', k.addr, 'localPort', k.from_port))
		cross join lateral api.tries_of(o.ts, o.upstreams) x where x.addr = k.addr and x.from_port = k.from_port),
	r as materialized (select c.j, c.ts, c.request_id, max((e.path = c.path)::int) as best from c join t on t.i = c.j join e on e.addr = c.addr and e.from_port = c.from_port
		where (e.at, e.number, e.try) <> (caller_ts, caller_id, t.try) and api.call_fits(c.came, c.request_us, c.status, e.path = c.path, e.began, e.ended, e.us, e.status, c.within)
		group by c.j, c.ts, c.request_id),
	b as materialized (select c.*, r.best, max(c.same::int) over (partition by c.j) as most from c left join r on r.j = c.j and r.ts = c.ts and r.request_id = c.request_id
		where c.same or coalesce(r.best, 0) = 0),
	g as materialized (select b.*, coalesce(b.best, -1) < b.same::int and count(*) over (partition by b.j) = 1 as sure, w.node_id as client
		from b left join lateral api.resolve_all(array[b.remote], array[b.remote_port], array[b.ts], array[b.node_id]) w on true where b.same::int = b.most),
	h as materialized (select g.j, min(g.ts) as ts, min(g.request_id) as request_id, min(g.node_id) as node_id, bool_and(g.sure) as sure, bool_and(coalesce(g.client, caller_node) = caller_node) as ours
		from g group by g.j)
	select a.i, a.try, case when h.sure and h.ours then h.ts end, case when h.sure and h.ours then h.request_id end,
		case when h.sure and h.ours then null when h.sure then 'otherCaller' when h.j is not null then 'several' else api.trace_silence(n.callee, n.how, caller_ts) end,
		n.callee, a.app, n.how
	from a left join h on h.j = a.i cross join lateral (select case when a.addr like 'unix:%' then caller_node when h.sure and h.ours then h.node_id else a.callee end as callee,
		case when a.addr like 'unix:%' then 'unix' else a.how end as how) n;
end $$;

-- Of one try alone, as it was asked for before: sure is false where it cannot be told which row it is.
create or replace function api.callee_of(caller_ts timestamptz, caller_node bigint, caller_id bigint, caller_path text, try jsonb)
returns table (ts timestamptz, request_id bigint, node_id bigint, sure bool) language sql stable parallel safe as $$
	select c.ts, c.request_id, c.node_id, c.ts is not null from api.callees_of(caller_ts, caller_node, caller_id, caller_path, jsonb_build_array(try)) c
	where c.ts is not null or c.silence in ('several', 'otherCaller')
$$;

-- Whose call a row was, and which of its tries; else why that is not known. Nearly every call is of a request that began within
-- the last seconds: only if there is none, all are looked at that may still have gone on. One is asked for its callee: asked
-- each, the many calls of a connection that is used again took seconds.
create function api.caller_of(at timestamptz, number bigint)
returns table (ts timestamptz, request_id bigint, i bigint, node_id bigint, app text, how text, silence text)
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
declare
	r record;
	w record;
	k record;
	back interval;
begin
	select q.* into r from api.request_call q where q.ts = at and q.request_id = number limit 1;
	select p.node_id, p.app, coalesce(p.how, 'external') as how into w from (values (1)) v left join api.resolve_all(array[r.remote], array[r.remote_port], array[at], array[r.node_id]) p on true;
	select c.at, c.within into k from (select at + x.ahead as at, x.within from api.clocks_apart(r.node_id, w.node_id, at) x) c;
	foreach back in array array[interval '10 s', interval '10 minutes'] loop
		exit when w.node_id is null;
		return query with c as materialized (select q.ts, q.request_id, q.node_id, q.path, q.upstreams, e.i, (q.path = r.path)::int as same from api.request_call q
			cross join lateral api.tries_of(q.ts, q.upstreams) e
			where q.node_id = w.node_id and q.ts between k.at - back and k.at + k.within
				and q.minute between date_bin('1 minute', k.at - back, timestamptz 'epoch') and date_bin('1 minute', k.at + k.within, timestamptz 'epoch')
				and q.ts + api.trace_us(q.request_us) * interval '1 microsecond' >= k.at - k.within
				and q.upstreams @> jsonb_build_array(jsonb_build_object('addr', api.addr(r.local, r.local_port), 'localPort', r.remote_port))
				and e.addr = api.addr(r.local, r.local_port) and e.from_port = r.remote_port
				and api.call_fits(k.at, r.request_us, r.status, q.path = r.path, e.began, e.ended, e.us, e.status, k.within)),
		d as materialized (select m.*, count(*) over () as n from (select c.*, max(c.same) over () as most from c) m where m.same = m.most),
		s as materialized (select d.*, d.n = 1 and exists (select from api.callees_of(d.ts, d.node_id, d.request_id, d.path, d.upstreams) e
			where e.i = d.i and e.ts = at and e.request_id = number) as sure from d limit 1)
		select case when s.sure then s.ts end, case when s.sure then s.request_id end, case when s.sure then s.i end, s.node_id, w.app, w.how,
			case when not s.sure then 'several' end from s;
		if found then
			return;
		end if;
	end loop;
	return query select null::timestamptz, null::bigint, null::bigint, w.node_id, w.app, w.how, api.trace_silence(w.node_id, case when r.remote is null then 'unix' else w.how end, at);
end $$;

create or replace function api.called_by(at timestamptz, number bigint) returns json language plpgsql stable parallel safe
set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	return (select json_build_object('id', api.id_text(c.ts, c.request_id), 'try', c.i, 'node', n.node, 'app', q.app, 'time', api.rfc3339(c.ts),
		'request', q.method || ' ' || q.path, 'status', nullif(q.status, 0), 'requestTime', api.ms(q.request_us),
		'totalTime', api.ms(q.queue_us::numeric + q.request_us), 'reason', coalesce(k.code, 'unknown'))
	from api.caller_of(at, number) c join api.request_call q on q.ts = c.ts and q.request_id = c.request_id
	left join api.node_key n on n.node_id = c.node_id left join api.reason_key k on k.reason_id = q.reason_id);
end $$;

-- The first row that is known of a request, and why nothing is known before it.
create function api.trace_root(at timestamptz, number bigint) returns table (ts timestamptz, request_id bigint, addr text, node_id bigint, app text, how text, silence text)
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

-- For how long a request waited for any of its calls, and the sum of them: calls may go on at the same time.
create function api.trace_waits(tries jsonb, request_us bigint) returns table (covered float8, whole float8) language sql immutable parallel safe as $$
	with t as (select api.trace_us((u.try ->> 'startUs')::bigint) as began, api.trace_us((u.try ->> 'responseUs')::bigint) as us from jsonb_array_elements(tries) u(try)),
	m as (select range_agg(numrange(began::numeric, least(began + us, api.trace_us(request_us))::numeric)) as r from t where began < api.trace_us(request_us) and us > 0)
	select coalesce((select sum(upper(x) - lower(x)) from m, unnest(m.r) x), 0)::float8, coalesce((select sum(us) from t), 0)
$$;

-- The hops of a trace, callers before whom they called: depth is at most 12, and there are at most 64. Where the time arose:
-- own_us at the hop itself, net_us on the way to it, behind_us at whom was called and has no row. Together they are the time of
-- the first row: calls that went on at the same time share that time by how long each took. begun_us: when the call began,
-- since the first row did; came_us: when it came in, if both ways took as long.
create function api.trace_hops(root_ts timestamptz, root_id bigint)
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

-- Each hop as the API tells it. ends: why calls of it are not here; failed and slow: by its own row, else by how it was answered.
create function api.trace_told(root_ts timestamptz, root_id bigint) returns jsonb language plpgsql stable parallel safe
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

-- Whom to look at: at which node, on which way, or behind which address most of the time arose, if it was at least half; of a
-- request that failed without being slow: who failed deepest, while none of its calls did. Null: nobody in particular.
create function api.trace_blame(hops jsonb) returns json language sql stable parallel safe as $$
	with h as materialized (select e, (e ->> 'hop')::int as hop, (e ->> 'parent')::int as parent, (e ->> 'failed')::bool as failed, (e -> 'arose' ->> 'own')::numeric as own,
			(e -> 'arose' ->> 'network')::numeric as net, (e -> 'arose' ->> 'behind')::numeric as behind
		from jsonb_array_elements(hops) e),
	place as (select 'node' as kind, (array_agg(hop order by own desc, hop))[1] as hop, sum(own) as ms from h where own > 0 group by e ->> 'node'
		union all select 'network', hop, net from h where net > 0 union all select 'behind', hop, behind from h where behind > 0),
	whole as (select sum(ms) as ms from place),
	fault as (select 'failed' as kind, hop, null::numeric as ms from h where failed and (select not (e ->> 'slow')::bool from h where hop = 0)
		and not exists (select from h c where c.parent = h.hop and c.failed) order by hop desc limit 1),
	most as (select p.* from place p, whole w where p.ms * 2 >= w.ms order by p.ms desc, p.hop limit 1),
	pick as (select * from fault union all select * from most where not exists (select from fault))
	select json_build_object('kind', p.kind, 'hop', p.hop, 'node', h.e -> 'node', 'app', h.e -> 'app', 'addr', h.e -> 'addr', 'from', c.e -> 'node',
		'reason', h.e -> 'reason', 'ms', p.ms, 'share', round(p.ms / w.ms, 3))
	from whole w, pick p join h on h.hop = p.hop left join h c on c.hop = h.parent
$$;

create function api.trace(at timestamptz, number bigint) returns json language plpgsql stable parallel safe as $$
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

do $$ begin perform grant_web(); end $$;
