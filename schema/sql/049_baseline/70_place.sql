-- SPDX-License-Identifier: Apache-2.0
-- Addresses: which node and app an address belongs to, as the probes report it, with history.

create table place (
	node_id     bigint not null,
	addr        inet not null,
	port        int not null,                      -- 0: any
	kind        smallint not null,                 -- lib/item.h, enum place_kind
	netns       bigint not null,                   -- 0: the node's own network namespace
	app         text not null,                     -- the listening app; '': none, or not known
	since       timestamptz not null,              -- first report
	until       timestamptz                        -- null: still true
);
create index place_by_addr on place (addr, node_id, port);
create index place_by_node on place (node_id, netns, kind, port);
create index place_by_app on place (app) where kind in (2, 4);

-- When each node last reported all its places.
create table place_told (
	node_id     bigint primary key,
	ts          timestamptz not null,
	places      int not null,
	left_out    int not null                       -- places over the limit of a report
);

-- Addresses that a node translates (NAT): a service address, a port of docker's, traffic that leaves by a router.
create table nat (
	node_id     bigint not null,
	-- lib/item.h, enum way_kind. 1: calls to `seen` reach `behind`. 2: traffic from `behind` is seen as from `seen`.
	kind        smallint not null,
	seen        inet not null,
	seen_port   int not null,                      -- 0 for kind 2
	behind      inet not null,
	behind_port int not null,
	netns       bigint not null,                   -- 0: the node's own network namespace
	since       timestamptz not null,              -- first report
	until       timestamptz                        -- null: still true
);
create index nat_by_seen on nat (seen, seen_port);
create index nat_by_behind on nat (behind, behind_port) where kind = 1;
create index nat_by_node on nat (node_id);
