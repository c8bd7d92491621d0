-- SPDX-License-Identifier: Apache-2.0
-- 046_incident_noise.sql - what hosts and ways vary by when nothing is wrong: of ten thousand calls half a millisecond each is five
-- seconds, and may be nothing.

drop function incident_sums(bigint[], timestamptz, timestamptz);

-- As in 037, of each node by its clock (040); also what was counted before only: what a callee served then is of all calls, too.
-- noise, in us: by how much one request varies, as far as the means of half minutes tell, the shortest time that is
-- an incident: the mean of n varies by the root of n less. Of a call it is that of its way, which is what its callee did not
-- have of it at the same time. 0: not known, as of fewer than ten of these, or where it is not told by whom the callee was asked.
create function incident_sums(nodes bigint[], since timestamptz, until timestamptz)
returns table (host bigint, role smallint, peer text, other bigint, n float8, errors float8, judged float8, excess float8,
	n_before float8, errors_before float8, judged_before float8, excess_before float8, us float8, us_before float8, noise float8) language plpgsql stable as $$
declare
	offs interval[] := incident_clocks(nodes, since);
	least_off interval := (select min(o) from unnest(offs) o);
	most_off interval := (select max(o) from unnest(offs) o);
begin
	return query with c as materialized (select u.node_id, u.off from unnest(nodes, offs) u(node_id, off)),
		now as materialized (select r.node_id, r.key_id, sum(r.n)::float8 as n,
			coalesce(sum(r.n) filter (where r.status_class in (0, 5)), 0)::float8 as errors,
			coalesce(sum(r.judged), 0)::float8 as judged, coalesce(sum(r.excess_us), 0)::float8 as excess, sum(r.sum_us)::float8 as us
			from red r join c on c.node_id = r.node_id where r.node_id = any(nodes) and r.ts > since - most_off and r.ts <= until - least_off
				and r.ts > since - c.off and r.ts <= until - c.off group by 1, 2),
		half as materialized (select r.node_id, r.key_id, date_bin('30 seconds', r.ts + c.off, timestamptz 'epoch') as at, sum(r.n)::float8 as n,
			coalesce(sum(r.n) filter (where r.status_class in (0, 5)), 0)::float8 as errors,
			coalesce(sum(r.judged), 0)::float8 as judged, coalesce(sum(r.excess_us), 0)::float8 as excess, sum(r.sum_us)::float8 as us
			from incident_free_of(nodes, since) f join red r on r.node_id = any(nodes) and r.ts > f.since - most_off and r.ts <= f.until - least_off
				join c on c.node_id = r.node_id and r.ts > f.since - c.off and r.ts <= f.until - c.off group by 1, 2, 3),
		before as materialized (select m.node_id, m.key_id, sum(m.n) as n, sum(m.errors) as errors, sum(m.judged) as judged, sum(m.excess) as excess, sum(m.us) as us
			from half m group by 1, 2),
		k as materialized (select k.node_id, k.key_id, case when k.role <> 4 then k.role when o.other = k.node_id then 2::smallint else 1::smallint end as role, k.peer, o.other
			from now w full join before b using (node_id, key_id) join red_key k using (node_id, key_id)
			left join incident_others(array(select u.key_id from now u union select u.key_id from before u), nodes, until) o on o.host = k.node_id and o.key_id = k.key_id),
		own as (select m.node_id, m.key_id, incident_noise(percentile_cont(array[0.1, 0.9]) within group (order by m.excess / m.judged), sum(m.judged), count(*)) as noise
			from half m join k using (node_id, key_id) where k.role = 2 and m.judged > 0 group by 1, 2),
		call as materialized (select k.node_id as caller, k.other as callee, case when k.other is null then k.peer end as address, m.at, sum(m.n) as n, sum(m.us) as us
			from half m join k using (node_id, key_id) where k.role = 1 and m.n > 0 group by 1, 2, 3, 4),
		served as materialized (select k.other as caller, k.node_id as callee, m.at, sum(m.n) as n, sum(m.us) as us
			from half m join k using (node_id, key_id) where k.role = 3 and k.other is not null and m.n > 0 group by 1, 2, 3),
		way as (select l.caller, l.callee, l.address, l.n, l.us / l.n - coalesce(s.us / s.n, 0) as mean
			from call l left join served s on s.caller = l.caller and s.callee = l.callee and s.at = l.at where l.callee is null or s.n > 0),
		ways as (select w.caller, w.callee, w.address, incident_noise(percentile_cont(array[0.1, 0.9]) within group (order by w.mean), sum(w.n), count(*)) as noise from way w group by 1, 2, 3)
		select k.node_id, k.role, k.peer, k.other,
			coalesce(w.n, 0), coalesce(w.errors, 0), coalesce(w.judged, 0), coalesce(w.excess, 0),
			coalesce(b.n, 0), coalesce(b.errors, 0), coalesce(b.judged, 0), coalesce(b.excess, 0), coalesce(w.us, 0), coalesce(b.us, 0),
			coalesce(case k.role when 2 then o.noise when 1 then y.noise end, 0)
		from k left join now w using (node_id, key_id) left join before b using (node_id, key_id)
		left join own o using (node_id, key_id)
		left join ways y on k.role = 1 and y.caller = k.node_id and y.callee is not distinct from k.other and y.address is not distinct from case when k.other is null then k.peer end;
end $$;

-- Of so many means, of n requests in all, from their tenth and nine tenths, which a fault that was seen late does not move: these
-- are 2.563 standard deviations apart.
create function incident_noise(tenths float8[], n float8, means bigint) returns float8 language sql immutable as $$
	select case when means >= 10 then (tenths[2] - tenths[1]) / 2.563 * sqrt(n / means) else 0 end
$$;

revoke execute on all functions in schema public from public;
