-- SPDX-License-Identifier: Apache-2.0
-- Rate, errors and duration (RED) of all requests and calls, and their rollups by minute and by ten minutes.
--
-- collector/red_roll.c closes a slot when it is over, and then rolls it up. A transaction that stores rows for a closed
-- slot adds the slot to red_late (take_red); readers read such a slot from red until it is rolled up again. So an answer
-- includes every stored row at any moment.

-- What the rows of red count, by role:
--   0 server  requests, by app and route
--   1 client  calls, by app, route and peer
--   2 own     the time of the requests of role 0 less their upstream calls
--   3 served  the requests of role 0 by the client's address, in peer; route is empty
--   4 waited  what the requests of role 0 waited for over another protocol than HTTP, such as a database; peer is its
--             address. Hosts are ranked by it as by a call; on the host itself it is the host's own time.
-- Only roles 0 and 1 count requests and calls, as api.red does.
create table red_key (
	node_id     bigint not null,
	key_id      bigint not null,                   -- hash of app, route, peer, role
	app         text not null,
	route       text not null,
	peer        text not null,
	role        smallint not null,
	primary key (node_id, key_id)
);
create index red_key_by_other on red_key (peer collate "C", role) where role in (1, 3);
create index red_key_by_call on red_key (peer, node_id) where role = 1;
create index red_key_by_app_node on red_key (app, role, node_id);

create table red (
	ts          timestamptz not null,
	node_id     bigint not null,
	key_id      bigint not null,
	status_class smallint not null,                -- 1..5; 0: closed without an answer
	n           bigint not null,
	sum_us      bigint not null,
	lo          smallint not null,                 -- slot number of b[1]
	b           int4[] not null,                   -- slot i counts durations of (2^(i-1), 2^i] us
	excess_us   bigint,                            -- sum of the time over p50 + 3 IQR of the key; null: not known
	judged      bigint                             -- number of requests in n for which excess_us is known
) partition by range (ts);
create index red_by_time on red (ts);
create index red_by_node on red (node_id, ts);
create index red_by_key on red (node_id, key_id, ts); -- the calls of one app in an hour, without the rows of other apps
-- For incident_slow: a few rows in a thousand when nothing is wrong.
create index red_slow on red (ts) where judged > 0 and excess_us >= 10000 * judged;

-- No index of red_10m or red_1m gives time order to the planner. With statistics that are minutes old a range of time
-- seems to hold one row, and PostgreSQL then read all rows of that time for each edge: 11 to 23 s with 10,000 nodes. A
-- slot is written as a whole, so BRIN finds it; tidy() of red_roll.c summarizes.
create table red_10m (
	ts          timestamptz not null,              -- start of the ten minutes
	node_id     bigint not null,
	key_id      bigint not null,                   -- roles 0 and 1 only
	status_class smallint not null,
	n           bigint not null,
	sum_us      bigint not null,
	slots       smallint[] not null,               -- slot slots[i] of red counted counts[i]; all other slots are 0
	counts      bigint[] not null
) partition by range (ts);
create index red_10m_by_key_n on red_10m (node_id, key_id, ts) include (n);
create index red_10m_by_time on red_10m using brin (ts) with (pages_per_range = 16);

create table red_1m (                              -- kept for six hours
	ts          timestamptz not null,              -- start of the minute
	node_id     bigint not null,
	key_id      bigint not null,                   -- roles 0 and 1 only
	status_class smallint not null,
	n           bigint not null,
	sum_us      bigint not null,
	slots       smallint[] not null,               -- as in red_10m
	counts      bigint[] not null
) partition by range (ts);
create index red_1m_by_key on red_1m (node_id, key_id, ts) include (n); -- edges are ranked from the index alone
create index red_1m_by_time on red_1m using brin (ts) with (pages_per_range = 16);

-- Slots of ten minutes to roll up, for the first time or again. A slot may have several rows.
create table red_late (
	slot        timestamptz not null,
	node_id     bigint                             -- null: all nodes
);

create table red_late_1m (                         -- the same for slots of a minute
	slot        timestamptz not null,
	node_id     bigint                             -- null: all nodes
);

-- One row: the slots in [since, until) are closed.
create table red_closed (
	since       timestamptz not null,
	until       timestamptz not null,
	since_1m    timestamptz not null default date_bin('1 minute', now(), timestamptz 'epoch'),
	until_1m    timestamptz not null default date_bin('1 minute', now(), timestamptz 'epoch')
);
insert into red_closed select date_bin('10 minutes', now(), timestamptz 'epoch'), date_bin('10 minutes', now(), timestamptz 'epoch');
