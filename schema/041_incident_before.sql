-- SPDX-License-Identifier: Apache-2.0
-- 041_incident_before.sql - what a route was before it became slow is what it was while its node had no incident: of two faults
-- one after the other the second is not hidden by the first. And what its rows told of an incident that is over, its counts do
-- not tell once more.

drop function incident_slow(bigint, timestamptz, timestamptz);

-- As in 028; wrong: its node had an incident then, 1: one that goes on, 2: that is over.
create function incident_slow(least_us bigint, since timestamptz, until timestamptz)
returns table (node bigint, key bigint, role smallint, app text, route text, peer text, ts timestamptz, judged bigint, excess bigint, wrong int)
language plpgsql stable as $$
begin
	return query with slow as materialized (select distinct r.node_id, r.key_id from red r
			where r.ts > since and r.ts <= until and r.judged > 0 and r.excess_us >= 10000 * r.judged and r.excess_us >= least_us * r.judged),
		bad as materialized (select g.host_id, i.onset - o.off as first, greatest(i.onset, i.last) - o.off as last, case when i.closed is null then 1 else 2 end as wrong
			from incident i join (select distinct s.incident_id, s.host_id from incident_signal s where s.host_id in (select w.node_id from slow w)) g using (incident_id)
			cross join lateral (select (incident_clocks(array[g.host_id], i.onset))[1] as off) o where i.last > since - interval '1 hour'),
		c as materialized (select k.node_id, k.key_id, k.role, k.app, k.route, k.peer, r.ts, sum(r.judged)::bigint as judged, sum(r.excess_us)::bigint as excess
			from slow s join red_key k using (node_id, key_id) join red r using (node_id, key_id)
			where k.role in (0, 1) and r.ts > since - interval '20 minutes' and r.ts <= until and r.judged > 0
			group by k.node_id, k.key_id, r.ts)
		select c.*, coalesce((select min(b.wrong) from bad b where b.host_id = c.node_id and c.ts > b.first and c.ts <= b.last + interval '10 s'), 0)
		from c order by c.node_id, c.key_id, c.ts;
end $$;

revoke execute on all functions in schema public from public;
