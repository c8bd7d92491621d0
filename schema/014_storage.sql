-- SPDX-License-Identifier: Apache-2.0
-- 014_storage.sql - samples by the hour: small while they are new, packed and rolled up when the hour is over.
--
-- A sample is in one of three places, and readers look into all:
--   sample_raw  the rows of an hour as they come, those of several entities of one layout and tick in one row.
--   sample      a row for each entity: what came when its hour was not expected any more, and what is of before this
--               version.
--   sealed      an hour that is over, packed by the column (schema/CHUNK.md); with it sample_1m, sample_10m, sample_1h.
-- What moves to sealed goes there, into the rollups, and out of the others in one transaction, by collector/seal.c.

create table sample_raw (
	ts          timestamptz not null,
	node_id     bigint not null,
	layout_id   bigint not null,
	entities    bigint[] not null,                 -- entity_ids, in the order of their values
	a           float4[],                          -- the values of the first entity in the layout's order, then of the next ...
	b           float8[]                           -- those that are no float4; what is null or not there in both is 0
) partition by range (ts);
-- By the hour, so that the time is not needed here: equal keys are kept once.
create index sample_raw_by_layout on sample_raw (node_id, layout_id);

-- Of an entity whose values begin after so many others: the one in place i of its layout.
create function api.sample_value(a float4[], b float8[], place bigint) returns float8 language sql immutable parallel safe as
	$$ select coalesce(a[place], b[place], 0) $$;

create table sealed (
	hour        timestamptz not null,              -- when it began
	node_id     bigint not null,
	layout_id   bigint not null,
	part        int not null,                      -- from 0; one that is too large for one chunk has several
	entities    bigint[] not null,
	chunk       bytea not null                     -- schema/CHUNK.md: a column for each metric of each entity
) partition by range (hour);

-- Each metric has four columns in these: n, min, max and sum of a minute, of ten minutes, and of the hour.
create table sample_1m (like sealed) partition by range (hour);
create table sample_10m (like sealed) partition by range (hour);
create table sample_1h (like sealed) partition by range (hour);

-- Packed once is enough, and what is not packed again can be read in part. Of rollups the directory is the most, as their
-- columns are short: PostgreSQL packs them once more.
alter table sealed alter column chunk set storage external;
create unique index sealed_by_layout on sealed (node_id, layout_id, hour, part);
create unique index sample_1m_by_layout on sample_1m (node_id, layout_id, hour, part);
create unique index sample_10m_by_layout on sample_10m (node_id, layout_id, hour, part);
create unique index sample_1h_by_layout on sample_1h (node_id, layout_id, hour, part);

-- The partition of a table that holds this time; its name ends in when it begins, and how long that is says its span.
create function ensure_partition(fact text, span text, at timestamptz) returns int language plpgsql as $$
declare
	since timestamp := date_trunc(span, at at time zone 'utc');
	part text := fact || '_' || to_char(since, case span when 'hour' then 'YYYYMMDDHH24' when 'day' then 'YYYYMMDD' else 'YYYYMM' end);
begin
	if to_regclass(format('%I', part)) is not null then
		return 0;
	end if;
	execute format('create table %I partition of %I for values from (%L) to (%L)', part, fact,
		since at time zone 'utc', (since + ('1 ' || span)::interval) at time zone 'utc');
	return 1;
end $$;

-- What rows are stored into, around now; those of sealed hours are made when an hour is.
create or replace function ensure_partitions(days_back int, days_ahead int) returns int language plpgsql as $$
declare
	fact text;
	made int := 0;
begin
	foreach fact in array array['sample', 'request', 'red', 'unread', 'event', 'evidence'] loop
		for i in -days_back .. days_ahead loop
			made := made + ensure_partition(fact, 'day', now() + i * interval '1 day');
		end loop;
	end loop;
	return made;
end $$;

create function ensure_hours(hours_back int, hours_ahead int) returns int language sql as $$
	select sum(ensure_partition('sample_raw', 'hour', now() + i * interval '1 hour'))::int from generate_series(-hours_back, hours_ahead) i
$$;

create function ensure_sealed(at timestamptz) returns int language sql as $$
	select ensure_partition('sealed', 'day', at) + ensure_partition('sample_1m', 'day', at)
		+ ensure_partition('sample_10m', 'month', at) + ensure_partition('sample_1h', 'month', at)
$$;

-- The partitions of the facts that are older than their days, {"request": 30, ...}; each as a whole, when its last day is.
create function drop_old(keep_days jsonb) returns int language plpgsql as $$
declare
	part record;
	dropped int := 0;
begin
	for part in
		select c.relname, to_timestamp(s.since, case length(s.since) when 10 then 'YYYYMMDDHH24' when 8 then 'YYYYMMDD' else 'YYYYMM' end)
			at time zone current_setting('timezone')
			+ case length(s.since) when 6 then interval '1 month' when 8 then interval '1 day' else interval '1 hour' end as until,
			(keep_days ->> p.relname)::int as days
		from pg_inherits i join pg_class c on c.oid = i.inhrelid
		join pg_class p on p.oid = i.inhparent and keep_days ? p.relname::text and p.relnamespace = 'public'::regnamespace
		cross join lateral substring(c.relname from '_([0-9]{6}|[0-9]{8}|[0-9]{10})$') s(since)
		where s.since is not null
	loop
		if part.until <= (now() at time zone 'utc')::date - part.days then
			execute format('drop table %I', part.relname);
			dropped := dropped + 1;
		end if;
	end loop;
	return dropped;
end $$;

-- The samples that are not sealed yet, a row for each entity: what is told of them is told of what is stored.
create view sample_unsealed as
select s.ts, s.node_id, s.entity_id, s.layout_id, s.v from sample s
union all
select r.ts, r.node_id, x.entity_id, r.layout_id,
	(select array_agg(api.sample_value(r.a, r.b, (x.k - 1) * cardinality(l.names) + i) order by i) from generate_series(1, cardinality(l.names)) i)
from sample_raw r
join layout l using (layout_id)
cross join lateral unnest(r.entities) with ordinality x(entity_id, k);

-- The hours of sample_raw that nothing is left of for anyone, not even for who began to read before they were packed, and
-- that nothing is stored into any more. Where somebody reads for long it is left for later: whoever waits for such a lock
-- has all others wait.
create function drop_empty_hours() returns int language plpgsql set lock_timeout = '500ms' as $$
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

revoke execute on function ensure_partition(text, text, timestamptz), ensure_hours(int, int), ensure_sealed(timestamptz), drop_old(jsonb), drop_empty_hours() from public;
do $$ begin perform grant_web(); end $$;
