-- SPDX-License-Identifier: Apache-2.0
-- 035_incident_through.sql - who is near whom through a host without a probe: a balancer, a virtual address, a NAT.

create index red_key_by_other on red_key (peer collate "C", role) where role in (1, 3);

-- As red names the other end of a call: whatever begins so, up to the character behind the colon.
create function incident_called(ip inet) returns text language sql immutable parallel safe as $$
	select case family(ip) when 4 then host(ip) || ':' else '[' || host(ip) || ']:' end
$$;

-- As in 022, and whom one reaches by an address that nobody who is known has: who calls it, who is asked from it. Of one that
-- asks, or is called by, many it is not said who belongs to whom: a bastion, the world.
create or replace function incident_near(nodes bigint[], since timestamptz, until timestamptz) returns table (other bigint)
language plpgsql stable as $$
begin
	return query with used as materialized (select distinct r.node_id, r.key_id from red r
			where r.node_id = any(nodes) and r.ts > since and r.ts <= until),
		known as materialized (select o.* from incident_others(array(select distinct u.key_id from used u), nodes, until) o where o.other is not null),
		address as materialized (select distinct k.role, incident_ip(k.role, k.peer) as ip from used u join red_key k using (node_id, key_id)
			where k.role in (1, 3) and not exists (select from known n where n.host = k.node_id and n.key_id = k.key_id)),
		beyond as materialized (
			select a.ip, b.node_id, b.key_id from address a join red_key b on b.role = 3 and b.peer collate "C" = host(a.ip) where a.role = 1
			union all select a.ip, b.node_id, b.key_id from address a join red_key b on b.role = 1
				and b.peer collate "C" >= incident_called(a.ip) and b.peer collate "C" < left(incident_called(a.ip), -1) || ';' where a.role = 3),
		alive as materialized (select distinct b.ip, b.node_id from beyond b where exists (select from red r
			where r.node_id = b.node_id and r.key_id = b.key_id and r.ts > since and r.ts <= until))
	select distinct n.other from known n
	union select v.node_id from alive v where (select count(*) from alive w where w.ip = v.ip) <= 16;
end $$;

revoke execute on all functions in schema public from public;
