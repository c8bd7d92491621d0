-- SPDX-License-Identifier: Apache-2.0
-- red_roll.sql - api.topology as it would be without counts of ten minutes: it reads each row. What the real one says must be the same.
create function api.topology_by_rows(from_at timestamptz, to_at timestamptz, of_region text, of_node text, of_app text, most int)
returns json language plpgsql stable parallel safe set plan_cache_mode = force_custom_plan set enable_mergejoin = off as $$
begin
	return (with
	chosen as materialized (select k.node_id from api.node_key k where (of_region is null or k.region = of_region) and (of_node is null or k.node = of_node)),
	listens as materialized (
		select distinct p.node_id, p.netns, p.addr, p.port from api.place p join chosen using (node_id)
		where coalesce(of_region, of_node, of_app) is not null and p.kind_id in (2, 4) and (of_app is null or p.app = of_app)
		and p.since < to_at and (p.until is null or p.until > from_at)),
	served as materialized (
		select l.node_id, api.addr(l.addr, l.port) as peer, l.addr << inet '127.0.0.0/8' or l.addr = inet '::1' as home from listens l
		where l.addr not in (inet '0.0.0.0', inet '::')
		union select l.node_id, api.addr(a.addr, l.port), false from listens l join api.place a on a.node_id = l.node_id and a.netns = l.netns
		where l.addr in (inet '0.0.0.0', inet '::') and a.kind_id in (1, 3) and family(l.addr) >= family(a.addr) and (a.until is null or a.until > from_at)
		union select l.node_id, api.addr(a, l.port), true from listens l, unnest(array[inet '127.0.0.1', inet '::1']) a
		where l.addr in (inet '0.0.0.0', inet '::') and family(l.addr) >= family(a)),
	keys as materialized (
		select k.node_id, k.key_id, k.app, k.peer from api.red_key k join chosen using (node_id) where k.role = 1 and (of_app is null or k.app = of_app)
		union select k.node_id, k.key_id, k.app, k.peer from served s join api.red_key k on k.role = 1 and k.peer = s.peer
		where not s.home or k.node_id = s.node_id),
	call as materialized (select row_number() over (order by node_id, app, peer) as e, k.node_id, k.app, k.peer from keys k group by k.node_id, k.app, k.peer),
	asked as (select array_agg(api.peer_ip(c.peer) order by e) as addrs, array_agg(api.peer_port(c.peer) order by e) as ports,
		array_agg(least(to_at, now()) order by e) as ats, array_agg(c.node_id order by e) as asking from call c),
	known as materialized (select r.* from asked a, api.resolve_all(a.addrs, a.ports, a.ats, a.asking) r where a.addrs is not null),
	edge as materialized (
		select c.e, c.node_id, c.app, c.peer, case when c.peer like 'unix:%' then c.node_id else r.node_id end as to_node, r.app as to_app,
			case when c.peer like 'unix:%' then 'unix' else coalesce(r.how, 'external') end as how
		from call c left join known r on r.i = c.e
		where (of_app is null or c.app = of_app) and c.node_id in (select node_id from chosen)
			or (of_app is null or r.app = of_app) and r.node_id in (select node_id from chosen)),
	callee as materialized (select row_number() over () as s, to_node, to_app from edge where to_app is not null group by to_node, to_app),
	series as (
		select 'e' as kind, g.e as s, k.node_id, k.key_id from edge g join keys k using (node_id, app, peer)
		union all select 's', c.s, k.node_id, k.key_id from callee c join api.red_key k on k.node_id = c.to_node and k.app = c.to_app and k.role = 0),
	d as materialized (
		select x.kind, x.s, r.status_class, r.n, r.sum_us, r.lo, r.b from series x
		join api.red_row r on r.node_id = x.node_id and r.key_id = x.key_id where r.ts >= from_at and r.ts < to_at),
	total as (select kind, s, sum(n) as n, sum(sum_us) as us, coalesce(sum(n) filter (where status_class in (0, 5)), 0) as errors from d group by 1, 2),
	slot as (select kind, s, (lo + i - 1)::float8 as slot, sum(c) as c from d, unnest(b) with ordinality u(c, i)
		where c > 0 and lo + i - 1 between 0 and 62 group by 1, 2, 3),
	run as (select *, sum(c) over w as upto, sum(c) over (partition by kind, s) as whole, case slot when 0 then 0 else 2 ^ (slot - 1) end as low
		from slot window w as (partition by kind, s order by slot)),
	mark as (select kind, s, max(2 ^ slot) as most_us,
		min(low + (2 ^ slot - low) * greatest(0, 0.50 * whole - (upto - c)) / c) filter (where upto >= 0.50 * whole) as p50,
		min(low + (2 ^ slot - low) * greatest(0, 0.99 * whole - (upto - c)) / c) filter (where upto >= 0.99 * whole) as p99 from run group by 1, 2),
	every as (select kind, s, n, us, errors, null::float8 as p50, null::float8 as p99, null::float8 as most_us from total
		union all select kind, s, null, null, null, p50, p99, most_us from mark), -- no join: the planner could not know how many there are
	figure as materialized (select t.kind, t.s, max(t.n) as n, json_build_object('count', max(t.n), 'rate', round(max(t.n) / greatest(extract(epoch from least(to_at, now()) - from_at), 1), 3),
		'errors', max(t.errors), 'errorRatio', round(max(t.errors) / nullif(max(t.n), 0), 5), 'mean', api.ms(round(max(t.us) / nullif(max(t.n), 0))),
		'p50', api.ms(round(max(t.p50)::numeric)), 'p99', api.ms(round(max(t.p99)::numeric)), 'max', api.ms(round(max(t.most_us)::numeric))) as body
		from every t group by t.kind, t.s),
	shown as materialized (
		select g.*, f.n, f.body, row_number() over (order by f.n desc, g.e) as place from edge g join figure f on f.kind = 'e' and f.s = g.e)
	select json_build_object(
		'total', (select count(*) from shown),
		'edges', (select coalesce(json_agg(json_build_object(
			'from', json_build_object('node', a.node, 'app', x.app),
			'to', json_build_object('node', b.node, 'app', x.to_app, 'addr', x.peer, 'how', x.how),
			'protocol', 'http', 'calls', x.body, 'served', v.body) order by x.place), '[]')
			from shown x join api.node_key a on a.node_id = x.node_id left join api.node_key b on b.node_id = x.to_node
			left join callee c on c.to_node = x.to_node and c.to_app = x.to_app left join figure v on v.kind = 's' and v.s = c.s
			where x.place <= most)));
end $$;
