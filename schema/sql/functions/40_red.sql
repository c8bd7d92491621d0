-- SPDX-License-Identifier: Apache-2.0
-- Rollups of red: marking, closing and rolling up slots (collector/red_roll.c).

-- The lock number is arbitrary, but always the same, and used for nothing else. Writers take it shared, close_red_slots alone.
create or replace function take_red_slots(times timestamptz[]) returns void language plpgsql as $$
begin
	perform pg_advisory_xact_lock_shared(126879331840371);
	insert into red_late select distinct date_bin('10 minutes', t, timestamptz 'epoch') from unnest(times) t, red_closed c
		where t >= c.since and t < c.until;
end $$;

-- As take_red_of, for collectors that do not name the nodes.
create or replace function take_red(times timestamptz[]) returns void language plpgsql as $$
begin
	perform take_red_slots(times);
	insert into red_late_1m (slot) select distinct m from unnest(times) t, red_closed c, generate_series(date_bin('10 minutes', t, timestamptz 'epoch'),
			date_bin('10 minutes', t, timestamptz 'epoch') + interval '9 minutes', interval '1 minute') m
		where m >= c.since_1m and m < c.until_1m;
end $$;

-- Marks closed slots as late. Called with the times and nodes of the rows that this transaction stores.
create or replace function take_red_of(times timestamptz[], nodes bigint[]) returns void language plpgsql as $$
begin
	perform take_red_slots('{}'); -- the lock
	insert into red_late (slot, node_id) select distinct date_bin('10 minutes', u.t, timestamptz 'epoch'), u.node from unnest(times, nodes) u(t, node), red_closed c
		where u.t >= c.since and u.t < c.until;
	insert into red_late_1m (slot, node_id) select distinct date_bin('1 minute', u.t, timestamptz 'epoch'), u.node from unnest(times, nodes) u(t, node), red_closed c
		where u.t >= c.since_1m and u.t < c.until_1m;
end $$;

-- Closes the slots that ended more than half a minute ago; each is then to be rolled up.
create or replace function close_red_slots() returns void language plpgsql as $$
declare
	up_to timestamptz;
begin
	up_to := date_bin('10 minutes', clock_timestamp() - interval '30 s', timestamptz 'epoch');
	perform ensure_partition('red_10m', 'day', s) from red_closed c, generate_series(c.until, up_to, interval '10 minutes') s;
	perform pg_advisory_xact_lock(126879331840371);
	insert into red_late select s from red_closed c, generate_series(c.until, up_to - interval '10 minutes', interval '10 minutes') s;
	update red_closed set until = up_to where until < up_to;
end $$;

-- Closes minutes and slots of ten minutes.
create or replace function close_red() returns void language plpgsql as $$
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

-- Rolls up one slot as it is now; rows that arrive meanwhile add a row to red_late that stays.
create or replace function roll_red_slot(slot_at timestamptz) returns bigint language plpgsql set work_mem = '64MB' set jit = off set enable_nestloop = off as $$
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

create or replace function roll_red(slot_at timestamptz) returns bigint language plpgsql as $$
begin
	perform pg_advisory_xact_lock(126879331840373);
	return roll_red_slot(slot_at);
end $$;

-- Of several collectors one rolls up at a time: each would delete what another one wrote if it sees it.
create or replace function red_turn() returns boolean language sql as $$ select pg_try_advisory_xact_lock(126879331840373) $$;

-- Minutes are kept longer than they are read, so that a reader with an older `since` finds them.
create or replace function drop_red_minutes() returns int language sql as $$
	select coalesce(sum(drop_part(c.oid::regclass)), 0)::int from pg_inherits i join pg_class c on c.oid = i.inhrelid
	where i.inhparent = 'red_1m'::regclass and c.relname < 'red_1m_' || to_char((now() - interval '8 hours') at time zone 'utc', 'YYYYMMDDHH24')
$$;
