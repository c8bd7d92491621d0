-- SPDX-License-Identifier: Apache-2.0
-- Reception: which probes may send, and which of their batches are stored.

-- Exactly once: the mark of a stream moves in the transaction that stores the batch.
create table ingest_mark (
	node_id     bigint not null,
	epoch       bigint not null,
	stream      smallint not null,
	seq         bigint not null,
	lost        bigint not null default 0,         -- batches that the probe had to drop (base_seq)
	updated     timestamptz not null default now(),
	primary key (node_id, epoch, stream)
) with (fillfactor = 50);

-- Batches that PostgreSQL refused. They are acknowledged, kept here and counted.
create table quarantine (
	stored      timestamptz not null default now(),
	node_id     bigint not null,
	epoch       bigint not null,
	stream      smallint not null,
	seq         bigint not null,
	sqlstate    text not null,
	message     text not null,
	body        bytea not null
);

-- Batches that a probe reported as dropped.
create table gap (
	ts          timestamptz not null,
	node_id     bigint not null,
	epoch       bigint not null,
	stream      smallint not null,
	seq_from    bigint not null,
	seq_to      bigint not null
);

-- A node is identified by its CURVE public key alone (Z85, 40 characters). Only the collector's owner role reads and
-- writes node_key and enrol_token. A change is followed by `notify seismo_keys`, so that every collector of this
-- database applies it at once.
create table node_key (
	key         text primary key check (length(key) = 40),
	node_id     bigint not null,                   -- the only node that the key may send for
	name        text not null,                     -- from its first HELLO; node_id is its hash
	state       smallint not null,                 -- 0 pending, 1 approved, 2 revoked, 3 replaced by a later key
	rotate      boolean not null default false,    -- the node has to make a new key
	replaces    text,                              -- the older key, which ends when this key is first used
	machine     text not null default '',
	address     text not null default '',          -- from the last HELLO that needed a decision
	first_seen  timestamptz not null default now(),
	last_seen   timestamptz not null default now(), -- the last HELLO that needed a decision
	decided     timestamptz,
	decided_by  text not null default '',          -- "command", "token", "rotation"
	relay       text not null default '',          -- the region that the key may relay; '': none
	claims      text not null default ''           -- the relay that its last HELLO asked for
);
create index node_key_by_node on node_key (node_id);

create table enrol_token (
	hash        bytea primary key,                 -- SHA-256, so that reading this table gives no token away
	made        timestamptz not null default now(),
	expires     timestamptz not null,
	uses_left   int not null,
	node        text not null default ''           -- only for a node of this name, which may then replace its older key
);

revoke all on node_key, enrol_token from public;
