-- SPDX-License-Identifier: Apache-2.0
-- The limit of the database's disk: its state, its history for the forecast, and the data that was dropped for it
-- (collector/space/, functions/12_disk.sql).

-- One row, written every ten seconds and at each change. Sizes are bytes.
create table disk_now (
	one         boolean primary key default true check (one),
	at          timestamptz not null,
	state       text not null,                     -- off, ok, dropping, full
	hint        text not null,                     -- why the limit is off or may not hold; '': nothing
	used        bigint not null,                   -- database, and its WAL where that is visible
	allowed     bigint,                            -- null: no limit
	total       bigint,                            -- size of the file system; null: not visible
	avail       bigint,                            -- free space of it
	full_s      bigint,                            -- forecast; null: not known, or later than ten years
	tables      jsonb                              -- {"request": bytes, ...}, once a minute
) with (fillfactor = 50);

create table disk_past (                           -- kept for a day
	at          timestamptz primary key,
	used        bigint not null
);

create table disk_drop (
	at          timestamptz not null default clock_timestamp(),
	step        smallint not null,                 -- place in the order of dropping, from 1
	fact        text not null,                     -- table
	since       timestamptz not null,              -- rows of [since, until)
	until       timestamptz not null,
	rows        bigint not null,
	exact       boolean not null,                  -- false: rows is the estimate of the statistics
	bytes       bigint not null,                   -- that the database is smaller
	what        text not null default ''           -- of step 4: app and route of the group
);
create index disk_drop_by_time on disk_drop (at);
