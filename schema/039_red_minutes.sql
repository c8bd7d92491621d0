-- SPDX-License-Identifier: Apache-2.0
-- 039_red_minutes.sql - who calls one application is read from few rows: counts by minute where ten minutes do not fit, names and
-- percentiles only of what is shown, and what came late only of the nodes that it is of.
--
-- A minute is closed and rolled up as ten minutes are (027), by collector/red_roll.c. Rows that come later say of which node they
-- are: only its counts are made anew, and meanwhile only they are read from red. Minutes are kept for six hours.

create table red_1m (
	ts          timestamptz not null,              -- when the minute began
	node_id     bigint not null,
	key_id      bigint not null,                   -- of roles 0 and 1
	status_class smallint not null,
	n           bigint not null,
	sum_us      bigint not null,
	slots       smallint[] not null,               -- as in red_10m
	counts      bigint[] not null
) partition by range (ts);
create index red_1m_by_key on red_1m (node_id, key_id, ts) include (n); -- what ranks edges is in the index
create index red_1m_by_time on red_1m (ts);

create table red_late_1m (                         -- as red_late, of minutes
	slot        timestamptz not null,
	node_id     bigint                             -- null: all nodes
);
alter table red_late add column node_id bigint;        -- null: all nodes
alter table red_closed                                 -- minutes, likewise
	add column since_1m timestamptz not null default date_bin('1 minute', now(), timestamptz 'epoch'),
	add column until_1m timestamptz not null default date_bin('1 minute', now(), timestamptz 'epoch');

create index red_10m_by_key_n on red_10m (node_id, key_id, ts) include (n);
drop index red_10m_by_key;
create index red_key_by_call on red_key (peer, node_id) where role = 1;
create index red_key_by_app_node on red_key (app, role, node_id);
drop index red_key_by_peer, red_key_by_app;

-- What a collector of before calls does what it did, and closes minutes, too. It says of ten minutes that something is late in
-- them, and not of whom.
alter function take_red(timestamptz[]) rename to take_red_slots;
alter function close_red() rename to close_red_slots;
alter function roll_red(timestamptz) rename to roll_red_slot;

create function take_red(times timestamptz[]) returns void language plpgsql as $$
begin
	perform take_red_slots(times);
	insert into red_late_1m (slot) select distinct m from unnest(times) t, red_closed c, generate_series(date_bin('10 minutes', t, timestamptz 'epoch'),
			date_bin('10 minutes', t, timestamptz 'epoch') + interval '9 minutes', interval '1 minute') m
		where m >= c.since_1m and m < c.until_1m;
end $$;

-- When and of which nodes rows were stored in this transaction.
create function take_red_of(times timestamptz[], nodes bigint[]) returns void language plpgsql as $$
begin
	perform take_red_slots('{}'); -- the lock
	insert into red_late (slot, node_id) select distinct date_bin('10 minutes', u.t, timestamptz 'epoch'), u.node from unnest(times, nodes) u(t, node), red_closed c
		where u.t >= c.since and u.t < c.until;
	insert into red_late_1m (slot, node_id) select distinct date_bin('1 minute', u.t, timestamptz 'epoch'), u.node from unnest(times, nodes) u(t, node), red_closed c
		where u.t >= c.since_1m and u.t < c.until_1m;
end $$;

create function close_red() returns void language plpgsql as $$
declare
	up_to timestamptz;
begin
	perform close_red_slots(); -- and the lock
	up_to := date_bin('1 minute', clock_timestamp() - interval '30 s', timestamptz 'epoch');
	update red_closed c set since_1m = k.since, until_1m = greatest(c.until_1m, k.since)
		from (select date_bin('1 hour', up_to - interval '6 hours', timestamptz 'epoch') as since) k where c.since_1m < k.since;
	delete from red_late_1m l using red_closed c where l.slot < c.since_1m;
	insert into red_late_1m (slot) select m from red_closed c, generate_series(c.until_1m, up_to - interval '1 minute', interval '1 minute') m;
	update red_closed set until_1m = up_to where until_1m < up_to;
end $$;

-- Later than they are taken for none, so that whoever still reads by an older since finds them.
create function drop_red_minutes() returns int language sql as $$
	select coalesce(sum(drop_part(c.oid::regclass)), 0)::int from pg_inherits i join pg_class c on c.oid = i.inhrelid
	where i.inhparent = 'red_1m'::regclass and c.relname < 'red_1m_' || to_char((now() - interval '8 hours') at time zone 'utc', 'YYYYMMDDHH24')
$$;

-- Of several collectors one rolls up at a time: each deletes what the other one wrote, if it sees it.
create function red_turn() returns boolean language sql as $$ select pg_try_advisory_xact_lock(126879331840373) $$;
create function roll_red(slot_at timestamptz) returns bigint language plpgsql as $$
begin
	perform pg_advisory_xact_lock(126879331840373);
	return roll_red_slot(slot_at);
end $$;

drop function api.red_rolled(timestamptz, timestamptz);
create or replace view api.red_closed as select since, until, since_1m, until_1m from red_closed;
create or replace view api.red_late as select slot, node_id from red_late;
create view api.red_late_1m as select slot, node_id from red_late_1m;
create view api.red_1m_row as select ts, node_id, key_id, status_class, n, sum_us, slots, counts from red_1m;

-- Where a range is read from: [from_at, head_from) from each row; [head_from, head_until) by minutes; from each row up to ten_from;
-- [ten_from, ten_until) by ten minutes; from each row up to tail_from; [tail_from, tail_until) by minutes; from each row up to to_at.
-- Nearly always there is nothing between minutes and ten minutes. tens, minutes: those of them that are late for all nodes; late:
-- some are, be it for one node.
create function api.red_tiles(from_at timestamptz, to_at timestamptz, out head_from timestamptz, out head_until timestamptz, out ten_from timestamptz,
	out ten_until timestamptz, out tail_from timestamptz, out tail_until timestamptz, out tens timestamptz[], out minutes timestamptz[], out late boolean)
language plpgsql stable parallel safe as $$
declare
	c record;
	almost_ten constant interval := '9 minutes 59.999999 s';
	almost_one constant interval := '59.999999 s';
begin
	select * into c from api.red_closed;
	ten_from := greatest(c.since, date_bin('10 minutes', from_at + almost_ten, timestamptz 'epoch'));
	ten_until := date_bin('10 minutes', least(c.until, to_at), timestamptz 'epoch');
	if ten_until <= ten_from then
		ten_from := to_at;
		ten_until := to_at;
	end if;
	head_from := greatest(c.since_1m, date_bin('1 minute', from_at + almost_one, timestamptz 'epoch'));
	head_until := date_bin('1 minute', least(c.until_1m, ten_from), timestamptz 'epoch');
	if head_until <= head_from then
		head_from := ten_from;
		head_until := ten_from;
	end if;
	tail_from := greatest(c.since_1m, date_bin('1 minute', ten_until + almost_one, timestamptz 'epoch'));
	tail_until := date_bin('1 minute', least(c.until_1m, to_at), timestamptz 'epoch');
	if tail_until <= tail_from then
		tail_from := to_at;
		tail_until := to_at;
	end if;
	select coalesce(array_agg(distinct l.slot) filter (where l.node_id is null), '{}'), count(*) > 0 into tens, late from api.red_late l where l.slot >= ten_from and l.slot < ten_until;
	select coalesce(array_agg(distinct l.slot) filter (where l.node_id is null), '{}'), count(*) > 0 or late into minutes, late from api.red_late_1m l
		where l.slot >= head_from and l.slot < head_until or l.slot >= tail_from and l.slot < tail_until;
end $$;

-- Of single nodes.
create function api.red_late_of(head_from timestamptz, head_until timestamptz, ten_from timestamptz, ten_until timestamptz, tail_from timestamptz, tail_until timestamptz)
returns table (node_id bigint, tens timestamptz[], minutes timestamptz[]) language sql stable parallel safe as $$
	select l.node_id, coalesce(array_agg(distinct l.slot) filter (where l.ten), '{}'), coalesce(array_agg(distinct l.slot) filter (where not l.ten), '{}') from (
		select t.node_id, t.slot, true as ten from api.red_late t where t.slot >= ten_from and t.slot < ten_until
		union all select m.node_id, m.slot, false from api.red_late_1m m where m.slot >= head_from and m.slot < head_until or m.slot >= tail_from and m.slot < tail_until) l
	where l.node_id is not null group by l.node_id
$$;

-- The counts of one key, of which these tens and minutes are late. It is put into the query that asks (so it is one SELECT without
-- settings), and what of it is empty is left out there. Each piece is found by its key and its time. What is late for all and for one
-- node is read once.
create function api.red_of(node bigint, key bigint, tens timestamptz[], minutes timestamptz[], late boolean, from_at timestamptz, head_from timestamptz, head_until timestamptz,
	ten_from timestamptz, ten_until timestamptz, tail_from timestamptz, tail_until timestamptz, to_at timestamptz)
returns table (status_class smallint, n bigint, sum_us bigint, slots smallint[], counts bigint[], lo smallint, b int4[]) language sql stable parallel safe as $$
	select r.status_class, r.n, r.sum_us, r.slots, r.counts, null::smallint, null::int4[] from api.red_10m_row r
		where ten_from < ten_until and r.node_id = node and r.key_id = key and r.ts >= ten_from and r.ts < ten_until and r.ts <> all (tens)
	union all select r.status_class, r.n, r.sum_us, r.slots, r.counts, null, null from api.red_1m_row r
		where head_from < head_until and r.node_id = node and r.key_id = key and r.ts >= head_from and r.ts < head_until and r.ts <> all (minutes)
	union all select r.status_class, r.n, r.sum_us, r.slots, r.counts, null, null from api.red_1m_row r
		where tail_from < tail_until and r.node_id = node and r.key_id = key and r.ts >= tail_from and r.ts < tail_until and r.ts <> all (minutes)
	union all select r.status_class, r.n, r.sum_us, null, null, r.lo, r.b from api.red_row r
		where from_at < head_from and r.node_id = node and r.key_id = key and r.ts >= from_at and r.ts < head_from
	union all select r.status_class, r.n, r.sum_us, null, null, r.lo, r.b from api.red_row r
		where head_until < ten_from and r.node_id = node and r.key_id = key and r.ts >= head_until and r.ts < ten_from
	union all select r.status_class, r.n, r.sum_us, null, null, r.lo, r.b from api.red_row r
		where ten_until < tail_from and r.node_id = node and r.key_id = key and r.ts >= ten_until and r.ts < tail_from
	union all select r.status_class, r.n, r.sum_us, null, null, r.lo, r.b from api.red_row r
		where tail_until < to_at and r.node_id = node and r.key_id = key and r.ts >= tail_until and r.ts < to_at
	union all select r.status_class, r.n, r.sum_us, null, null, r.lo, r.b
		from (select unnest(tens) as since, interval '10 minutes' as span union select unnest(minutes), interval '1 minute') p
		cross join lateral (select q.status_class, q.n, q.sum_us, q.lo, q.b from api.red_row q
			where q.node_id = node and q.key_id = key and q.ts >= p.since and q.ts < p.since + p.span and q.ts >= from_at and q.ts < to_at offset 0) r
		where late
$$;

-- Whose the addresses at the other end were, as resolve_all says, each for who asks. Who asks makes a difference only where the
-- address is its own: of many that call one server it is looked up once.
create function api.resolve_peers(nodes bigint[], peers text[], at timestamptz)
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

-- What the calls of an app, a node, a region, and those to it are counted by. Who is called is looked up only where it is not the
-- caller who was asked for.
create function api.edge_keys(from_at timestamptz, to_at timestamptz, of_region text, of_node text, of_app text)
returns table (node_id bigint, key_id bigint, app text, peer text) language plpgsql stable parallel safe
set plan_cache_mode = force_custom_plan set enable_mergejoin = off set jit = off as $$
#variable_conflict use_column
begin
	return query with
	mine as materialized (
		select k.node_id, k.key_id, k.app, k.peer from api.red_key k cross join lateral (select from api.node_key n where n.node_id = k.node_id offset 0) c
		where of_region is null and of_node is null and k.role = 1 and k.app = of_app
		union all select k.node_id, k.key_id, k.app, k.peer from api.red_key k join api.node_key c on c.node_id = k.node_id
		where (of_region is not null or of_node is not null) and k.role = 1 and (of_app is null or k.app = of_app)
		and (of_region is null or c.region = of_region) and (of_node is null or c.node = of_node)),
	listens as materialized (select distinct p.node_id, p.netns, p.addr, p.port from api.place p
		where p.kind_id in (2, 4) and (of_app is null or p.app = of_app) and (of_region is null or p.region = of_region) and (of_node is null or p.node = of_node)
		and p.since < to_at and (p.until is null or p.until > from_at)),
	served as materialized (
		select l.node_id, api.addr(l.addr, l.port) as peer, l.addr << inet '127.0.0.0/8' or l.addr = inet '::1' as home from listens l
		where l.addr not in (inet '0.0.0.0', inet '::')
		union select l.node_id, api.addr(a.addr, l.port), false from listens l cross join lateral (select o.addr from api.place o where o.node_id = l.node_id
				and o.netns = l.netns and o.kind_id in (1, 3) and family(l.addr) >= family(o.addr) and (o.until is null or o.until > from_at) offset 0) a
		where l.addr in (inet '0.0.0.0', inet '::')
		union select l.node_id, api.addr(a, l.port), true from listens l, unnest(array[inet '127.0.0.1', inet '::1']) a
		where l.addr in (inet '0.0.0.0', inet '::') and family(l.addr) >= family(a)),
	called as materialized (
		select k.* from (select distinct s.peer from served s where not s.home) s
			cross join lateral (select c.node_id, c.key_id, c.app, c.peer from api.red_key c where c.role = 1 and c.peer = s.peer offset 0) k
		union select k.* from served s
			cross join lateral (select c.node_id, c.key_id, c.app, c.peer from api.red_key c where c.role = 1 and c.peer = s.peer and c.node_id = s.node_id offset 0) k where s.home),
	others as materialized (select c.* from called c where (c.node_id, c.key_id) not in (select m.node_id, m.key_id from mine m)),
	known as materialized (select r.* from (select array_agg(o.node_id) as nodes, array_agg(o.peer) as peers from others o) a,
		api.resolve_peers(a.nodes, a.peers, least(to_at, now())) r)
	select m.* from mine m
	union all select o.* from others o join known r on r.asking = o.node_id and r.peer = o.peer
		cross join lateral (select n.region, n.node from api.node_key n where n.node_id = r.node_id offset 0) c
		where (of_app is null or r.app = of_app) and (of_region is null or c.region = of_region) and (of_node is null or c.node = of_node);
end $$;

-- All edges of a range by how many calls they had: how many there are, and the most frequent ones.
create function api.edges_of_all(from_at timestamptz, to_at timestamptz, most int, out edges bigint, out nodes bigint[], out apps text[], out peers text[])
language plpgsql stable parallel safe set plan_cache_mode = force_custom_plan set enable_mergejoin = off set jit = off as $$
declare
	tile record;
begin
	select * into tile from api.red_tiles(from_at, to_at);
	with late as materialized (select * from api.red_late_of(tile.head_from, tile.head_until, tile.ten_from, tile.ten_until, tile.tail_from, tile.tail_until)),
	late_slot as materialized (select l.node_id, unnest(l.tens) as slot, interval '10 minutes' as span from late l union all select l.node_id, unnest(l.minutes), interval '1 minute' from late l),
	counted as (
		select r.node_id, r.key_id, r.n from api.red_10m_row r where r.ts >= tile.ten_from and r.ts < tile.ten_until and r.ts <> all (tile.tens)
			and (not tile.late or (r.node_id, r.ts) not in (select l.node_id, l.slot from late_slot l where l.span = interval '10 minutes'))
		union all select r.node_id, r.key_id, r.n from api.red_1m_row r
			where (r.ts >= tile.head_from and r.ts < tile.head_until or r.ts >= tile.tail_from and r.ts < tile.tail_until) and r.ts <> all (tile.minutes)
			and (not tile.late or (r.node_id, r.ts) not in (select l.node_id, l.slot from late_slot l where l.span = interval '1 minute'))
		union all select r.node_id, r.key_id, r.n from api.red_row r where r.ts >= from_at and r.ts < tile.head_from
		union all select r.node_id, r.key_id, r.n from api.red_row r where r.ts >= tile.head_until and r.ts < tile.ten_from
		union all select r.node_id, r.key_id, r.n from api.red_row r where r.ts >= tile.ten_until and r.ts < tile.tail_from
		union all select r.node_id, r.key_id, r.n from api.red_row r where r.ts >= tile.tail_until and r.ts < to_at
		union all select r.node_id, r.key_id, r.n from unnest(tile.tens) t cross join lateral (select q.node_id, q.key_id, q.n from api.red_row q where q.ts >= t and q.ts < t + interval '10 minutes' offset 0) r
		union all select r.node_id, r.key_id, r.n from unnest(tile.minutes) t cross join lateral (select q.node_id, q.key_id, q.n from api.red_row q where q.ts >= t and q.ts < t + interval '1 minute' offset 0) r
		union all select r.node_id, r.key_id, r.n from late_slot l cross join lateral (select q.node_id, q.key_id, q.n from api.red_row q
			where q.node_id = l.node_id and q.ts >= l.slot and q.ts < l.slot + l.span offset 0) r
			where l.slot <> all (case l.span when interval '1 minute' then tile.minutes else tile.tens end)),
	ranked as materialized (select k.node_id, k.app, k.peer, sum(r.n) as n from api.red_key k join counted r using (node_id, key_id)
		where k.role = 1 and (k.node_id in (select c.node_id from api.node_key c)) is true group by 1, 2, 3), -- no join: there would be one for each row
	shown as (select k.*, row_number() over (order by k.n desc, k.node_id, k.app, k.peer) as place from ranked k order by place limit most)
	select (select count(*) from ranked), array_agg(s.node_id order by s.place), array_agg(s.app order by s.place), array_agg(s.peer order by s.place)
		into edges, nodes, apps, peers from shown s;
end $$;

-- The same of an app, a node, a region: each key is looked up.
create function api.edges_of(from_at timestamptz, to_at timestamptz, of_region text, of_node text, of_app text, most int, out edges bigint, out nodes bigint[], out apps text[], out peers text[])
language plpgsql stable parallel safe set plan_cache_mode = force_custom_plan set enable_mergejoin = off set jit = off as $$
declare
	tile record;
begin
	select * into tile from api.red_tiles(from_at, to_at);
	with x as materialized (select k.*, tile.tens || coalesce(l.tens, '{}') as tens, tile.minutes || coalesce(l.minutes, '{}') as minutes
		from api.edge_keys(from_at, to_at, of_region, of_node, of_app) k
		left join api.red_late_of(tile.head_from, tile.head_until, tile.ten_from, tile.ten_until, tile.tail_from, tile.tail_until) l on l.node_id = k.node_id order by k.node_id, k.key_id),
	ranked as materialized (select x.node_id, x.app, x.peer, sum(c.n) as n from x cross join lateral (select sum(r.n) as n
			from api.red_of(x.node_id, x.key_id, x.tens, x.minutes, tile.late, from_at, tile.head_from, tile.head_until, tile.ten_from, tile.ten_until, tile.tail_from, tile.tail_until, to_at) r) c
		where c.n is not null group by 1, 2, 3),
	shown as (select k.*, row_number() over (order by k.n desc, k.node_id, k.app, k.peer) as place from ranked k order by place limit most)
	select (select count(*) from ranked), array_agg(s.node_id order by s.place), array_agg(s.app order by s.place), array_agg(s.peer order by s.place)
		into edges, nodes, apps, peers from shown s;
end $$;

-- As in 027: the edges of an app, a node, a region, or all, the most frequent first. Which these are is found first, and only of
-- them what is read of many rows or of other tables.
create or replace function api.topology(from_at timestamptz, to_at timestamptz, of_region text, of_node text, of_app text, most int)
returns json language plpgsql stable parallel safe set plan_cache_mode = force_custom_plan set enable_mergejoin = off set enable_sort = off set jit = off as $$
declare
	tile record;
	most_called record;
begin
	select * into tile from api.red_tiles(from_at, to_at);
	if coalesce(of_region, of_node, of_app) is null then
		select * into most_called from api.edges_of_all(from_at, to_at, most);
	else
		select * into most_called from api.edges_of(from_at, to_at, of_region, of_node, of_app, most);
	end if;
	return (with
	call as materialized (select u.* from unnest(most_called.nodes, most_called.apps, most_called.peers) with ordinality u(node_id, app, peer, e)),
	edge as materialized (
		select c.e, c.node_id, c.app, c.peer, case when c.peer like 'unix:%' then c.node_id else r.node_id end as to_node, r.app as to_app,
			case when c.peer like 'unix:%' then 'unix' else coalesce(r.how, 'external') end as how
		from call c left join api.resolve_peers(most_called.nodes, most_called.peers, least(to_at, now())) r on r.asking = c.node_id and r.peer = c.peer),
	callee as materialized (select row_number() over () as s, g.to_node, g.to_app from edge g where g.to_app is not null group by g.to_node, g.to_app),
	key as materialized ( -- s: an edge's number, a callee's below 0
		select c.e as s, k.node_id, k.key_id from call c cross join lateral (select q.node_id, q.key_id from api.red_key q
			where q.role = 1 and q.peer = c.peer and q.node_id = c.node_id and q.app = c.app offset 0) k
		union all select -c.s, k.node_id, k.key_id from callee c cross join lateral (select q.node_id, q.key_id from api.red_key q
			where q.role = 0 and q.app = c.to_app and q.node_id = c.to_node offset 0) k),
	series as materialized (select k.*, tile.tens || coalesce(l.tens, '{}') as tens, tile.minutes || coalesce(l.minutes, '{}') as minutes from key k
		left join api.red_late_of(tile.head_from, tile.head_until, tile.ten_from, tile.ten_until, tile.tail_from, tile.tail_until) l on l.node_id = k.node_id order by k.node_id, k.key_id),
	d as materialized (select x.s, r.* from series x cross join lateral api.red_of(x.node_id, x.key_id, x.tens, x.minutes, tile.late, from_at, tile.head_from, tile.head_until,
		tile.ten_from, tile.ten_until, tile.tail_from, tile.tail_until, to_at) r),
	whole as (select d.s, sum(d.n) as n, sum(d.sum_us) as us, coalesce(sum(d.n) filter (where d.status_class in (0, 5)), 0) as errors from d group by 1),
	slot as (select v.s, v.slot::float8 as slot, sum(v.c) as c from (select d.s, unnest(d.slots)::int as slot, unnest(d.counts) as c from d
			union all select d.s, d.lo + generate_subscripts(d.b, 1) - 1, unnest(d.b) from d) v
		where v.c > 0 and v.slot between 0 and 62 group by 1, 2),
	run as (select *, sum(c) over w as upto, sum(c) over (partition by s) as all_c, case slot when 0 then 0 else 2 ^ (slot - 1) end as low
		from slot window w as (partition by s order by slot)),
	mark as (select s, max(2 ^ slot) as most_us,
		min(low + (2 ^ slot - low) * greatest(0, 0.50 * all_c - (upto - c)) / c) filter (where upto >= 0.50 * all_c) as p50,
		min(low + (2 ^ slot - low) * greatest(0, 0.99 * all_c - (upto - c)) / c) filter (where upto >= 0.99 * all_c) as p99 from run group by 1),
	both_of as (select s, n, us, errors, null::float8 as p50, null::float8 as p99, null::float8 as most_us from whole
		union all select s, null, null, null, p50, p99, most_us from mark), -- no join: nobody could tell the planner how many there are
	figure as materialized (select t.s, json_build_object('count', max(t.n), 'rate', round(max(t.n) / greatest(extract(epoch from least(to_at, now()) - from_at), 1), 3),
		'errors', max(t.errors), 'errorRatio', round(max(t.errors) / nullif(max(t.n), 0), 5), 'mean', api.ms(round(max(t.us) / nullif(max(t.n), 0))),
		'p50', api.ms(round(max(t.p50)::numeric)), 'p99', api.ms(round(max(t.p99)::numeric)), 'max', api.ms(round(max(t.most_us)::numeric))) as body
		from both_of t group by t.s)
	select json_build_object(
		'total', most_called.edges,
		'edges', (select coalesce(json_agg(json_build_object(
			'from', json_build_object('node', a.node, 'app', x.app),
			'to', json_build_object('node', b.node, 'app', x.to_app, 'addr', x.peer, 'how', x.how),
			'protocol', 'http', 'calls', f.body, 'served', v.body) order by x.e), '[]')
			from edge x join figure f on f.s = x.e
			cross join lateral (select n.node from api.node_key n where n.node_id = x.node_id offset 0) a
			left join lateral (select n.node from api.node_key n where n.node_id = x.to_node offset 0) b on true
			left join callee c on c.to_node = x.to_node and c.to_app = x.to_app left join figure v on v.s = -c.s)));
end $$;

revoke execute on all functions in schema public from public;
do $$ begin perform grant_web(); end $$;
