-- SPDX-License-Identifier: Apache-2.0
-- Samples of metrics. A sample is in one of three tables, and readers look into all three:
--   sample_raw  rows of the current hours as they arrive; one row holds several entities of one layout and tick.
--   sample      one row per entity: samples that arrived after their hour was closed.
--   sealed      one hour, packed by column (docs/reference/chunk.md), with its rollups in sample_1m, sample_10m and sample_1h.
-- collector/seal.c moves an hour into sealed and the rollups, and out of the other tables, in one transaction.

create table layout (
	layout_id   bigint primary key,
	entity_kind text not null,                     -- node, disk, net
	names       text[] not null,
	units       text[] not null,
	kinds       smallint[] not null                -- 0 gauge, 1 counter as delta
);

create table sample (
	ts          timestamptz not null,
	node_id     bigint not null,
	entity_id   bigint not null,
	layout_id   bigint not null,
	v           float8[] not null                  -- in the order of the layout; NaN: unavailable
) partition by range (ts);
create index sample_by_entity on sample (node_id, entity_id, layout_id, ts);

create table sample_raw (
	ts          timestamptz not null,
	node_id     bigint not null,
	layout_id   bigint not null,
	entities    bigint[] not null,                 -- entity_ids, in the order of their values
	a           float4[],                          -- only in rows without v: the values of each entity in turn
	b           float8[],                          -- values that are no float4; null or missing in both a and b is 0
	v           bytea                              -- all values (docs/reference/chunk.md, "Before an hour is packed"); null in older rows
) partition by range (ts);
-- Partitions are hours, so the index does not need ts: equal keys are kept once.
create index sample_raw_by_layout on sample_raw (node_id, layout_id);

-- made_by is the format version of the collector that packed the chunk. Collectors that know no v do not set it, get 1
-- by default, and the constraint keeps their chunks out.
create table sealed (
	hour        timestamptz not null,              -- start of the hour
	node_id     bigint not null,
	layout_id   bigint not null,
	part        int not null,                      -- from 0; a layout that does not fit one chunk has several
	entities    bigint[] not null,
	chunk       bytea not null,                    -- docs/reference/chunk.md: one column per metric and entity
	made_by     smallint not null default 1
) partition by range (hour);

-- Each metric has four columns in these: n, min, max and sum of a minute, of ten minutes, and of the hour.
create table sample_1m (like sealed including defaults) partition by range (hour);
create table sample_10m (like sealed including defaults) partition by range (hour);
create table sample_1h (like sealed including defaults) partition by range (hour);

alter table sealed add constraint packed_by_a_collector_since_029 check (made_by >= 2) not valid;
alter table sample_1m add constraint packed_by_a_collector_since_029 check (made_by >= 2) not valid;
alter table sample_10m add constraint packed_by_a_collector_since_029 check (made_by >= 2) not valid;
alter table sample_1h add constraint packed_by_a_collector_since_029 check (made_by >= 2) not valid;

-- Chunks of sealed are packed already, and external storage lets readers read a part. Rollups have short columns and a
-- large directory, which PostgreSQL compresses further.
alter table sealed alter column chunk set storage external;
create unique index sealed_by_layout on sealed (node_id, layout_id, hour, part);
create unique index sample_1m_by_layout on sample_1m (node_id, layout_id, hour, part);
create unique index sample_10m_by_layout on sample_10m (node_id, layout_id, hour, part);
create unique index sample_1h_by_layout on sample_1h (node_id, layout_id, hour, part);
