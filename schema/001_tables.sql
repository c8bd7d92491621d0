-- SPDX-License-Identifier: Apache-2.0
-- 001_tables.sql - dimensions and facts. Applied once, in one transaction, by the collector's owner role.
--
-- Ids are hashes of content (lib/hash.h): no sequences, equal in every region. node_id is in every key,
-- facts are partitioned by day with no default partition, and nothing here needs a trigger, so that the
-- same text runs on Citus and TimescaleDB. Later changes are new files: this one is never edited.

create table region (
	region_id   bigint primary key,
	name        text not null unique
);

create table node (
	node_id     bigint primary key,
	region_id   bigint not null,
	name        text not null,
	machine     text not null default '',          -- /etc/machine-id of the last hello
	version     text not null default '',          -- of the probe
	tags        jsonb not null default '{}',
	first_seen  timestamptz not null default now(),
	last_seen   timestamptz not null default now() -- the tick of the last stored batch
);

create table layout (
	layout_id   bigint primary key,
	entity_kind text not null,                     -- node, disk, net
	names       text[] not null,
	units       text[] not null,
	kinds       smallint[] not null                -- 0 gauge, 1 counter as delta
);

create table entity (
	node_id     bigint not null,
	entity_id   bigint not null,                   -- hash of kind and name
	kind        text not null,
	name        text not null,                     -- '' is the node itself
	primary key (node_id, entity_id)
);

create table reason (                              -- schema/reasons.def, refreshed by the collector at its start
	reason_id   smallint primary key,
	code        text not null unique,
	en          text not null,
	zh          text not null
);

create table red_key (                             -- what the numbers in red count
	node_id     bigint not null,
	key_id      bigint not null,                   -- hash of app, route, peer, role
	app         text not null,
	route       text not null,
	peer        text not null,
	role        smallint not null,                 -- 0 server, 1 client
	primary key (node_id, key_id)
);

create table source (                              -- the last state of each source of each probe
	node_id     bigint not null,
	name        text not null,
	state       smallint not null,                 -- 0 off, 1 attached, 2 throttled
	why         text not null,
	since       timestamptz not null,
	primary key (node_id, name)
);

create table ingest_mark (                         -- exactly once: moved in the transaction that stores
	node_id     bigint not null,
	epoch       bigint not null,
	stream      smallint not null,
	seq         bigint not null,
	lost        bigint not null default 0,         -- batches that the probe had to drop (base_seq)
	updated     timestamptz not null default now(),
	primary key (node_id, epoch, stream)
) with (fillfactor = 50);

create table quarantine (                          -- a batch that PostgreSQL refused; acked, kept, counted
	stored      timestamptz not null default now(),
	node_id     bigint not null,
	epoch       bigint not null,
	stream      smallint not null,
	seq         bigint not null,
	sqlstate    text not null,
	message     text not null,
	body        bytea not null
);

create table sample (
	ts          timestamptz not null,
	node_id     bigint not null,
	entity_id   bigint not null,
	layout_id   bigint not null,
	v           float8[] not null                  -- in the layout's order; NaN: unavailable
) partition by range (ts);
create index sample_by_entity on sample (node_id, entity_id, layout_id, ts);

create table request (                             -- abnormal requests, one row each
	ts          timestamptz not null,              -- first byte read
	node_id     bigint not null,
	request_id  bigint not null,                   -- hash of node, epoch, seq and place in the batch
	stored      timestamptz not null,              -- rises strictly with the commits of one collector
	app         text not null,
	comm        text not null,
	pid         int not null,
	tid         int not null,
	remote      inet,
	remote_port int not null,
	local       inet,
	local_port  int not null,
	method      text not null,
	path        text not null,
	route       text not null,
	flags       int not null,                      -- lib/item.h, enum request_flag
	status      smallint not null,                 -- 0: none
	request_us  bigint not null,
	queue_us    bigint not null,
	upstream_us bigint,                            -- sum over the tries; null: no upstream call
	bytes_in    bigint not null,
	bytes_out   bigint not null,
	normal_us   bigint not null,
	limit_us    bigint not null,
	retrans     int not null,
	srtt_us     int not null,
	rcv_ooo     int not null,
	reason_id   smallint not null,
	params      jsonb not null,                    -- {"addr":"10.0.0.1:80","ms":12.5}
	upstreams   jsonb not null                     -- [{"addr","startUs","connectUs","responseUs","status","error","retrans","srttUs","flags"}]
) partition by range (ts);
create index request_by_time on request (ts, request_id);
create index request_by_stored on request (stored);

create table red (
	ts          timestamptz not null,
	node_id     bigint not null,
	key_id      bigint not null,
	status_class smallint not null,                -- 1..5; 0: closed without an answer
	n           bigint not null,
	sum_us      bigint not null,
	lo          smallint not null,                 -- slot number of b[1]
	b           int4[] not null                    -- slot i counts durations of (2^(i-1), 2^i] us
) partition by range (ts);
create index red_by_time on red (ts);

create table unread (                              -- connections seen and not read
	ts          timestamptz not null,
	node_id     bigint not null,
	app         text not null,
	kind        text not null,                     -- tls, http2, upgraded, pipelined
	n           bigint not null
) partition by range (ts);
create index unread_by_time on unread (ts);

create table gap (                                 -- what a probe said it had to drop
	ts          timestamptz not null,
	node_id     bigint not null,
	epoch       bigint not null,
	stream      smallint not null,
	seq_from    bigint not null,
	seq_to      bigint not null
);

-- The three functions that differ between engines. Days are UTC.
create function ensure_partitions(days_back int, days_ahead int) returns int language plpgsql as $$
declare
	fact text;
	day date;
	made int := 0;
begin
	foreach fact in array array['sample', 'request', 'red', 'unread'] loop
		for i in -days_back .. days_ahead loop
			day := (now() at time zone 'utc')::date + i;
			if to_regclass(format('%I', fact || '_' || to_char(day, 'YYYYMMDD'))) is null then
				execute format('create table %I partition of %I for values from (%L) to (%L)',
					fact || '_' || to_char(day, 'YYYYMMDD'), fact,
					day::timestamp at time zone 'utc', (day + 1)::timestamp at time zone 'utc');
				made := made + 1;
			end if;
		end loop;
	end loop;
	return made;
end $$;

create function drop_old(keep_days int) returns int language plpgsql as $$
declare
	part record;
	dropped int := 0;
begin
	for part in
		select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
		join pg_class p on p.oid = i.inhparent
		where p.relname in ('sample', 'request', 'red', 'unread')
		  and c.relname ~ '_[0-9]{8}$'
		  and to_date(right(c.relname, 8), 'YYYYMMDD') < (now() at time zone 'utc')::date - keep_days
	loop
		execute format('drop table %I', part.relname);
		dropped := dropped + 1;
	end loop;
	return dropped;
end $$;
