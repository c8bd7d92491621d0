-- SPDX-License-Identifier: Apache-2.0
-- Edges: which app calls which.

-- The keys that count the calls of an app, a node or a region, and the calls to it. The callee is looked up only where the
-- caller does not match.
create or replace function api.edge_keys(from_at timestamptz, to_at timestamptz, of_region text, of_node text, of_app text)
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

-- All edges of a range by number of calls: how many there are, and the most frequent ones.
create or replace function api.edges_of_all(from_at timestamptz, to_at timestamptz, most int, out edges bigint, out nodes bigint[], out apps text[], out peers text[])
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

-- The same for an app, a node or a region: each key is looked up.
create or replace function api.edges_of(from_at timestamptz, to_at timestamptz, of_region text, of_node text, of_app text, most int, out edges bigint, out nodes bigint[], out apps text[], out peers text[])
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

-- The edges of an app, a node, a region, or all, most frequent first: each caller (node and app), what it called, the caller's
-- figures, and the callee's figures for everything that it served. Addresses are resolved as of the end of the range. Percentiles
-- are estimated within slots that double, as in /api/v1/red. The edges to show are found first, and only these are joined with
-- other tables.
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
		union all select s, null, null, null, p50, p99, most_us from mark), -- no join: the planner cannot estimate the rows
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
