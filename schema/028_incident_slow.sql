-- SPDX-License-Identifier: Apache-2.0
-- 028_incident_slow.sql - routes and calls that are slower than usual on the whole, for which no request need be abnormal.

-- What the correlating thread asks for: a few in a thousand, when nothing is wrong. By 10 ms at the least.
create index red_slow on red (ts) where judged > 0 and excess_us >= 10000 * judged;

-- Of each key of requests (role 0) and of calls (1) of which a count in (since, until] was over its usual by least_us and more on average: its counts of
-- the 20 minutes before since, too, in order.
create function incident_slow(least_us bigint, since timestamptz, until timestamptz)
returns table (node bigint, key bigint, role smallint, app text, route text, peer text, ts timestamptz, judged bigint, excess bigint) language plpgsql stable as $$
begin
	return query with slow as materialized (select distinct r.node_id, r.key_id from red r
			where r.ts > since and r.ts <= until and r.judged > 0 and r.excess_us >= 10000 * r.judged and r.excess_us >= least_us * r.judged)
		select k.node_id, k.key_id, k.role, k.app, k.route, k.peer, r.ts, sum(r.judged)::bigint, sum(r.excess_us)::bigint
		from slow s join red_key k using (node_id, key_id) join red r using (node_id, key_id)
		where k.role in (0, 1) and r.ts > since - interval '20 minutes' and r.ts <= until and r.judged > 0
		group by k.node_id, k.key_id, r.ts order by k.node_id, k.key_id, r.ts;
end $$;
