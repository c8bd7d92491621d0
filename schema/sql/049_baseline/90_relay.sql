-- SPDX-License-Identifier: Apache-2.0
-- Regions that report to a global collector: the outbox of a regional collector, and what the global collector received.
--
-- A regional collector writes the outbox in the transaction that stores the same content, and only if a relay is
-- configured. Rows are batches as they are sent, numbered without a hole in each stream; an acknowledged batch is
-- deleted. These tables are small or short-lived and stay where the collector writes.

-- The last number given in each stream. The epoch is created with the outbox.
create table outbox_head (
	stream      smallint primary key,
	epoch       bigint not null,
	seq         bigint not null,
	home        text not null default ''           -- identifies cluster, database and timeline of the outbox; '': not known yet
);

create table outbox (
	stream      smallint not null,
	seq         bigint not null,
	wall_ns     bigint not null,                   -- tick of the batch
	items       int not null,
	body        bytea not null,
	made        timestamptz not null default now(),
	primary key (stream, seq)
);

-- Hash of the last report about each node to the global collector.
create table relay_told (
	node_id     bigint primary key,
	said        bigint not null
);

-- Hashes of the last report about each incident to the global collector.
create table relay_told_incident (
	incident_id bigint primary key,
	shape       bigint not null,                   -- of the fields that are reported at once
	said        bigint not null,
	at          timestamptz not null
);

-- Progress of the rollups that are sent before their hour is over.
create table relay_rolled (
	slot_s      bigint not null,                   -- start of the next five minutes, in s since 1970
	upto        bigint not null                    -- the nodes up to this node_id are in the outbox
);

-- Global collector: the last report of each relay about itself.
create table region_relay (
	region_id   bigint primary key,
	relay_id    bigint not null,                   -- the node_id that the relay connects with
	console     text not null,
	told        timestamptz not null,              -- everything that the region stored up to then is here
	heard       timestamptz not null
);

-- Global collector: processes of probes whose batches came by a relay.
create table relayed (
	node_id     bigint not null,
	epoch       bigint not null,
	heard       timestamptz not null,
	seq         bigint[] not null default '{0,0}', -- last stored batch of each stream
	primary key (node_id, epoch)
);

-- Global collector: the last report of each region about its incidents.
create table incident_told (
	incident_id bigint primary key,
	region_id   bigint not null,                   -- the region of the incident
	via         text not null,                     -- the region whose relay reported it
	onset       timestamptz not null,
	last        timestamptz not null,
	opened      timestamptz not null,
	closed      timestamptz,                       -- null: open
	into_id     bigint,                            -- the incident that continues it
	first_host  bigint,
	title       text not null,
	signals     jsonb not null,                    -- [{"node","app","route","class","reason","first_us","last_us","n","excess_us"}]
	version     bigint not null,                   -- number of the report
	heard       timestamptz not null
);
create index incident_told_by_heard on incident_told (heard);

-- Global collector: the incident here that each reported incident is a part of.
create table incident_part (
	told_id     bigint primary key,
	incident_id bigint not null,
	version     bigint not null,                   -- the report that is taken over
	open        boolean not null
);
create index incident_part_of on incident_part (incident_id);
