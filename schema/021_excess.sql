-- SPDX-License-Identifier: Apache-2.0
-- 021_excess.sql - what hosts are ranked by: a server's own time, its clients, and by how much requests were over what is usual.
--
-- red_key.role: 0 server, 1 client, 2 own (its requests' times less their upstream calls), 3 served (its requests again, by the
-- client's address in peer; route is empty). The last two tell of requests that role 0 has counted: who counts requests reads
-- roles 0 and 1, as api.red does.

alter table red
	add column excess_us bigint,                   -- sum of what is over p50 + 3 IQR of the key; null: not known
	add column judged bigint;                      -- of how many of n this is known

create or replace view api.red as
select d.ts, n.name as node, coalesce(g.name, '') as region, k.app, k.route, k.peer,
	case k.role when 0 then 'server' else 'client' end as role,
	d.status_class, d.n, d.sum_us, d.lo, d.b
from red d
join red_key k using (node_id, key_id)
join node n using (node_id)
left join region g using (region_id)
where k.role in (0, 1);
