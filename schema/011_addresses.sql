-- SPDX-License-Identifier: Apache-2.0
-- 011_addresses.sql - the rows of one client or upstream. Their trigrams are those of every address: of `10.0.0.1:`
-- and the like PostgreSQL read the whole day and gave up after 5 s. Of a day's two million rows these indexes take 76
-- and 50 MB, beside 274 MB of trigrams, which take so much of the time of an insert that none was seen for these.
-- A whole table is indexed here, once: two minutes for ten million rows.

create index request_by_remote on request ((coalesce(api.addr(remote, remote_port), '')) text_pattern_ops);
create index request_by_upstream on request ((coalesce(upstreams -> -1 ->> 'addr', '')) text_pattern_ops,
	date_bin('1 minute', ts, timestamptz 'epoch'));

-- With the status, for pages of a node or route and a status; without it they had to look at every row of that node
-- (10 bytes a row) or route (25).
drop index request_by_node, request_by_route;
create index request_by_node on request (node_id, date_bin('1 minute', ts, timestamptz 'epoch'), app, route, status);
create index request_by_route on request (route, date_bin('1 minute', ts, timestamptz 'epoch'), status);

-- Without figures of the addresses a plan reads the day.
analyze request;
