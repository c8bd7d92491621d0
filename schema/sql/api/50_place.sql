-- SPDX-License-Identifier: Apache-2.0
-- The owners of addresses.

create or replace view api.place as
select p.node_id, n.name as node, coalesce(g.name, '') as region, (array['address', 'listener', 'container', 'forward'])[p.kind] as kind,
	p.kind as kind_id, p.addr, p.port, p.netns, p.app, p.since, p.until, n.last_seen as heard
from place p join node n using (node_id) left join region g using (region_id);

create or replace view api.place_told as
select t.node_id, n.name as node, t.ts, t.places, t.left_out from place_told t join node n using (node_id);

create or replace view api.nat as
select w.node_id, w.kind, w.seen, w.seen_port, w.behind, w.behind_port, w.since, w.until, n.last_seen as heard from nat w join node n using (node_id);

-- The address in "10.0.0.1:80" or "[::1]:80"; null for anything else, such as "unix:/run/app.sock". No exception is caught: that
-- is a subtransaction, which a parallel query cannot begin.
create or replace function api.peer_ip(peer text) returns inet language plpgsql immutable parallel safe as $$
declare
	v6 text;
begin
	if peer ~ '^((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d):\d+$' then
		return split_part(peer, ':', 1)::inet;
	end if;
	v6 := substring(peer from '^\[([0-9a-f:]+)\]:\d+$');
	return case when v6 ~ '^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$' or v6 ~ '^([0-9a-f]{1,4}(:[0-9a-f]{1,4})*)?::([0-9a-f]{1,4}(:[0-9a-f]{1,4})*)?$'
		and cardinality(string_to_array(v6, ':')) <= 8 then v6::inet end;
end $$;

create or replace function api.peer_port(peer text) returns int language sql immutable parallel safe as
	$$ select substring(peer from ':(\d{1,5})$')::int $$;

-- Where calls to an address were translated to, and by which node: the asking node itself, else a node that has the address
-- (rank 2), else any node. A translation is reported up to a minute after the first connection; a silent node reports nothing.
create or replace function api.led_to(the_addr inet, the_port int, at timestamptz, asks bigint)
returns table (teller bigint, behind inet, behind_port int, rank int) language sql stable parallel safe as $$
	with w as materialized (select n.node_id, n.behind, n.behind_port, case when n.node_id = asks then 3 when exists (select from api.place p where p.node_id = n.node_id
				and p.addr = the_addr and p.since <= at + interval '30 s' and (p.until is null or p.until > at)) then 2 else 1 end as rank
			from api.nat n where n.kind = 1 and n.seen = the_addr and n.seen_port = the_port and n.since <= at + interval '60 s' and (n.until is null or n.until > at)
				and n.heard >= at - interval '10 minutes' and (n.node_id = asks or not (the_addr << inet '127.0.0.0/8' or the_addr = inet '::1')))
	select distinct w.node_id, w.behind, w.behind_port, w.rank from w where w.rank = (select max(v.rank) from w v)
$$;

-- The owner of each address at its time, as seen by the asking node. No row: the address is external. 'ambiguous': several
-- nodes claim it, and node_id is null. Else `how` is 'listener', and app is the listening app; or 'address': the node is known,
-- but no app was reported to listen there.
--
-- In order of precedence:
--   1. Loopback is the asking node, and unknown without one. So is any address that the asking node itself has: the kernel
--      delivers it locally, whichever other node has it (docker's 172.17.0.1, a virtual IP on lo).
--   2. A node that was silent for ten minutes at that time loses against others: its address may have moved.
--   3. A listener on that address and port; then a listener on all addresses in a network namespace that has the address, same
--      family first; then the node that has the address.
--   4. What was reported by then; then what was reported within the next half minute, as probes look every ten seconds.
create or replace function api.resolve_here(addrs inet[], ports int[], ats timestamptz[], asking bigint[])
returns table (i bigint, node_id bigint, app text, how text) language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	return query
	with q as materialized (
		select u.i, u.addr, u.port, u.at, u.at + interval '30 s' as soon, u.asks, u.addr << inet '127.0.0.0/8' or u.addr = inet '::1' as home
		from unnest(addrs, ports, ats, asking) with ordinality u(addr, port, at, asks, i) where u.addr is not null),
	own as materialized (
		select q.*, p.netns, p.kind_id, p.port as place_port, p.app, p.since > q.at as late from q
		join api.place p on p.node_id = q.asks and p.addr = q.addr and p.since <= q.soon and (p.until is null or p.until > q.at)
		where not q.home),
	claim as materialized (
		select o.i, o.addr, o.port, o.at, o.soon, o.asks as node_id, o.netns, o.kind_id, o.place_port, o.app, o.late, false as silent from own o
		union all select q.i, q.addr, q.port, q.at, q.soon, p.node_id, p.netns, p.kind_id, p.port, p.app, p.since > q.at, p.heard < q.at - interval '10 minutes'
		from q join api.place p on p.addr = q.addr and p.since <= q.soon and (p.until is null or p.until > q.at)
		where not q.home and q.i not in (select o.i from own o)),
	at_all as (
		select distinct c.i, c.node_id, c.silent, p.app, p.since > c.at as late, family(p.addr) = family(c.addr) as same
		from (select distinct c.i, c.addr, c.port, c.at, c.soon, c.node_id, c.netns, c.silent from claim c) c
		join api.place p on p.node_id = c.node_id and p.netns = c.netns and p.kind_id in (2, 4) and p.port = c.port
		where p.addr in (inet '0.0.0.0', inet '::') and family(p.addr) >= family(c.addr) and p.since <= c.soon and (p.until is null or p.until > c.at)),
	candidate as (
		select c.i, c.node_id, c.app, c.silent, c.late, 4 as rank from claim c where c.kind_id in (2, 4) and c.place_port = c.port
		union all select a.i, a.node_id, a.app, a.silent, a.late, case when a.same then 3 else 2 end from at_all a
		union all select c.i, c.node_id, '', c.silent, c.late, 1 from claim c where c.kind_id in (1, 3)
		union all select q.i, q.asks, '', false, false, 1 from q where q.home and q.asks is not null
		union all select q.i, p.node_id, p.app, false, p.since > q.at, case when p.addr = q.addr then 4 when family(p.addr) = family(q.addr) then 3 else 2 end
		from q join api.place p on p.node_id = q.asks and p.kind_id in (2, 4) and p.port = q.port
		where q.home and p.addr in (q.addr, inet '0.0.0.0', inet '::') and p.since <= q.soon and (p.until is null or p.until > q.at)),
	best as (
		select c.*, rank() over (partition by c.i order by c.silent, c.rank desc, c.late) as place from candidate c)
	select b.i, case when min(b.node_id) = max(b.node_id) then min(b.node_id) end,
		case when min(b.node_id) = max(b.node_id) and min(b.app) = max(b.app) then nullif(min(b.app), '') end,
		case when min(b.node_id) <> max(b.node_id) then 'ambiguous' when max(b.rank) > 1 then 'listener' else 'address' end
	from best b where b.place = 1 group by b.i;
end $$;

-- The same for any address, through the translations (NAT) in front of its owner.
create or replace function api.resolve_all(addrs inet[], ports int[], ats timestamptz[], asking bigint[])
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

-- The owners of peer addresses, as in resolve_all, each for its asking node. The asking node matters only where it has the
-- address itself, so the address of one server with many clients is looked up once.
create or replace function api.resolve_peers(nodes bigint[], peers text[], at timestamptz)
returns table (asking bigint, peer text, node_id bigint, app text, how text) language plpgsql stable parallel safe
set plan_cache_mode = force_custom_plan set enable_mergejoin = off as $$
#variable_conflict use_column
begin
	return query with
	q as materialized (select distinct u.node_id, u.peer from unnest(nodes, peers) u(node_id, peer)),
	p as materialized (select d.peer, api.peer_ip(d.peer) as ip, api.peer_port(d.peer) as port from (select distinct q.peer from q) d),
	owner as materialized (select distinct d.ip, o.node_id from (select distinct p.ip from p where p.ip is not null) d
		cross join lateral (select l.node_id from api.place l where l.addr = d.ip offset 0) o),
	named as materialized (select q.node_id, q.peer, p.ip, p.port,
			case when p.ip << inet '127.0.0.0/8' or p.ip = inet '::1' or o.node_id is not null then q.node_id end as asks
		from q join p on p.peer = q.peer left join owner o on o.ip = p.ip and o.node_id = q.node_id where p.ip is not null),
	numbered as materialized (select n.*, dense_rank() over (order by n.ip, n.port, n.asks) as i from named n),
	known as materialized (select r.* from (select array_agg(o.ip order by o.i) as ips, array_agg(o.port order by o.i) as ports, array_agg(at order by o.i) as ats,
			array_agg(o.asks order by o.i) as asks from (select distinct n.i, n.ip, n.port, n.asks from numbered n) o) a,
		api.resolve_all(a.ips, a.ports, a.ats, a.asks) r where a.ips is not null)
	select n.node_id, n.peer, r.node_id, r.app, r.how from numbered n join known r on r.i = n.i;
end $$;

-- {"node", "app", "how"} of an address: how is listener, address, unix, ambiguous or external.
create or replace function api.place_text(node text, app text, how text) returns text language sql stable parallel safe as
	$$ select concat('{"node":', api.json_text(node), ',"app":', api.json_text(app), ',"how":"', how, '"}') $$;

-- Request bodies as in api.bodies, with the names of both ends at the time of the request.
create or replace function api.named_bodies(times timestamptz[], numbers bigint[], since timestamptz, until timestamptz)
returns table (i bigint, id text, body text) language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	return query
	with k as materialized (
		select u.i, r.id, r.body::text as body, q.ts, q.node_id, q.client, q.remote, q.upstream
		from unnest(times, numbers) with ordinality u(ts, request_id, i)
		join api.request r on r.ts = u.ts and r.request_id = u.request_id
		join api.request_key q on q.ts = u.ts and q.request_id = u.request_id
		where r.ts >= since and r.ts < until and q.ts >= since and q.ts < until),
	ends as materialized (
		select 2 * k.i as e, k.client as addr, api.peer_port(k.remote) as port, k.ts, k.node_id from k where k.client is not null
		union all select 2 * k.i + 1, api.peer_ip(k.upstream), api.peer_port(k.upstream), k.ts, k.node_id from k where k.upstream <> ''),
	asked as (select array_agg(e order by e) as e, array_agg(addr order by e) as addrs, array_agg(port order by e) as ports,
		array_agg(ts order by e) as ats, array_agg(node_id order by e) as asking from ends),
	resolved as materialized (
		select a.e[r.i] as e, api.place_text(n.node, r.app, r.how) as place
		from asked a, api.resolve_all(a.addrs, a.ports, a.ats, a.asking) r left join api.node_key n on n.node_id = r.node_id)
	select k.i, k.id, concat(left(k.body, -1), ',"remotePlace":',
			case when k.client is null then 'null' else coalesce((select place from resolved where e = 2 * k.i), '{"node":null,"app":null,"how":"external"}') end,
			',"upstreamPlace":', case when k.upstream = '' then 'null'
				when k.upstream like 'unix:%' then (select api.place_text(n.node, null, 'unix') from api.node_key n where n.node_id = k.node_id)
				else coalesce((select place from resolved where e = 2 * k.i + 1), '{"node":null,"app":null,"how":"external"}') end, '}')
	from k;
end $$;

-- The same for one address.
create or replace function resolve(addr inet, port int, at timestamptz, asking bigint default null)
returns table (node_id bigint, app text, kind text) language sql stable as $$
	select r.node_id, r.app, r.how from api.resolve_all(array[addr], array[port], array[at], array[asking]) r
$$;
