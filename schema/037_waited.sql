-- SPDX-License-Identifier: Apache-2.0
-- 037_waited.sql - red_key.role 4: what the requests of role 0 waited for somebody by another protocol than HTTP, a database say; peer is its
-- address, as of role 1. Hosts are ranked by it as by a call; where that is on the host itself, it is what the host took.

create or replace function incident_ip(role smallint, peer text) returns inet language plpgsql immutable as $$
begin
	return case when role in (1, 4) then api.peer_ip(peer) when peer ~ '^[0-9a-f:.]+$' then peer::inet end;
exception when invalid_text_representation then
	return null;
end $$;

create or replace function incident_others(keys bigint[], nodes bigint[], until timestamptz) returns table (host bigint, key_id bigint, other bigint)
language plpgsql stable as $$
begin
	return query with k as materialized (select k.node_id, k.key_id, k.role, k.peer from red_key k
			where k.node_id = any(nodes) and k.key_id = any(keys) and k.role in (1, 3, 4)),
		p as materialized (select row_number() over () as i, d.* from (select distinct k.node_id, k.role, k.peer from k) d),
		r as materialized (select r.i, r.node_id from (select array_agg(incident_ip(p.role, p.peer) order by p.i) as ips,
				array_agg(coalesce(case when p.role in (1, 4) then api.peer_port(p.peer) end, 0) order by p.i) as ports,
				array_agg(until order by p.i) as ats, array_agg(p.node_id order by p.i) as asking from p) a,
			api.resolve_all(a.ips, a.ports, a.ats, a.asking) r)
		select k.node_id, k.key_id, r.node_id from k join p using (node_id, role, peer) join r using (i);
end $$;

create or replace function incident_sums(nodes bigint[], since timestamptz, until timestamptz)
returns table (host bigint, role smallint, peer text, other bigint, n float8, errors float8, judged float8, excess float8,
	n_before float8, errors_before float8, judged_before float8, excess_before float8, us float8, us_before float8) language plpgsql stable as $$
begin
	return query with now as materialized (select r.node_id, r.key_id, sum(r.n)::float8 as n,
			coalesce(sum(r.n) filter (where r.status_class in (0, 5)), 0)::float8 as errors,
			coalesce(sum(r.judged), 0)::float8 as judged, coalesce(sum(r.excess_us), 0)::float8 as excess, sum(r.sum_us)::float8 as us
			from red r where r.node_id = any(nodes) and r.ts > since and r.ts <= until group by 1, 2),
		before as materialized (select r.node_id, r.key_id, sum(r.n)::float8 as n,
			coalesce(sum(r.n) filter (where r.status_class in (0, 5)), 0)::float8 as errors,
			coalesce(sum(r.judged), 0)::float8 as judged, coalesce(sum(r.excess_us), 0)::float8 as excess, sum(r.sum_us)::float8 as us
			from incident_free(since) f join red r on r.node_id = any(nodes) and r.ts > f.since and r.ts <= f.until group by 1, 2)
		select k.node_id, case when k.role <> 4 then k.role when o.other = k.node_id then 2::smallint else 1::smallint end, k.peer, o.other,
			w.n, w.errors, w.judged, w.excess, coalesce(b.n, 0), coalesce(b.errors, 0), coalesce(b.judged, 0), coalesce(b.excess, 0), w.us, coalesce(b.us, 0)
		from now w join red_key k using (node_id, key_id) left join before b using (node_id, key_id)
		left join incident_others(array(select distinct u.key_id from now u), nodes, until) o on o.host = w.node_id and o.key_id = w.key_id;
end $$;

revoke execute on all functions in schema public from public;
do $$ begin perform grant_web(); end $$;
