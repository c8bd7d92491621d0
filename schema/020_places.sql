-- SPDX-License-Identifier: Apache-2.0
-- 020_places.sql - whose an address is: what the probes tell of the addresses and listeners of their nodes, with history.

create table place (
	node_id     bigint not null,
	addr        inet not null,
	port        int not null,                      -- 0: any
	kind        smallint not null,                 -- lib/item.h, enum place_kind
	netns       bigint not null,                   -- 0: the node's own network namespace
	app         text not null,                     -- who listens; '': nobody, or not known
	since       timestamptz not null,              -- when it was first told so
	until       timestamptz                        -- null: it is so
);
create index place_by_addr on place (addr, node_id, port);
create index place_by_node on place (node_id, netns, kind, port);

create table place_told (                          -- of each node: when all its places were told last
	node_id     bigint primary key,
	ts          timestamptz not null,
	places      int not null,
	left_out    int not null                       -- so many more than a probe may tell
);

-- What was told of each place last.
create function place_rows(kinds smallint[], addrs inet[], ports bigint[], apps text[], nets bigint[], gone smallint[])
returns table (kind smallint, addr inet, port int, app text, netns bigint, gone bool) language sql immutable as $$
	select distinct on (u.kind, u.netns, u.addr, u.port) u.kind, u.addr, u.port::int, u.app, u.netns, u.gone = 1
	from unnest(kinds, addrs, ports, apps, nets, gone) with ordinality u(kind, addr, port, app, netns, gone, i)
	order by u.kind, u.netns, u.addr, u.port, u.i desc
$$;

-- What a probe told at a time: all its places, or those that have changed. Of what it has no more than 4,096 are kept, of
-- what it had the last 16,384.
create function take_places(node bigint, at timestamptz, whole bool, more int, kinds smallint[], addrs inet[], ports bigint[],
	apps text[], nets bigint[], gone smallint[]) returns void language plpgsql as $$
declare
	had int;
begin
	update place p set until = greatest(at, p.since) where p.node_id = node and p.until is null
		and (whole or (p.kind, p.netns, p.addr, p.port) in (select t.kind, t.netns, t.addr, t.port from place_rows(kinds, addrs, ports, apps, nets, gone) t))
		and (p.kind, p.netns, p.addr, p.port, p.app) not in (
			select t.kind, t.netns, t.addr, t.port, t.app from place_rows(kinds, addrs, ports, apps, nets, gone) t where not t.gone);
	select count(*) into had from place p where p.node_id = node and p.until is null;
	insert into place select node, t.addr, t.port, t.kind, t.netns, t.app, at from place_rows(kinds, addrs, ports, apps, nets, gone) t
		where not t.gone and (t.kind, t.netns, t.addr, t.port) not in (
			select p.kind, p.netns, p.addr, p.port from place p where p.node_id = node and p.until is null)
		limit greatest(0, 4096 - had);
	if whole then
		insert into place_told values (node, at, cardinality(kinds), more)
			on conflict (node_id) do update set ts = excluded.ts, places = excluded.places, left_out = excluded.left_out;
		delete from place p where p.node_id = node and p.until < (select o.until from place o
			where o.node_id = node and o.until is not null order by o.until desc offset 16384 limit 1);
	end if;
end $$;

create view api.place as
select p.node_id, n.name as node, coalesce(g.name, '') as region, (array['address', 'listener', 'container', 'forward'])[p.kind] as kind,
	p.kind as kind_id, p.addr, p.port, p.netns, p.app, p.since, p.until, n.last_seen as heard
from place p join node n using (node_id) left join region g using (region_id);

create view api.place_told as
select t.node_id, n.name as node, t.ts, t.places, t.left_out from place_told t join node n using (node_id);

-- Whose these addresses were, each at its time, for whoever asks. No row: nobody's, they are external. 'ambiguous': several
-- nodes claim it, and which is meant cannot be told, so node_id is null. Else how is 'listener', and app says who listens,
-- or 'address': the node is known, but nobody was told to listen there.
--
-- What is in front beats what is behind:
--   1. Loopback is the asking node, and nothing without one. So is any address that the asking node itself has: the kernel
--      delivers that at home, whoever else has it (172.17.0.1 of docker, a virtual IP on lo).
--   2. Of several a node that was silent for ten minutes at that time does not count: its address may have moved.
--   3. Who listens at that very address and port; then at all addresses of a network namespace that has the address, those
--      of the same family first; then who has the address.
--   4. What had been told by then; then what was told within the next half minute, as probes look every ten seconds.
create function api.resolve_all(addrs inet[], ports int[], ats timestamptz[], asking bigint[])
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

-- The same of one address.
create function resolve(addr inet, port int, at timestamptz, asking bigint default null)
returns table (node_id bigint, app text, kind text) language sql stable as $$
	select r.node_id, r.app, r.how from api.resolve_all(array[addr], array[port], array[at], array[asking]) r
$$;

-- "10.0.0.1:80" and "[::1]:80"; null: it is no address, as "unix:/run/app.sock". Without an exception to
-- catch, as that is a subtransaction, which a query of several processes cannot begin.
create function api.peer_ip(peer text) returns inet language plpgsql immutable parallel safe as $$
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

create function api.peer_port(peer text) returns int language sql immutable parallel safe as
	$$ select substring(peer from ':(\d{1,5})$')::int $$;

revoke execute on function place_rows(smallint[], inet[], bigint[], text[], bigint[], smallint[]),
	take_places(bigint, timestamptz, bool, int, smallint[], inet[], bigint[], text[], bigint[], smallint[]) from public;
do $$ begin perform grant_web(); end $$;
