-- SPDX-License-Identifier: Apache-2.0
-- Calls of requests, and the row of a call at the other node.

-- Probes send any number that fits its type.
create or replace function api.trace_us(us bigint) returns float8 language sql immutable parallel safe as
	$$ select greatest(0, least(coalesce(us, 0), 3600000000))::float8 $$;

-- The tries of a request: address, start and duration of each.
create or replace function api.tries_of(at timestamptz, tries jsonb)
returns table (i bigint, try jsonb, addr text, from_port int, status int, us float8, began timestamptz, ended timestamptz) language sql stable parallel safe as $$
	select u.i, u.try, u.try ->> 'addr', (u.try ->> 'localPort')::int, coalesce((u.try ->> 'status')::int, 0), v.us, v.began, v.began + v.us * interval '1 microsecond'
	from jsonb_array_elements(tries) with ordinality u(try, i)
	cross join lateral (select api.trace_us((u.try ->> 'responseUs')::bigint) as us, at + api.trace_us((u.try ->> 'startUs')::bigint) * interval '1 microsecond' as began) v
$$;

create or replace function api.ids_of(at timestamptz, number bigint) returns json language sql stable parallel safe as $$
	select json_build_object('trace', split_part(q.trace, '-', 1), 'parent', split_part(q.trace, '-', 2), 'request', q.sent_id)
	from api.request_call q where q.ts = at and q.request_id = number and (q.trace is not null or q.sent_id is not null) limit 1
$$;

-- What two rows of one request have in common: an id (2), or the path (1), which a proxy may change.
create or replace function api.alike(path text, other_path text, trace text, other_trace text, sent_id text, other_sent_id text) returns int language sql immutable parallel safe as
	$$ select case when left(trace, 32) = left(other_trace, 32) or sent_id = other_sent_id then 2 when path = other_path then 1 else 0 end $$;

-- How well a row fits a call; null: not at all. On a connection of HTTP/1.1 a call is over before the next one begins, and a
-- request is read before its call is over. So a row belongs to the call within which it lies, by the uncertainty of the clocks and
-- the usual delay of a host's timestamps (2); or with 5 ms more, which are part of `within`, for late timestamps: then the row
-- began during the call even if its host was stalled, and ended at most a second after it, or any time later if the caller
-- had given up (1). More if the two are alike. A row that by these clocks may have begun after the call was over counts if it is
-- alike, and else is only possible (0). Declared stable: only so is it inlined into the calling query.
create or replace function api.call_fit(came timestamptz, took bigint, answered int, alike int, began timestamptz, ended timestamptz, us float8, status int, within interval)
returns int language sql stable parallel safe as $$
	select case when came < began - within or came > ended + within - interval '5 ms' or took > us + 1000000 and status <> 0 or not (answered = status or answered in (0, 499) or status = 0) then null
		when came >= began - within + interval '4.5 ms' and came + api.trace_us(took) * interval '1 microsecond' <= ended + within - interval '4.5 ms' then 2 + 2 * alike
		when came <= ended - within + interval '5 ms' or took <= us + 5000 and came + api.trace_us(took) * interval '1 microsecond' <= ended + within then 1 + 2 * alike
		when alike = 2 or within <= interval '100 ms' then greatest(0, 2 * alike - 1) else 0 end
$$;

-- Why a call has no row of its callee: whether the node is known, and whether its requests are seen.
create or replace function api.callee_silence(callee bigint, how text) returns text language plpgsql stable parallel safe as $$
begin
	return case when how = 'ambiguous' then 'ambiguous' when how = 'unix' then 'unix' when callee is null then 'noProbe'
		when exists (select from api.request_source s where s.node_id = callee and s.state > 0) then 'nothingAbnormal' else 'notSeen' end;
end $$;

-- Why there is no row of a call at a time: as in callee_silence; and for a node that should have one, that it was not heard
-- since, or that rows were left out. One question after the other.
create or replace function api.trace_silence(callee bigint, how text, at timestamptz) returns text language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
declare
	silence text := api.callee_silence(callee, how);
begin
	if silence <> 'nothingAbnormal' then
		return silence;
	elsif at < (select o.ts from api.oldest o) then
		return 'agedOut';
	elsif exists (select from api.node_heard h where h.node_id = callee and h.last_seen < at) then
		return 'notHeard';
	elsif exists (select from api.coverage c where c.node_id = callee and c.ts between at - interval '30 s' and at + interval '30 s' and c.value > 0
			and c.hour between at - interval '2 hours' and at + interval '30 s'
			and c.name in ('rows_withheld', 'ring_full', 'head_missed', 'conn_full', 'calls_full')) then
		return 'withheld';
	end if;
	return silence;
end $$;

-- The calls of a request, try by try, each with the callee's row where that is certain: from the caller's port to the called
-- address, or the address behind it, and fitting (api.call_fit). A row that fits another call better belongs to that call. A
-- match is certain if the row fits no other call as well and no other row fits as well, and if the row's client is not another
-- node with a probe. `silence` says why there is no row. Owners and clocks are looked up first: they bound the days to read.
create or replace function api.callees_of(caller_ts timestamptz, caller_node bigint, caller_id bigint, caller_path text, tries jsonb)
returns table (i bigint, try jsonb, ts timestamptz, request_id bigint, silence text, node_id bigint, app text, how text) language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
declare
	k record;
	me record;
begin
	if tries = '[]' then
		return;
	end if;
	with t as materialized (select x.i, x.began, x.ended, api.peer_ip(x.addr) as ip, api.peer_port(x.addr) as port from api.tries_of(caller_ts, tries) x),
	p as materialized (select a.i[r.i] as i, r.node_id, r.app, r.how from (select array_agg(t.i order by t.i) as i, array_agg(t.ip order by t.i) as ips,
		array_agg(t.port order by t.i) as ports, array_agg(caller_ts) as ats, array_agg(caller_node) as nodes from t) a, api.resolve_all(a.ips, a.ports, a.ats, a.nodes) r)
	select array_agg(t.i) as i, array_agg(t.ip) as ip, array_agg(t.port) as port, array_agg(p.node_id) as callee, array_agg(p.app) as app, array_agg(coalesce(p.how, 'external')) as how,
		array_agg(c.ahead) as ahead, array_agg(c.within) as within, min(t.began + c.ahead - c.within) as first, max(t.ended + c.ahead + c.within) as last,
		min(t.began - 2 * c.within) - interval '60 s' as before, max(t.ended + 2 * c.within) as after
		into k from t left join p on p.i = t.i cross join lateral api.clocks_apart(caller_node, p.node_id, caller_ts) c;
	select q.trace, q.sent_id into me from api.request_call q where q.ts = caller_ts and q.request_id = caller_id limit 1;
	return query
	with a as materialized (select x.*, n.ip, n.port, n.callee, n.app, n.how, n.ahead, n.within, x.began + n.ahead - n.within as first, x.ended + n.ahead + n.within as last
		from api.tries_of(caller_ts, tries) x join unnest(k.i, k.ip, k.port, k.callee, k.app, k.how, k.ahead, k.within) n(i, ip, port, callee, app, how, ahead, within) on n.i = x.i),
	led as materialized (select a.i as j, a.ip, a.port from a union select a.i, l.behind, l.behind_port from a cross join lateral api.led_to(a.ip, a.port, caller_ts, caller_node) l),
	found as materialized (
		select a.i as j, q.* from a join led d on d.j = a.i join api.request_call q on q.node_id = a.callee and q.ts between a.first and a.last and q.ts between k.first and k.last
			and q.minute between date_bin('1 minute', a.first, timestamptz 'epoch') and date_bin('1 minute', a.last, timestamptz 'epoch')
			where q.local = d.ip and q.local_port = d.port and q.remote_port = a.from_port and a.from_port > 0
		union all select a.i, q.* from a join led d on d.j = a.i join api.request_call q on q.ts between a.first and a.last and q.ts between k.first and k.last
			where a.callee is null and q.local = d.ip and q.local_port = d.port and q.remote_port = a.from_port and a.from_port > 0),
	c as materialized (select * from (
		select f.j, f.ts, f.request_id, f.node_id, f.remote, f.remote_port, f.path, f.trace, f.sent_id, f.status, f.request_us, f.ts - a.ahead as came, a.within, a.addr, a.from_port,
			api.call_fit(f.ts - a.ahead, f.request_us, f.status, api.alike(f.path, caller_path, f.trace, me.trace, f.sent_id, me.sent_id),
				a.began, a.ended, a.us, a.status, a.within) as fit
		from found f join a on a.i = f.j offset 0) x where x.fit is not null),
	e as materialized (select o.ts as at, o.request_id as number, o.path, o.trace, o.sent_id, x.* from (select min(c.came - c.within) as first, max(c.came + c.within) as last from c) s
		cross join lateral (select distinct c.addr, c.from_port from c) d
		join api.request_call o on o.node_id = caller_node and o.ts between s.first - interval '60 s' and s.last and o.ts between k.before and k.after
			and o.minute between date_bin('1 minute', s.first - interval '60 s', timestamptz 'epoch') and date_bin('1 minute', s.last, timestamptz 'epoch')
			and o.ts + api.trace_us(o.request_us) * interval '1 microsecond' >= s.first
			and o.upstreams @> jsonb_build_array(jsonb_build_object('addr', d.addr, 'localPort', d.from_port))
		cross join lateral api.tries_of(o.ts, o.upstreams) x where x.addr = d.addr and x.from_port = d.from_port and x.ended >= s.first and x.began <= s.last),
	r as materialized (select c.j, c.ts, c.request_id, max(api.call_fit(c.came, c.request_us, c.status,
			api.alike(e.path, c.path, e.trace, c.trace, e.sent_id, c.sent_id), e.began, e.ended, e.us, e.status, c.within)) as best
		from c join a on a.i = c.j join e on e.addr = c.addr and e.from_port = c.from_port
		where (e.at, e.number, e.try) <> (caller_ts, caller_id, a.try) group by c.j, c.ts, c.request_id),
	b as materialized (select c.*, coalesce(r.best, 0) as best, max(c.fit) over (partition by c.j) as most from c left join r on r.j = c.j and r.ts = c.ts and r.request_id = c.request_id
		where coalesce(r.best, 0) <= c.fit),
	g as materialized (select b.*, b.fit > b.best and count(*) over (partition by b.j) = 1 as sure from b where b.fit = b.most),
	w as materialized (select a.j[r.i] as j, r.node_id, r.how from (select array_agg(g.j order by g.j) as j, array_agg(g.remote order by g.j) as ips,
		array_agg(g.remote_port order by g.j) as ports, array_agg(g.ts order by g.j) as ats, array_agg(g.node_id order by g.j) as nodes from g where g.sure) a,
		api.resolve_from(a.ips, a.ports, a.ats, a.nodes) r),
	h as materialized (select g.j, min(g.ts) as ts, min(g.request_id) as request_id, min(g.node_id) as node_id, bool_and(g.sure and w.how is distinct from 'several') as sure, bool_and(coalesce(w.node_id, caller_node) = caller_node) as ours
		from g left join w on w.j = g.j group by g.j)
	select a.i, a.try, case when h.sure and h.ours then h.ts end, case when h.sure and h.ours then h.request_id end,
		case when h.sure and h.ours then null when h.sure then 'otherCaller' when h.j is not null then 'several' else api.trace_silence(n.callee, n.how, caller_ts) end,
		n.callee, a.app, n.how
	from a left join h on h.j = a.i cross join lateral (select case when a.addr like 'unix:%' then caller_node when h.sure and h.ours then h.node_id else a.callee end as callee,
		case when a.addr like 'unix:%' then 'unix' else a.how end as how) n;
end $$;

-- The same for one try; sure is false where several rows are possible.
create or replace function api.callee_of(caller_ts timestamptz, caller_node bigint, caller_id bigint, caller_path text, try jsonb)
returns table (ts timestamptz, request_id bigint, node_id bigint, sure bool) language sql stable parallel safe as $$
	select c.ts, c.request_id, c.node_id, c.ts is not null from api.callees_of(caller_ts, caller_node, caller_id, caller_path, jsonb_build_array(try)) c
	where c.ts is not null or c.silence in ('several', 'otherCaller')
$$;

-- The caller's row of a request, and the try; else why it is not known. Nearly every caller began within the last seconds: only
-- if none did, all requests that may still have been running are read. One candidate is checked with callees_of: checking each of
-- the many calls of a reused connection took seconds.
create or replace function api.caller_of(at timestamptz, number bigint)
returns table (ts timestamptz, request_id bigint, i bigint, node_id bigint, app text, how text, silence text)
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
declare
	r record;
	w record;
	k record;
	back interval;
	names text[]; -- what it may have been called at
begin
	select q.* into r from api.request_call q where q.ts = at and q.request_id = number limit 1;
	select p.node_id, p.app, coalesce(nullif(p.how, 'several'), case p.how when 'several' then 'ambiguous' else 'external' end) as how into w from (values (1)) v left join api.resolve_from(array[r.remote], array[r.remote_port], array[at], array[r.node_id]) p on true;
	names := array(select api.addr(r.local, r.local_port) union select api.addr(n.seen, n.seen_port) from api.nat n where n.kind = 1 and n.behind = r.local and n.behind_port = r.local_port
		and n.since <= at + interval '60 s' and (n.until is null or n.until > at));
	select c.at, c.within into k from (select at + x.ahead as at, x.within from api.clocks_apart(r.node_id, w.node_id, at) x) c;
	foreach back in array array[interval '10 s', interval '10 minutes'] loop
		exit when w.node_id is null;
		return query with c as materialized (select q.ts, q.request_id, q.node_id, q.path, q.upstreams, e.i,
				api.call_fit(k.at, r.request_us, r.status, api.alike(q.path, r.path, q.trace, r.trace, q.sent_id, r.sent_id),
					e.began, e.ended, e.us, e.status, k.within) as fit from api.request_call q
			cross join lateral api.tries_of(q.ts, q.upstreams) e
			where q.node_id = w.node_id and q.ts between k.at - back and k.at + k.within
				and q.minute between date_bin('1 minute', k.at - back, timestamptz 'epoch') and date_bin('1 minute', k.at + k.within, timestamptz 'epoch')
				and q.ts + api.trace_us(q.request_us) * interval '1 microsecond' >= k.at - k.within
				and q.upstreams @> any(array(select jsonb_build_array(jsonb_build_object('addr', m, 'localPort', r.remote_port)) from unnest(names) m))
				and e.addr = any(names) and e.from_port = r.remote_port),
		d as materialized (select m.*, count(*) over () as n from (select c.*, max(c.fit) over () as most from c where c.fit > 0 or back > interval '10 s') m where m.fit = m.most),
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

-- The caller of a request, for the API.
create or replace function api.called_by(at timestamptz, number bigint) returns json language plpgsql stable parallel safe
set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	return (select json_build_object('id', api.id_text(c.ts, c.request_id), 'try', c.i, 'node', n.node, 'app', q.app, 'time', api.rfc3339(c.ts),
		'request', q.method || ' ' || q.path, 'status', nullif(q.status, 0), 'requestTime', api.ms(q.request_us),
		'totalTime', api.ms(q.queue_us::numeric + q.request_us), 'reason', coalesce(k.code, 'unknown'))
	from api.caller_of(at, number) c join api.request_call q on q.ts = c.ts and q.request_id = c.request_id
	left join api.node_key n on n.node_id = c.node_id left join api.reason_key k on k.reason_id = q.reason_id);
end $$;

-- The calls of one request, try by try: the callee's row and the time left for the network, or why there is no row.
create or replace function api.calls(at timestamptz, number bigint) returns json language plpgsql stable parallel safe
set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	return (with r as materialized (select q.* from api.request_call q where q.ts = at and q.request_id = number limit 1),
	t as materialized (select u.i, u.try, u.try ->> 'addr' as addr, (u.try ->> 'responseUs')::bigint as us
		from r, jsonb_array_elements(r.upstreams) with ordinality u(try, i)),
	place as materialized (select p.* from (select array_agg(api.peer_ip(addr) order by i) as ips, array_agg(api.peer_port(addr) order by i) as ports,
		array_agg(at order by i) as ats, array_agg((select node_id from r) order by i) as asking from t) a,
		api.resolve_all(a.ips, a.ports, a.ats, a.asking) p),
	found as materialized (select t.*, c.ts, c.request_id, case when t.addr like 'unix:%' then (select node_id from r) else coalesce(c.node_id, p.node_id) end as callee,
			p.app, case when t.addr like 'unix:%' then 'unix' else coalesce(p.how, 'external') end as how, c.sure
		from t left join api.callee_of(at, (select node_id from r), number, (select path from r), t.try) c on true left join place p on p.i = t.i)
	select coalesce(json_agg(json_build_object('try', f.i, 'addr', f.addr, 'responseTime', api.ms(f.us),
		'node', n.node, 'app', coalesce(q.app, f.app), 'how', f.how,
		'id', case when f.sure then api.id_text(f.ts, f.request_id) end,
		'time', case when f.sure then api.rfc3339(q.ts) end,
		'request', case when f.sure then q.method || ' ' || q.path end,
		'status', case when f.sure then nullif(q.status, 0) end,
		'requestTime', case when f.sure then api.ms(q.request_us) end,
		'totalTime', case when f.sure then api.ms(q.queue_us::numeric + q.request_us) end,
		'networkTime', case when f.sure then api.ms(greatest(0, f.us - q.queue_us - q.request_us)) end,
		'reason', case when f.sure then coalesce(k.code, 'unknown') end,
		'shares', case when f.sure and q.shares is not null then api.shares(q.shares, false, (select codes from api.part_codes)) end,
		'silence', case when f.sure then null when f.sure is false then 'several' else api.callee_silence(f.callee, f.how) end) order by f.i), '[]')
	from found f left join api.node_key n on n.node_id = f.callee
	left join api.request_call q on f.sure and q.ts = f.ts and q.request_id = f.request_id and q.node_id = f.callee
	left join api.reason_key k on k.reason_id = q.reason_id);
end $$;
