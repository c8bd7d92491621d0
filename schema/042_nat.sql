-- SPDX-License-Identifier: Apache-2.0
-- 042_nat.sql - whom an address leads to that a node translates (NAT): a service address, a port of docker's, what leaves by a router.

create table nat (
	node_id     bigint not null,
	kind        smallint not null,                 -- lib/item.h, enum way_kind: 1 calls of seen reach behind, 2 what comes from behind is seen as from seen
	seen        inet not null,
	seen_port   int not null,                      -- of kind 2: 0
	behind        inet not null,
	behind_port   int not null,
	netns       bigint not null,                   -- 0: the node's own network namespace
	since       timestamptz not null,              -- when it was first told so
	until       timestamptz                        -- null: it is so
);
create index nat_by_seen on nat (seen, seen_port);
create index nat_by_behind on nat (behind, behind_port) where kind = 1;
create index nat_by_node on nat (node_id);

-- All that a probe knows of at a time. Of what there was the last 4,096 are kept.
create function take_nat(node bigint, at timestamptz, kinds smallint[], seens inet[], seen_ports bigint[], behinds inet[], behind_ports bigint[], nets bigint[])
returns void language plpgsql as $$
begin
	update nat n set until = greatest(at, n.since) where n.node_id = node and n.until is null and (n.kind, n.seen, n.seen_port, n.behind, n.behind_port, n.netns)
		not in (select u.* from unnest(kinds, seens, seen_ports, behinds, behind_ports, nets) u);
	insert into nat select distinct node, u.kind, u.seen, u.seen_port::int, u.behind, u.behind_port::int, u.netns, at
		from unnest(kinds, seens, seen_ports, behinds, behind_ports, nets) u(kind, seen, seen_port, behind, behind_port, netns)
		where not exists (select from nat n where n.node_id = node and n.until is null and (n.kind, n.seen, n.seen_port, n.behind, n.behind_port, n.netns)
			= (u.kind, u.seen, u.seen_port, u.behind, u.behind_port, u.netns));
	delete from nat n where n.node_id = node and n.until < (select o.until from nat o
		where o.node_id = node and o.until is not null order by o.until desc offset 4096 limit 1);
end $$;

create view api.nat as
select w.node_id, w.kind, w.seen, w.seen_port, w.behind, w.behind_port, w.since, w.until, n.last_seen as heard from nat w join node n using (node_id);

-- Where calls of an address were led to, by whom: by the asking node itself, else by who has the address (rank 2), else by whoever
-- does so. A way is told up to a minute after the first that went by it, and a silent node tells nothing.
create function api.led_to(the_addr inet, the_port int, at timestamptz, asks bigint)
returns table (teller bigint, behind inet, behind_port int, rank int) language sql stable parallel safe as $$
	with w as materialized (select n.node_id, n.behind, n.behind_port, case when n.node_id = asks then 3 when exists (select from api.place p where p.node_id = n.node_id
				and p.addr = the_addr and p.since <= at + interval '30 s' and (p.until is null or p.until > at)) then 2 else 1 end as rank
			from api.nat n where n.kind = 1 and n.seen = the_addr and n.seen_port = the_port and n.since <= at + interval '60 s' and (n.until is null or n.until > at)
				and n.heard >= at - interval '10 minutes' and (n.node_id = asks or not (the_addr << inet '127.0.0.0/8' or the_addr = inet '::1')))
	select distinct w.node_id, w.behind, w.behind_port, w.rank from w where w.rank = (select max(v.rank) from w v)
$$;

-- As in 020, of who has an address or listens there. Who calls an address that is translated reaches another: all that it led to, as
-- whoever translates it knows them, and how is 'ambiguous' if these are several nodes, or somebody who is not known.
alter function api.resolve_all(inet[], int[], timestamptz[], bigint[]) rename to resolve_here;

create function api.resolve_all(addrs inet[], ports int[], ats timestamptz[], asking bigint[])
returns table (i bigint, node_id bigint, app text, how text) language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	if not exists (select from api.nat) then
		return query select r.i, r.node_id, r.app, r.how from api.resolve_here(addrs, ports, ats, asking) r;
		return;
	end if;
	return query
	with here as materialized (select r.i, r.node_id, r.app, r.how from api.resolve_here(addrs, ports, ats, asking) r),
	led as materialized (select row_number() over (order by u.i, l.behind, l.behind_port, l.teller) as k, u.i, u.at, l.teller, l.behind, l.behind_port
		from unnest(addrs, ports, ats, asking) with ordinality u(addr, port, at, asks, i) cross join lateral api.led_to(u.addr, u.port, u.at, u.asks) l
		where l.rank > 1 or not exists (select from here h where h.i = u.i and h.how = 'listener')),
	a as materialized (select array_agg(l.behind order by l.k) as addrs, array_agg(l.behind_port order by l.k) as ports, array_agg(l.at order by l.k) as ats,
		array_agg(l.teller order by l.k) as tellers from led l),
	r as materialized (select x.i, x.node_id, x.app, x.how from a, api.resolve_here(a.addrs, a.ports, a.ats, a.tellers) x where a.addrs is not null),
	m as materialized (select l.i, min(r.node_id) as node_id, min(r.app) as app, count(r.i) > 0 as known, bool_and(coalesce(r.how = 'listener', false)) as listens,
			count(r.node_id) = count(*) and min(r.node_id) = max(r.node_id) as sure, count(r.app) = count(*) and min(r.app) = max(r.app) as same
		from led l left join r on r.i = l.k group by l.i)
	select h.i, h.node_id, h.app, h.how from here h where not exists (select from m where m.i = h.i)
	union all select m.i, case when m.sure then m.node_id end, case when m.sure and m.same then m.app end,
		case when not m.sure then 'ambiguous' when m.listens then 'listener' else 'address' end from m where m.known;
end $$;

-- The same of the address that a call came from: that of who translates it is of all that he does so for, and his own if he calls
-- anybody. 'several': these are several nodes.
create function api.resolve_from(addrs inet[], ports int[], ats timestamptz[], asking bigint[])
returns table (i bigint, node_id bigint, app text, how text) language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	if not exists (select from api.nat n where n.kind = 2) then
		return query select r.i, r.node_id, r.app, r.how from api.resolve_all(addrs, ports, ats, asking) r;
		return;
	end if;
	return query
	with here as materialized (select r.i, r.node_id, r.app, r.how from api.resolve_all(addrs, ports, ats, asking) r),
	f as materialized (select row_number() over (order by x.i, x.behind, x.teller) as k, x.* from (select distinct u.i, u.at, n.node_id as teller, n.behind
		from unnest(addrs, ats) with ordinality u(addr, at, i) left join here h on h.i = u.i
		join api.nat n on n.kind = 2 and n.seen = u.addr and n.since <= u.at + interval '60 s' and (n.until is null or n.until > u.at) and n.heard >= u.at - interval '10 minutes'
		where h.node_id is null or h.node_id = n.node_id) x),
	a as materialized (select array_agg(f.behind order by f.k) as addrs, array_agg(0 order by f.k) as ports, array_agg(f.at order by f.k) as ats,
		array_agg(f.teller order by f.k) as tellers from f),
	r as materialized (select x.i, x.node_id from a, api.resolve_here(a.addrs, a.ports, a.ats, a.tellers) x where a.addrs is not null),
	who as materialized (select f.i, r.node_id from f left join r on r.i = f.k
		union all select distinct f.i, f.teller from f where exists (select from api.red_key k where k.node_id = f.teller and k.role = 1)),
	m as materialized (select w.i, min(w.node_id) as node_id, count(w.node_id) > 0 as known, count(w.node_id) = count(*) and min(w.node_id) = max(w.node_id) as sure from who w group by w.i)
	select h.i, h.node_id, h.app, h.how from here h where not exists (select from m where m.i = h.i)
	union all select m.i, case when m.sure then m.node_id end, null, case when m.sure then 'address' else 'several' end from m where m.known;
end $$;

-- As in 031, by how well a row fits (038), also of what was called at an address that is translated. A row that fits another call
-- better is that one's; it is certain if it fits no other as well, and no other row fits as well. Whose the addresses are, and how far clocks are apart, is asked first: it bounds the days that are looked at.
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

drop function api.call_fits(timestamptz, bigint, int, boolean, timestamptz, timestamptz, float8, int, interval);

-- As in 037, with who asked behind an address that is translated.
create or replace function incident_others(keys bigint[], nodes bigint[], until timestamptz) returns table (host bigint, key_id bigint, other bigint)
language plpgsql stable as $$
begin
	return query with k as materialized (select k.node_id, k.key_id, k.role, k.peer from red_key k
			where k.node_id = any(nodes) and k.key_id = any(keys) and k.role in (1, 3, 4)),
		p as materialized (select row_number() over () as i, d.* from (select distinct k.node_id, k.role, k.peer from k) d),
		a as materialized (select p.role = 3 as asks, array_agg(p.i order by p.i) as i, array_agg(incident_ip(p.role, p.peer) order by p.i) as ips,
				array_agg(coalesce(case when p.role in (1, 4) then api.peer_port(p.peer) end, 0) order by p.i) as ports,
				array_agg(until order by p.i) as ats, array_agg(p.node_id order by p.i) as asking from p group by 1),
		r as materialized (select a.i[x.i] as i, x.node_id from a, api.resolve_all(a.ips, a.ports, a.ats, a.asking) x where not a.asks
			union all select a.i[x.i], x.node_id from a, api.resolve_from(a.ips, a.ports, a.ats, a.asking) x where a.asks)
		select k.node_id, k.key_id, r.node_id from k join p using (node_id, role, peer) join r using (i);
end $$;

revoke execute on all functions in schema public from public;
do $$ begin perform grant_web(); end $$;
