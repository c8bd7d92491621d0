-- SPDX-License-Identifier: Apache-2.0
-- Incidents: signals of many nodes that belong together, with each step that was taken.
--
-- Only the correlating thread of one collector writes these tables. An incident_id is a hash of region, first signal and
-- onset, so a region and the global collector give an incident the same id. An incident is a few rows: there are no
-- partitions, and forget_incidents deletes old ones. The column host_id is a node_id; these tables are not spread over
-- machines but stay where the collector writes.

create table incident (
	incident_id bigint primary key,                -- hash of region, first signal and onset
	region_id   bigint not null,
	onset       timestamptz not null,              -- start of the first abnormal request, by the collector's clock
	last        timestamptz not null,              -- end of the last abnormal request, by the collector's clock
	opened      timestamptz not null,              -- time of the region's newest data when it was opened
	closed      timestamptz,                       -- null: open
	merged_into bigint,                            -- the incident that continues this one
	whole_us    float8 not null default 0,         -- total excess time in the last ranking
	clear       boolean not null default false,    -- the first candidate explains half
	headline    bigint,                            -- the signal in the title
	first_host  bigint,                            -- host_id of the first candidate
	shared      text not null default '',          -- a class that so many hosts share that the region itself has it
	shared_hosts int not null default 0,
	acknowledged timestamptz,
	acknowledged_by text not null default '',
	changed     timestamptz not null default now()
);
create index incident_by_onset on incident (onset, incident_id);
create index incident_by_last on incident (last);
create index incident_by_changed on incident (changed);

-- One kind of failure on one node. first, last and worst are by the node's clock, so that they find its rows.
create table incident_signal (
	incident_id bigint not null,
	signal_id   bigint not null,                   -- hash of node, app, route and class
	host_id     bigint not null,
	app         text not null,
	route       text not null,
	class       text not null,                     -- family of the reason; error: failed; error.up: failed at an upstream
	reason_id   smallint not null,                 -- of the worst request
	first       timestamptz not null,
	last        timestamptz not null,
	n           bigint not null,
	excess_us   bigint not null,                   -- time over normal
	worst       timestamptz[] not null,            -- samples, worst first: ts, request_id and excess
	worst_ids   bigint[] not null,
	worst_us    float8[] not null,
	primary key (incident_id, signal_id)
);
create index incident_signal_by_key on incident_signal (host_id, app, route);

-- The first three candidates of the last ranking.
create table incident_candidate (
	incident_id bigint not null,
	ranking     smallint not null,                 -- 0 by time, 1 by errors
	place       smallint not null,                 -- from 1
	host_id     bigint,                            -- null: external
	address     text not null,                     -- of an external candidate
	own         float8 not null,                   -- us, or failed requests, that arose on the host
	edge        float8 not null,                   -- and on the way to it
	share       float8 not null,                   -- of the whole
	parts       jsonb not null,                    -- [{"from","to","value"}]: node names or addresses; to null: own
	primary key (incident_id, ranking, place)
);

-- Other events of the nodes at that time, by the node's clock.
create table incident_event (
	incident_id bigint not null,
	host_id     bigint not null,
	kind        text not null,
	reason_id   smallint not null,                 -- of the worst event
	n           bigint not null,
	first       timestamptz not null,
	last        timestamptz not null,
	worst       timestamptz not null,              -- ts and event_id of the worst event
	worst_id    bigint not null,
	primary key (incident_id, host_id, kind)
);

-- Where the excess arose, for all hosts that had a part in it.
create table incident_graph (
	incident_id bigint primary key,
	parts       jsonb not null                     -- as in incident_candidate; "net" of an edge includes the callee's part
);

create table incident_step (
	incident_id bigint not null,
	step        int not null,                      -- from 1
	at          timestamptz not null,              -- time of the data
	made        timestamptz not null default now(),
	kind        text not null,                     -- opened, joined, ranked, closed, reopened, acknowledged, commented, merged, split
	who         text not null,                     -- '': Seismo itself
	detail      jsonb not null,
	primary key (incident_id, step)
);

-- The last row that the correlating thread counted; moved in the transaction that counts.
create table incident_mark (
	fact        text primary key,
	stored      timestamptz not null
);
