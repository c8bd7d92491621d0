-- SPDX-License-Identifier: Apache-2.0
-- The limit of the database's disk: sizes, and the order in which data is dropped (collector/space/space.c).

create or replace function disk_tables() returns table (name text, bytes bigint) language sql stable as $$
	select coalesce(r.relname, c.relname)::text, sum(pg_total_relation_size(c.oid))::bigint
	from pg_class c left join pg_class r on r.oid = pg_partition_root(c.oid)
	where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') group by 1
$$;

-- Null: this role may not see it.
create or replace function disk_wal() returns bigint language plpgsql stable as $$
begin
	if has_function_privilege('pg_ls_waldir()', 'execute') then
		return (select sum(size) from pg_ls_waldir());
	end if;
	return null;
end $$;

-- The start of the data that is never dropped: the newest full hour of the stored rows, and what came after it. By the rows and
-- not by the clock alone, so that a clock that is ahead does not make all data old.
create or replace function disk_newest() returns timestamptz language sql stable as $$
	select date_bin('1 hour', coalesce(greatest((select max(ts) from request where ts <= now()), (select max(ts) from red where ts <= now())), now())
		- interval '1 hour', timestamptz 'epoch')
$$;

-- The partitions of these tables that have rows.
create or replace function disk_leaves(facts text[]) returns table (part regclass, fact text, since timestamptz, until timestamptz, bytes bigint) language sql stable as $$
	select l.part, l.fact, l.since, l.since + case l.len when 10 then interval '1 hour' when 8 then interval '1 day' else interval '1 month' end, pg_total_relation_size(l.part)
	from (select c.oid::regclass as part, p.relname::text as fact, length(s.at) as len, to_timestamp(s.at, case length(s.at) when 10 then 'YYYYMMDDHH24' when 8 then 'YYYYMMDD' else 'YYYYMM' end)
				at time zone current_setting('timezone') at time zone 'utc' as since
		from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent and p.relnamespace = 'public'::regnamespace
		cross join lateral substring(c.relname from '_([0-9]{6}|[0-9]{8}|[0-9]{10})$') s(at)
		where p.relname = any(facts) and c.relkind = 'r' and s.at is not null offset 0) l
	where pg_relation_size(l.part) > 0
$$;

create or replace function disk_time(fact text) returns text language sql immutable as $$
	select case when fact in ('sealed', 'sample_1m') then 'hour' else 'ts' end
$$;

create or replace function disk_note(a_step int, a_fact text, a_since timestamptz, an_until timestamptz, a_rows bigint, is_exact boolean, a_bytes bigint, a_what text)
	returns setof disk_drop language sql as $$
	insert into disk_drop (step, fact, since, until, rows, exact, bytes, what) values (a_step, a_fact, a_since, an_until, a_rows, is_exact, a_bytes, a_what) returning *
$$;

-- Empties a partition and leaves it in place, so that rows that come late still find it. Rows of large ones are not counted:
-- the lock would be held for minutes.
create or replace function disk_empty(a_step int, a_part regclass, a_fact text, a_since timestamptz, an_until timestamptz) returns setof disk_drop language plpgsql as $$
declare
	size bigint := pg_total_relation_size(a_part);
	exact boolean := pg_relation_size(a_part) < 1 << 30;
	n bigint := (select greatest(reltuples, 0) from pg_class where oid = a_part);
begin
	execute format('lock table %s in access exclusive mode', a_part);
	if exact then
		execute format('select count(*) from %s', a_part) into n;
	end if;
	execute format('truncate %s', a_part);
	return query select * from disk_note(a_step, a_fact, a_since, an_until, n, exact, size - pg_total_relation_size(a_part), '');
end $$;

-- Writes a partition again without the rows for which `gone` holds. A delete would leave the file as long as before.
create or replace function disk_thin(a_step int, a_part regclass, a_fact text, a_since timestamptz, an_until timestamptz, gone text, a_what text) returns setof disk_drop language plpgsql as $$
declare
	size bigint := pg_total_relation_size(a_part);
	n bigint;
	kept bigint;
begin
	execute format('lock table %s in access exclusive mode', a_part);
	execute format('select count(*) from %s', a_part) into n;
	execute format('create temp table disk_kept on commit drop as select * from %s x where not (%s)', a_part, gone);
	execute format('truncate %s', a_part);
	execute format('insert into %s select * from disk_kept', a_part);
	get diagnostics kept = row_count;
	drop table disk_kept;
	return query select * from disk_note(a_step, a_fact, a_since, an_until, n - kept, true, size - pg_total_relation_size(a_part), a_what);
end $$;

-- Whether a partition may be written again: the kept rows are there three times until the end, as they were, copied, and new.
create or replace function disk_fits(bytes bigint, kept bigint, rows bigint, room bigint) returns boolean language sql immutable as $$
	select rows > 0 and kept < rows and (kept = 0 or bytes::float8 * kept / rows * 3 <= room)
$$;

-- The oldest partition of these tables that is older than the newest hours; without one, those older hours of the others.
create or replace function disk_drop_oldest(a_step int, facts text[], newest timestamptz, room bigint) returns setof disk_drop language plpgsql as $$
declare
	l record;
	n bigint;
	kept bigint;
begin
	select * into l from disk_leaves(facts) d where d.until <= newest order by d.since, d.bytes desc limit 1;
	if found then
		return query select * from disk_empty(a_step, l.part, l.fact, l.since, l.until);
		return;
	end if;
	for l in select * from disk_leaves(facts) d where d.since < newest order by d.bytes desc loop
		execute format('select count(*), count(*) filter (where %I >= $1) from %s', disk_time(l.fact), l.part) into n, kept using newest;
		if disk_fits(l.bytes, kept, n, room) then
			return query select * from disk_thin(a_step, l.part, l.fact, l.since, newest, format('%I < %L', disk_time(l.fact), newest), '');
			return;
		end if;
	end loop;
end $$;

-- Of the commonest group of abnormal requests of the oldest partition one row in a hundred is kept, with all of the newest hours.
-- A group counts from 1,000 rows and a fifth of the partition on.
create or replace function disk_drop_commonest(newest timestamptz, room bigint) returns setof disk_drop language plpgsql as $$
declare
	l record;
	g record;
	e record;
	gone text;
begin
	for l in select * from disk_leaves('{request}') d where d.since < newest order by d.since loop
		execute format('select node_id, app, route, reason_id, count(*) as n, sum(count(*)) over () as all_n from %s where ts < $1 and request_id %% 100 <> 0
			group by 1, 2, 3, 4 order by 5 desc limit 1', l.part) into g using newest;
		continue when g.n is null or g.n < 1000 or g.n < g.all_n / 5;
		execute format('select count(*) as n, count(*) - %s as kept from %s', g.n, l.part) into e;
		continue when not disk_fits(l.bytes, e.kept, e.n, room);
		gone := format('node_id = %L and app = %L and route = %L and reason_id = %L and ts < %L and request_id %% 100 <> 0', g.node_id, g.app, g.route, g.reason_id, newest);
		for e in select d.*, (select greatest(reltuples, 0) from pg_class where oid = d.part) from disk_leaves('{evidence}') d where d.since = l.since and d.bytes * 3 <= room loop
			return query select * from disk_thin(4, e.part, e.fact, e.since, least(e.until, newest),
				format('exists (select from %s r where r.ts = x.ts and r.request_id = x.owner_id and %s)', l.part, regexp_replace(gone, '(node_id|app|route|reason_id|ts|request_id) (=|<|%)', 'r.\1 \2', 'g')), g.app || ' ' || g.route);
		end loop;
		return query select * from disk_thin(4, l.part, l.fact, l.since, least(l.until, newest), gone, g.app || ' ' || g.route);
		return;
	end loop;
end $$;

-- The oldest day of everything, or of the newest partitions the oldest hours that hold a quarter of the rows.
create or replace function disk_drop_hours(newest timestamptz, room bigint) returns setof disk_drop language plpgsql as $$
declare
	facts constant text[] := '{request,evidence,event,unread,red_10m,red_1m,sample_1m}';
	first timestamptz := (select min(d.since) from disk_leaves(facts) d where d.until <= newest);
	l record;
	cut timestamptz;
	n bigint;
	kept bigint;
begin
	if first is not null then
		for l in select * from disk_leaves(facts) d where d.since = first and d.until <= newest loop
			return query select * from disk_empty(5, l.part, l.fact, l.since, l.until);
		end loop;
		return;
	end if;
	for l in select * from disk_leaves(facts) d where d.since < newest order by d.bytes desc loop
		execute format('select min(h.hour + interval ''1 hour'') filter (where h.upto >= h.n / 4), max(h.n) from (select c.hour, sum(c.n) over (order by c.hour) as upto, sum(c.n) over () as n
			from (select date_bin(''1 hour'', %I, timestamptz ''epoch'') as hour, count(*) as n from %s group by 1) c) h', disk_time(l.fact), l.part) into cut, n;
		for i in 1 .. 2 loop
			cut := least(cut, newest);
			execute format('select count(*) from %s where %I >= $1', l.part, disk_time(l.fact)) into kept using cut;
			if disk_fits(l.bytes, kept, n, room) then
				return query select * from disk_thin(5, l.part, l.fact, l.since, cut, format('%I < %L', disk_time(l.fact), cut), '');
				return;
			end if;
			cut := newest;
		end loop;
	end loop;
end $$;

-- Drops the data of the lowest value that there is, for about one partition a call; room: the bytes that may be used meanwhile.
-- No row: nothing more may be dropped, or another collector drops now, or a reader holds its lock, which the next call tries again. The wait is shorter than
-- deadlock_timeout, so that a writer is never the one that is cancelled.
create or replace function disk_drop_next(room bigint) returns setof disk_drop language plpgsql set lock_timeout = '900ms' set jit = off as $$
declare
	newest timestamptz := disk_newest();
begin
	if not pg_try_advisory_xact_lock(126879331840374) then
		return;
	end if;
	delete from disk_drop where at < now() - interval '90 days';
	for step in 1 .. 5 loop
		if step = 4 then
			return query select * from disk_drop_commonest(newest, room);
		elsif step = 5 then
			return query select * from disk_drop_hours(newest, room);
		else
			return query select * from disk_drop_oldest(step, case step when 1 then '{profile}' when 2 then '{sealed,sample,sample_raw}' else '{red}' end::text[], newest, room);
		end if;
		exit when found;
	end loop;
end $$;

-- The state for the console, and a point of the history each ten minutes. A collector that sees no limit does not hide one that does.
create or replace function disk_save(a_state text, a_hint text, used_now bigint, may bigint, size bigint, free bigint, full_in bigint, with_tables bool) returns void language plpgsql as $$
begin
	insert into disk_now (at, state, hint, used, allowed, total, avail, full_s, tables)
		values (now(), a_state, a_hint, used_now, nullif(may, 0), nullif(size, 0), case when size > 0 then free end, nullif(full_in, -1),
			(select jsonb_object_agg(t.name, t.bytes) from disk_tables() t where with_tables))
		on conflict (one) do update set at = excluded.at, state = excluded.state, hint = excluded.hint, used = excluded.used, allowed = excluded.allowed,
			total = excluded.total, avail = excluded.avail, full_s = excluded.full_s, tables = coalesce(excluded.tables, disk_now.tables)
			where excluded.state <> 'off' or disk_now.state = 'off' or disk_now.at < now() - interval '1 minute' or disk_now.at > now() + interval '1 minute';
	if not exists (select from disk_past where at > now() - interval '590 s' and at <= now()) then
		delete from disk_past where at < now() - interval '1 day' or at > now();
		insert into disk_past values (now(), used_now) on conflict (at) do nothing;
	end if;
end $$;
