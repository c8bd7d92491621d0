-- SPDX-License-Identifier: Apache-2.0
-- 047_near_both_ways.sql - who is near whom does not depend on who is asked: behind a NAT only one of two that call each other
-- knows the other's address, and what both say of a fault is one incident, whoever is heard first.

-- Who calls these nodes at an address of theirs (of an interface, or a container's: lib/item.h), or is asked from one, though these know
-- whoever it is by another or not at all. The first 1,000 such calls that are found, of a node that many more call.
create function incident_claimed(nodes bigint[], since timestamptz, until timestamptz) returns table (other bigint)
language plpgsql stable as $$
begin
	return query with address as materialized (select distinct p.addr from place p where p.node_id = any(nodes) and p.kind in (1, 3)
			and p.since <= incident_claimed.until and (p.until is null or p.until > incident_claimed.since) and not (p.addr << inet '127.0.0.0/8' or p.addr = inet '::1')),
		beyond as materialized (
			select b.node_id, b.key_id from address a join red_key b on b.role = 3 and b.peer collate "C" = host(a.addr)
			union select b.node_id, b.key_id from address a join red_key b on b.role = 1
				and b.peer collate "C" >= incident_called(a.addr) and b.peer collate "C" < left(incident_called(a.addr), -1) || ';'),
		alive as materialized (select b.node_id, b.key_id from beyond b where b.node_id <> all(nodes) and exists (select from red r
			where r.node_id = b.node_id and r.key_id = b.key_id and r.ts > incident_claimed.since and r.ts <= incident_claimed.until) limit 1000)
	select distinct o.host from incident_others(array(select distinct v.key_id from alive v), array(select distinct v.node_id from alive v), incident_claimed.until) o
		join alive v on v.node_id = o.host and v.key_id = o.key_id where o.other = any(nodes);
end $$;

-- What these nodes say themselves (035), and what others say of them.
alter function incident_near(bigint[], timestamptz, timestamptz) rename to incident_says;
create function incident_near(nodes bigint[], since timestamptz, until timestamptz) returns table (other bigint) language sql stable as $$
	select s.other from incident_says(nodes, since, until) s union select c.other from incident_claimed(nodes, since, until) c
$$;

revoke execute on all functions in schema public from public;
