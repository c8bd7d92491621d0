-- SPDX-License-Identifier: Apache-2.0
-- Rate, errors and duration, from red and its rollups.

create or replace view api.red as
select d.ts, n.name as node, coalesce(g.name, '') as region, k.app, k.route, k.peer,
	case k.role when 0 then 'server' else 'client' end as role,
	d.status_class, d.n, d.sum_us, d.lo, d.b
from red d
join red_key k using (node_id, key_id)
join node n using (node_id)
left join region g using (region_id)
where k.role in (0, 1);

create or replace view api.red_key as select node_id, key_id, app, peer, role from red_key;
create or replace view api.red_row as select ts, node_id, key_id, status_class, n, sum_us, lo, b from red;
create or replace view api.red_10m_row as select ts, node_id, key_id, status_class, n, sum_us, slots, counts from red_10m;
create or replace view api.red_1m_row as select ts, node_id, key_id, status_class, n, sum_us, slots, counts from red_1m;
create or replace view api.red_closed as select since, until, since_1m, until_1m from red_closed;
create or replace view api.red_late as select slot, node_id from red_late;
create or replace view api.red_late_1m as select slot, node_id from red_late_1m;

-- The tables that a range is read from: [from_at, head_from) from red; [head_from, head_until) from minutes; then red up to
-- ten_from; [ten_from, ten_until) from ten minutes; red up to tail_from; [tail_from, tail_until) from minutes; red up to to_at.
-- Between minutes and ten minutes there is nearly always nothing. tens, minutes: the slots that are late for all nodes; late:
-- some slot is late, if only for one node.
create or replace function api.red_tiles(from_at timestamptz, to_at timestamptz, out head_from timestamptz, out head_until timestamptz, out ten_from timestamptz,
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

-- The late slots of single nodes.
create or replace function api.red_late_of(head_from timestamptz, head_until timestamptz, ten_from timestamptz, ten_until timestamptz, tail_from timestamptz, tail_until timestamptz)
returns table (node_id bigint, tens timestamptz[], minutes timestamptz[]) language sql stable parallel safe as $$
	select l.node_id, coalesce(array_agg(distinct l.slot) filter (where l.ten), '{}'), coalesce(array_agg(distinct l.slot) filter (where not l.ten), '{}') from (
		select t.node_id, t.slot, true as ten from api.red_late t where t.slot >= ten_from and t.slot < ten_until
		union all select m.node_id, m.slot, false from api.red_late_1m m where m.slot >= head_from and m.slot < head_until or m.slot >= tail_from and m.slot < tail_until) l
	where l.node_id is not null group by l.node_id
$$;

-- The counts of one key; `tens` and `minutes` are late slots. One SELECT without settings, so that PostgreSQL inlines it into
-- the calling query and leaves out what is empty there. Each piece is found by key and time. A slot that is late for all nodes
-- and for one node is read once.
create or replace function api.red_of(node bigint, key bigint, tens timestamptz[], minutes timestamptz[], late boolean, from_at timestamptz, head_from timestamptz, head_until timestamptz,
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

-- The owner of the address that a call came from. The address of a translating node stands for every node that it translates
-- for, and for itself if it makes calls. 'several': these are several nodes.
create or replace function api.resolve_from(addrs inet[], ports int[], ats timestamptz[], asking bigint[])
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
