-- SPDX-License-Identifier: Apache-2.0
-- Stored rows that an engine of the collector could not apply. They are skipped and counted, and the engine goes on.
create table engine_refused (
	engine      text not null,                     -- incidents, archive, topology, relay: as in /healthz
	item        text not null,                     -- such as "incident 123"
	sqlstate    text not null,                     -- '': the collector itself could not read it
	message     text not null,
	body        text not null,                     -- the row, or the beginning of it
	first       timestamptz not null default now(),
	last        timestamptz not null default now(),
	times       bigint not null default 1,
	primary key (engine, item)
);
create index engine_refused_by_last on engine_refused (last);
