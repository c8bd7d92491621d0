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

-- Partitions for new rows, around now. Days are UTC. Partitions of sealed hours are created with the hour.
create or replace function ensure_partitions(days_back int, days_ahead int) returns int language plpgsql as $$
declare
	fact text;
	made int := 0;
begin
	foreach fact in array array['sample', 'request', 'red', 'unread', 'event', 'evidence', 'profile'] loop
		for i in -days_back .. days_ahead loop
			made := made + ensure_partition(fact, 'day', now() + i * interval '1 day');
		end loop;
	end loop;
	return made;
end $$;

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

-- Drops the partitions that are older than the days of their table, {"request": 30, ...}.
create or replace function drop_old(keep_days jsonb) returns int language sql as $$
	select coalesce(sum(drop_part(p.part)), 0)::int from (
		select c.oid::regclass as part, to_timestamp(s.since, case length(s.since) when 10 then 'YYYYMMDDHH24' when 8 then 'YYYYMMDD' else 'YYYYMM' end)
				at time zone current_setting('timezone')
				+ case length(s.since) when 6 then interval '1 month' when 8 then interval '1 day' else interval '1 hour' end as until,
			(keep_days ->> p.relname)::int as days
		from pg_inherits i join pg_class c on c.oid = i.inhrelid
		join pg_class p on p.oid = i.inhparent and keep_days ? p.relname::text and p.relnamespace = 'public'::regnamespace
		cross join lateral substring(c.relname from '_([0-9]{6}|[0-9]{8}|[0-9]{10})$') s(since)
		where s.since is not null offset 0) p
	where p.until <= (now() at time zone 'utc')::date - p.days
$$;

-- Called by collectors that know no days per table: evidence may be kept for fewer days than its owner, never for more.
create or replace function drop_old(keep_days int, evidence_days int) returns int language plpgsql as $$
declare
	part record;
	dropped int := 0;
begin
	for part in
		select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
		join pg_class p on p.oid = i.inhparent
		where p.relname in ('sample', 'request', 'red', 'unread', 'event', 'evidence')
		  and c.relname ~ '_[0-9]{8}$'
		  and to_date(right(c.relname, 8), 'YYYYMMDD') < (now() at time zone 'utc')::date
		      - case p.relname when 'evidence' then least(evidence_days, keep_days) else keep_days end
	loop
		execute format('drop table %I', part.relname);
		dropped := dropped + 1;
	end loop;
	return dropped;
end $$;

-- Called by collectors that know no days per table.
create or replace function drop_old(keep_days int) returns int language sql as $$ select drop_old(keep_days, keep_days) $$;

-- Drops the hours of sample_raw that are empty, that no reader can still need, and that no row is stored into any more. Where a
-- reader holds its lock for long the drop is left for later: a waiting lock blocks everyone behind it.
create or replace function drop_empty_hours() returns int language plpgsql set lock_timeout = '500ms' as $$
declare
	empty regclass[] := array(select c.oid::regclass from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where i.inhparent = 'sample_raw'::regclass and pg_relation_size(c.oid) = 0
		  and c.relname < 'sample_raw_' || to_char((now() - interval '8 hours') at time zone 'utc', 'YYYYMMDDHH24'));
	part regclass;
	dropped int := 0;
begin
	if empty <> '{}' then
		lock table only sample_raw in access exclusive mode;
	end if;
	foreach part in array empty loop
		if pg_relation_size(part) = 0 then
			execute format('drop table %s', part);
			dropped := dropped + 1;
		end if;
	end loop;
	return dropped;
exception when lock_not_available then
	return 0;
end $$;
