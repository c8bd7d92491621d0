-- SPDX-License-Identifier: Apache-2.0
-- Partitions: the functions that differ between database engines.

-- The partition of a table for this time; the end of its name is its start, and the length of that is its span. `create table
-- ... partition of` locks the parent against everybody (ACCESS EXCLUSIVE): behind one long read waited the upkeep, and behind that
-- every store and query. ATTACH takes SHARE UPDATE EXCLUSIVE, which blocks neither readers nor COPY.
create or replace function ensure_partition(fact text, span text, at timestamptz) returns int language plpgsql as $$
declare
	since timestamp := date_trunc(span, at at time zone 'utc');
	part text := fact || '_' || to_char(since, case span when 'hour' then 'YYYYMMDDHH24' when 'day' then 'YYYYMMDD' else 'YYYYMM' end);
begin
	if to_regclass(format('%I', part)) is not null then
		return 0;
	end if;
	execute format('create table %I (like %I including all)', part, fact);
	execute format('alter table %I attach partition %I for values from (%L) to (%L)', fact, part,
		since at time zone 'utc', (since + ('1 ' || span)::interval) at time zone 'utc');
	return 1;
end $$;

-- Partitions for new rows, around a time. Days are UTC. Partitions of sealed hours are created with the hour.
create or replace function ensure_partitions_at(at timestamptz, days_back int, days_ahead int) returns int language plpgsql as $$
declare
	fact text;
	made int := 0;
begin
	foreach fact in array array['sample', 'request', 'red', 'unread', 'event', 'evidence', 'profile'] loop
		for i in -days_back .. days_ahead loop
			made := made + ensure_partition(fact, 'day', at + i * interval '1 day');
		end loop;
	end loop;
	return made;
end $$;

create or replace function ensure_partitions(days_back int, days_ahead int) returns int language sql as $$
	select ensure_partitions_at(now(), days_back, days_ahead)
$$;

create or replace function ensure_hours(hours_back int, hours_ahead int) returns int language sql as $$
	select sum(ensure_partition('sample_raw', 'hour', now() + i * interval '1 hour'))::int from generate_series(-hours_back, hours_ahead) i
$$;

create or replace function ensure_sealed(at timestamptz) returns int language sql as $$
	select ensure_partition('sealed', 'day', at) + ensure_partition('sample_1m', 'day', at)
		+ ensure_partition('sample_10m', 'month', at) + ensure_partition('sample_1h', 'month', at)
$$;

-- DETACH ... CONCURRENTLY cannot run in a transaction, so a drop waits for its lock for a moment, and the next upkeep tries again.
-- The wait is shorter than deadlock_timeout, so that a reader of two tables is never the one that is cancelled.
create or replace function drop_part(part regclass) returns int language plpgsql set lock_timeout = '300ms' as $$
begin
	execute format('drop table %s', part);
	return 1;
exception when lock_not_available then
	return 0;
end $$;

-- The time of the newest stored row, and of the newest that is not more than an hour in the future; null: there is none. A node's
-- last_seen moves in the transaction that stores its rows.
create or replace function newest_row(out newest timestamptz, out past timestamptz) language plpgsql stable as $$
begin
	select max(n.last_seen), max(n.last_seen) filter (where n.last_seen <= now() + interval '1 hour') into newest, past from node n;
	if newest is null then
		select max(r.ts), max(r.ts) filter (where r.ts <= now() + interval '1 hour') into newest, past
			from (select max(ts) as ts from request union all select max(ts) from red union all select max(ts) from event) r;
	end if;
end $$;

-- The time that a wrong clock of this server cannot move ahead.
create or replace function trusted_now() returns timestamptz language sql stable as $$
	select least(now(), coalesce(r.past, r.newest, now())) from newest_row() r
$$;

-- By rows and not by size: the size of a table that is spread over others is 0. Null: somebody holds it locked. What
-- this role may not read, as another one made it, counts as rows.
create or replace function has_rows(part regclass) returns boolean language plpgsql set lock_timeout = '300ms' as $$
declare
	found_one boolean;
begin
	execute format('select exists (select from %s)', part) into found_one;
	return found_one;
exception
	when lock_not_available then
		return null;
	when insufficient_privilege then
		return true;
end $$;

-- Drops the partitions that are older than the days of their table, {"request": 30, ...}, counted from `at`, or from the newest
-- stored row if that is older. Of rows at most one day of a table goes in an hour, the oldest first. An entry of `retention` in
-- the future is from a time when the clock was ahead.
create or replace function drop_expired(keep_days jsonb, at timestamptz) returns table (fact text, day date, parts int) language plpgsql as $$
declare
	today constant date := (least(at, trusted_now()) at time zone 'utc')::date;
	due record;
	gone date; -- the day whose rows were dropped
	filled boolean;
begin
	for due in
		select d.relname::text as fact, d.part, d.since::date as day from (
			select p.relname, c.oid::regclass as part, to_timestamp(s.since, f.format) at time zone current_setting('timezone') as since, f.span
			from pg_inherits i join pg_class c on c.oid = i.inhrelid
			join pg_class p on p.oid = i.inhparent and keep_days ? p.relname::text and p.relnamespace = 'public'::regnamespace
			cross join lateral substring(c.relname from '_([0-9]{6}|[0-9]{8}|[0-9]{10})$') s(since)
			join (values (6, 'YYYYMM', interval '1 month'), (8, 'YYYYMMDD', interval '1 day'), (10, 'YYYYMMDDHH24', interval '1 hour')) f(len, format, span)
				on f.len = length(s.since) offset 0) d
		where d.since + d.span <= today - (keep_days ->> d.relname::text)::int
		order by 1, 3
	loop
		if fact is distinct from due.fact then
			if parts > 0 then
				return next;
			end if;
			fact := due.fact;
			day := null;
			parts := 0;
			gone := (select '-infinity'::date from retention r where r.fact = due.fact and r.dropped between now() - interval '50 minutes' and now());
		end if;
		filled := has_rows(due.part);
		continue when filled is null or (filled and gone <> due.day);
		continue when drop_part(due.part) = 0;
		if filled then
			gone := due.day;
			insert into retention as r values (due.fact, now()) on conflict on constraint retention_pkey do update set dropped = excluded.dropped;
		end if;
		day := coalesce(day, due.day);
		parts := parts + 1;
	end loop;
	if parts > 0 then
		return next;
	end if;
end $$;

create or replace function drop_old(keep_days jsonb) returns int language sql as $$
	select coalesce(sum(parts), 0)::int from drop_expired(keep_days, now())
$$;

-- Called by collectors that know no days per table: evidence may be kept for fewer days than its owner, never for more.
create or replace function drop_old(keep_days int, evidence_days int) returns int language sql as $$
	select drop_old((select jsonb_object_agg(fact, case fact when 'evidence' then least(evidence_days, keep_days) else keep_days end)
		from unnest(array['sample', 'request', 'red', 'unread', 'event', 'evidence']) fact))
$$;

-- Called by collectors that know no days per table.
create or replace function drop_old(keep_days int) returns int language sql as $$ select drop_old(keep_days, keep_days) $$;

-- Drops the hours of sample_raw that are empty, that no reader can still need, and that no row is stored into any more. Rows that
-- an older snapshot may still read keep their size until vacuum. Where a reader holds its lock for long the drop is left for
-- later: a waiting lock blocks everyone behind it.
create or replace function drop_empty_hours() returns int language plpgsql set lock_timeout = '500ms' as $$
declare
	empty regclass[];
	part regclass;
	dropped int := 0;
begin
	empty := array(select c.oid::regclass from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where i.inhparent = 'sample_raw'::regclass and pg_relation_size(c.oid) = 0 and not has_rows(c.oid)
		  and c.relname < 'sample_raw_' || to_char((trusted_now() - interval '8 hours') at time zone 'utc', 'YYYYMMDDHH24'));
	if empty <> '{}' then
		lock table only sample_raw in access exclusive mode;
	end if;
	foreach part in array empty loop
		if pg_relation_size(part) = 0 and not has_rows(part) then
			execute format('drop table %s', part);
			dropped := dropped + 1;
		end if;
	end loop;
	return dropped;
exception when lock_not_available then
	return 0;
end $$;
