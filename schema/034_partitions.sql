-- SPDX-License-Identifier: Apache-2.0
-- 034_partitions.sql - partitions come and go without a wait for whoever reads.
--
-- `create table ... partition of` and the drop of a partition lock the table above against everybody (ACCESS EXCLUSIVE): behind
-- one long read waited the upkeep, and behind that all that was to be stored, or asked. ATTACH takes SHARE UPDATE EXCLUSIVE,
-- which neither reads nor COPY mind. There is no such thing for a drop within a transaction (DETACH ... CONCURRENTLY has two of
-- its own), so a drop waits for a moment only, and is tried again at the next upkeep.

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

-- Less than deadlock_timeout, so that who reads two tables is never the one that ends.
create or replace function drop_part(part regclass) returns int language plpgsql set lock_timeout = '300ms' as $$
begin
	execute format('drop table %s', part);
	return 1;
exception when lock_not_available then
	return 0;
end $$;

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

revoke execute on function drop_part(regclass) from public;
do $$ begin perform grant_web(); end $$;
