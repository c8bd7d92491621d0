-- SPDX-License-Identifier: Apache-2.0
-- 027_red_rollup.sql - calls by ten minutes: who calls whom is read from these, and only what is not in them yet from red.
--
-- A slot of ten minutes that is over is closed, and then rolled up, by collector/red_roll.c. Rows that come later for a closed
-- slot say so in red_late, in the transaction that stores them (take_red), and the slot is read from red until it was rolled up
-- anew: what is told is told of every row at any moment.

create table red_10m (
	ts          timestamptz not null,              -- when the ten minutes began
	node_id     bigint not null,
	key_id      bigint not null,                   -- of roles 0 and 1
	status_class smallint not null,
	n           bigint not null,
	sum_us      bigint not null,
	slots       smallint[] not null,               -- slot slots[i] of red counted counts[i]; others nothing
	counts      bigint[] not null
) partition by range (ts);
create index red_10m_by_key on red_10m (node_id, key_id, ts);
create index red_10m_by_time on red_10m (ts);

create table red_late (                            -- slots that are to be rolled up, first or again; any number of rows of each
	slot        timestamptz not null
);

create table red_closed (                          -- one row: from the slot since up to the moment until, slots are closed
	since       timestamptz not null,
	until       timestamptz not null
);
insert into red_closed select date_bin('10 minutes', now(), timestamptz 'epoch'), date_bin('10 minutes', now(), timestamptz 'epoch');

-- Any number will do for the lock, if it is always the same, and no other's. Whoever stores holds it with others, who closes alone.
create function take_red(times timestamptz[]) returns void language plpgsql as $$
begin
	perform pg_advisory_xact_lock_shared(126879331840371);
	insert into red_late select distinct date_bin('10 minutes', t, timestamptz 'epoch') from unnest(times) t, red_closed c
		where t >= c.since and t < c.until;
end $$;

-- Slots that were over half a minute ago are closed; each is then one that is to be rolled up.
create function close_red() returns void language plpgsql as $$
declare
	up_to timestamptz;
begin
	up_to := date_bin('10 minutes', clock_timestamp() - interval '30 s', timestamptz 'epoch');
	perform ensure_partition('red_10m', 'day', s) from red_closed c, generate_series(c.until, up_to, interval '10 minutes') s;
	perform pg_advisory_xact_lock(126879331840371);
	insert into red_late select s from red_closed c, generate_series(c.until, up_to - interval '10 minutes', interval '10 minutes') s;
	update red_closed set until = up_to where until < up_to;
end $$;

-- As of now: what comes while it goes on has a row in red_late that stays.
create function roll_red(slot_at timestamptz) returns bigint language plpgsql set work_mem = '64MB' set jit = off set enable_nestloop = off as $$
declare
	rolled bigint;
begin
	perform ensure_partition('red_10m', 'day', slot_at);
	delete from red_late where slot = slot_at;
	delete from red_10m where ts = slot_at;
	insert into red_10m
	with r as not materialized (select d.node_id, d.key_id, d.status_class, d.n, d.sum_us, d.lo, d.b from red d join red_key k using (node_id, key_id)
			where d.ts >= slot_at and d.ts < slot_at + interval '10 minutes' and k.role in (0, 1)),
		t as (select node_id, key_id, status_class, least(sum(n), 9223372036854775807)::bigint as n, least(sum(sum_us), 9223372036854775807)::bigint as sum_us from r group by 1, 2, 3),
		c as (select node_id, key_id, status_class, (lo + i - 1)::smallint as slot, least(sum(v), 9223372036854775807)::bigint as v from r, unnest(b) with ordinality u(v, i)
			where v > 0 and lo + i - 1 between 0 and 62 group by 1, 2, 3, 4),
		a as (select node_id, key_id, status_class, array_agg(slot order by slot) as slots, array_agg(v order by slot) as counts from c group by 1, 2, 3)
	select slot_at, t.node_id, t.key_id, t.status_class, t.n, t.sum_us, coalesce(a.slots, '{}'), coalesce(a.counts, '{}')
	from t left join a using (node_id, key_id, status_class);
	get diagnostics rolled = row_count;
	return rolled;
end $$;

create view api.red_10m_row as select ts, node_id, key_id, status_class, n, sum_us, slots, counts from red_10m;
create view api.red_closed as select since, until from red_closed;
create view api.red_late as select slot from red_late;

-- The slots within this range that red_10m has whole.
create function api.red_rolled(from_at timestamptz, to_at timestamptz) returns timestamptz[] language sql stable parallel safe as $$
	select coalesce(array_agg(s order by s), '{}') from api.red_closed c, generate_series(
			greatest(c.since, date_bin('10 minutes', from_at + interval '10 minutes' - interval '1 microsecond', timestamptz 'epoch')),
			least(c.until, to_at) - interval '10 minutes', interval '10 minutes') s
	where not exists (select from api.red_late l where l.slot = s)
$$;

-- The edges of an app, a node, a region, or all: each caller (node and app) and what it called, with the caller's own figures and,
-- beside them, what the callee says of all that it served. The most frequent first; whom an address belongs to is told as
-- of the end of the range. Percentiles are estimated within slots that double, as for /api/v1/red.
-- Closed slots are read from red_10m; and who is called is looked up only for those who are shown, where all are asked for.
create function api.topology(from_at timestamptz, to_at timestamptz, of_region text, of_node text, of_app text, most int)
returns json language plpgsql stable parallel safe set plan_cache_mode = force_custom_plan set enable_mergejoin = off set jit = off as $$
declare
	every boolean := coalesce(of_region, of_node, of_app) is null;
	rolled timestamptz[] := api.red_rolled(from_at, to_at);
	pieces tstzmultirange := tstzmultirange(tstzrange(from_at, to_at))
		- (select coalesce(range_agg(tstzrange(s, s + interval '10 minutes')), '{}') from unnest(rolled) s);
	begins timestamptz[] := array(select lower(p) from unnest(pieces) p);
	ends timestamptz[] := array(select upper(p) from unnest(pieces) p);
	-- the first two, which are nearly always all there are, as plain bounds: of a joined range the planner makes a filter, and reads all rows
	since_1 timestamptz := begins[1];
	until_1 timestamptz := ends[1];
	since_2 timestamptz := begins[2];
	until_2 timestamptz := ends[2];
begin
	return (with
	chosen as materialized (select k.node_id from api.node_key k where (of_region is null or k.region = of_region) and (of_node is null or k.node = of_node)),
	listens as materialized (
		select distinct p.node_id, p.netns, p.addr, p.port from api.place p join chosen using (node_id)
		where not every and p.kind_id in (2, 4) and (of_app is null or p.app = of_app)
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
	ranked as materialized (
		select k.node_id, k.app, k.peer, sum(r.n) as n from keys k join (
			select r.node_id, r.key_id, r.n from api.red_10m_row r where every and r.ts = any(rolled)
			union all select r.node_id, r.key_id, r.n from api.red_row r where every and r.ts >= since_1 and r.ts < until_1
			union all select r.node_id, r.key_id, r.n from api.red_row r where every and r.ts >= since_2 and r.ts < until_2
			union all select r.node_id, r.key_id, r.n from unnest(begins[3:], ends[3:]) p(since, until) join api.red_row r on r.ts >= p.since and r.ts < p.until
			where every and r.ts >= from_at and r.ts < to_at) r using (node_id, key_id) where every group by 1, 2, 3),
	call as materialized (select row_number() over (order by node_id, app, peer) as e, c.* from (
		select k.node_id, k.app, k.peer from keys k where not every group by 1, 2, 3
		union all (select k.node_id, k.app, k.peer from ranked k order by k.n desc, k.node_id, k.app, k.peer limit most)) c),
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
	series as materialized (
		select 'e' as kind, g.e as s, k.node_id, k.key_id from edge g join keys k using (node_id, app, peer)
		union all select 's', c.s, k.node_id, k.key_id from callee c join api.red_key k on k.node_id = c.to_node and k.app = c.to_app and k.role = 0),
	d as materialized (
		select x.kind, x.s, r.status_class, r.n, r.sum_us, r.slots, r.counts, null::int as lo, null::int4[] as b from series x
			join api.red_10m_row r on r.node_id = x.node_id and r.key_id = x.key_id and r.ts = any(rolled)
		union all select x.kind, x.s, r.status_class, r.n, r.sum_us, null, null, r.lo, r.b from series x
			join api.red_row r on r.node_id = x.node_id and r.key_id = x.key_id and r.ts >= since_1 and r.ts < until_1
		union all select x.kind, x.s, r.status_class, r.n, r.sum_us, null, null, r.lo, r.b from series x
			join api.red_row r on r.node_id = x.node_id and r.key_id = x.key_id and r.ts >= since_2 and r.ts < until_2
		union all select x.kind, x.s, r.status_class, r.n, r.sum_us, null, null, r.lo, r.b from series x cross join unnest(begins[3:], ends[3:]) p(since, until)
			join api.red_row r on r.node_id = x.node_id and r.key_id = x.key_id and r.ts >= p.since and r.ts < p.until where r.ts >= from_at and r.ts < to_at),
	total as (select kind, s, sum(n) as n, sum(sum_us) as us, coalesce(sum(n) filter (where status_class in (0, 5)), 0) as errors from d group by 1, 2),
	slot as (select kind, s, slot, sum(c) as c from (
			select d.kind, d.s, u.slot::float8 as slot, u.c from d, unnest(d.slots, d.counts) u(slot, c)
			union all select d.kind, d.s, (d.lo + u.i - 1)::float8, u.c from d, unnest(d.b) with ordinality u(c, i) where u.c > 0 and d.lo + u.i - 1 between 0 and 62) v
		group by 1, 2, 3),
	run as (select *, sum(c) over w as upto, sum(c) over (partition by kind, s) as whole, case slot when 0 then 0 else 2 ^ (slot - 1) end as low
		from slot window w as (partition by kind, s order by slot)),
	mark as (select kind, s, max(2 ^ slot) as most_us,
		min(low + (2 ^ slot - low) * greatest(0, 0.50 * whole - (upto - c)) / c) filter (where upto >= 0.50 * whole) as p50,
		min(low + (2 ^ slot - low) * greatest(0, 0.99 * whole - (upto - c)) / c) filter (where upto >= 0.99 * whole) as p99 from run group by 1, 2),
	every_figure as (select kind, s, n, us, errors, null::float8 as p50, null::float8 as p99, null::float8 as most_us from total
		union all select kind, s, null, null, null, p50, p99, most_us from mark), -- no join: nobody could tell the planner how many there are
	figure as materialized (select t.kind, t.s, max(t.n) as n, json_build_object('count', max(t.n), 'rate', round(max(t.n) / greatest(extract(epoch from least(to_at, now()) - from_at), 1), 3),
		'errors', max(t.errors), 'errorRatio', round(max(t.errors) / nullif(max(t.n), 0), 5), 'mean', api.ms(round(max(t.us) / nullif(max(t.n), 0))),
		'p50', api.ms(round(max(t.p50)::numeric)), 'p99', api.ms(round(max(t.p99)::numeric)), 'max', api.ms(round(max(t.most_us)::numeric))) as body
		from every_figure t group by t.kind, t.s),
	shown as materialized ( -- no join, either: one by one edge and figure would be looked at for each other
		select u.e, max(u.node_id) as node_id, max(u.app) as app, max(u.peer) as peer, max(u.to_node) as to_node, max(u.to_app) as to_app, max(u.how) as how, max(u.n) as n,
			(array_agg(u.body) filter (where u.n is not null))[1] as body, row_number() over (order by max(u.n) desc, u.e) as place
		from (select g.e, g.node_id, g.app, g.peer, g.to_node, g.to_app, g.how, null::numeric as n, null::json as body from edge g
			union all select f.s, null, null, null, null, null, null, f.n, f.body from figure f where f.kind = 'e') u
		group by u.e having max(u.n) is not null)
	select json_build_object(
		'total', case when every then (select count(*) from ranked) else (select count(*) from shown) end,
		'edges', (select coalesce(json_agg(json_build_object(
			'from', json_build_object('node', a.node, 'app', x.app),
			'to', json_build_object('node', b.node, 'app', x.to_app, 'addr', x.peer, 'how', x.how),
			'protocol', 'http', 'calls', x.body, 'served', v.body) order by x.place), '[]')
			from shown x join api.node_key a on a.node_id = x.node_id left join api.node_key b on b.node_id = x.to_node
			left join callee c on c.to_node = x.to_node and c.to_app = x.to_app left join figure v on v.kind = 's' and v.s = c.s
			where x.place <= most)));
end $$;

revoke execute on function take_red(timestamptz[]), close_red(), roll_red(timestamptz) from public;
do $$ begin perform grant_web(); end $$;
