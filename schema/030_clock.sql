-- SPDX-License-Identifier: Apache-2.0
-- 030_clock.sql - how far the clocks of nodes are off, with history: what joins rows of two nodes by time asks here.
--
-- The time of a collector is what all clocks of its region are compared with. A node tells its own when it is another than it
-- was, and once an hour.

create table clock (
	node_id        bigint not null,
	told           timestamptz not null,           -- when that was stored: the order in which it was so
	since          timestamptz not null,           -- by the node's clock: it is so of what it dated from then on
	collector_since timestamptz not null,          -- the same moment by the collector's
	offset_us      bigint not null,                -- added to a time of the node it makes the collector's
	uncertainty_us bigint not null,                -- not more than this from the truth
	primary key (node_id, told)
);

create function take_clocks(nodes bigint[], sinces timestamptz[], offsets bigint[], uncertainties bigint[]) returns void language sql as $$
	insert into clock (node_id, told, since, collector_since, offset_us, uncertainty_us)
		select u.node, now() + u.i * interval '1 microsecond', u.since, u.since + u.off * interval '1 microsecond', u.off, u.unc
		from unnest(nodes, sinces, offsets, uncertainties) with ordinality u(node, since, off, unc, i)
		on conflict do nothing
$$;
revoke execute on function take_clocks(bigint[], timestamptz[], bigint[], bigint[]) from public;
