-- SPDX-License-Identifier: Apache-2.0
-- Regions, nodes, their entities, sources, clocks and tags.

create table region (
	region_id   bigint primary key,
	name        text not null unique
);

create table node (
	node_id     bigint primary key,
	region_id   bigint not null,
	name        text not null,
	machine     text not null default '',          -- /etc/machine-id from the last HELLO
	version     text not null default '',          -- of the probe
	tags        jsonb not null default '{}',       -- the tags that hold now; set_tag keeps them
	first_seen  timestamptz not null default now(),
	last_seen   timestamptz not null default now() -- the tick of the last stored batch
);

-- The parts of a node that have metrics of their own: disks, network interfaces, cgroups.
create table entity (
	node_id     bigint not null,
	entity_id   bigint not null,                   -- hash of kind and name
	kind        text not null,
	name        text not null,                     -- '' is the node itself
	-- Container, pod, unit or batch job of a cgroup. The collector derives labels from the name (lib/cgroup_name.h);
	-- they are not part of the identity.
	labels      jsonb not null default '{}',
	primary key (node_id, entity_id)
);

-- The last state of each source of each probe.
create table source (
	node_id     bigint not null,
	name        text not null,
	state       smallint not null,                 -- 0 off, 1 attached, 2 throttled
	why         text not null,
	since       timestamptz not null,
	primary key (node_id, name)
);

-- The last scores of each node (collector/score.h), 0 to 100; null: not known.
create table node_score (
	node_id     bigint primary key,
	at          timestamptz not null,              -- when the scores were computed
	saturation  smallint,
	load        smallint,
	latency     smallint,
	error       smallint,
	causes      jsonb not null
) with (fillfactor = 50);

-- How far the clock of a node is off, with history. All clocks of a region are compared with the clock of its
-- collector. A node reports its offset when the offset changes, and once an hour.
create table clock (
	node_id     bigint not null,
	told        timestamptz not null,              -- when the row was stored; orders the reports
	since       timestamptz not null,              -- by the node's clock: the offset holds from then on
	collector_since timestamptz not null,          -- the same moment by the collector's clock
	offset_us   bigint not null,                   -- node time + offset_us = collector time
	uncertainty_us bigint not null,                -- largest error of offset_us
	primary key (node_id, told)
);

-- Tags that operators give to nodes and entities (region, az, rack, role), with history: a tag holds in [since, until).
-- The collector's tag commands and the inventory write this table; metrics and requests carry no tags.
create table tag (
	node_id     bigint not null,
	entity_id   bigint not null default 0,         -- 0: the node itself
	key         text not null check (key ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,62}$'),
	value       text not null check (value <> '' and length(value) <= 128),
	since       timestamptz not null,
	until       timestamptz not null default 'infinity',
	said_by     text not null,                     -- "command", "inventory"
	primary key (node_id, entity_id, key, since)
);
create index tag_by_value on tag (key, value);
