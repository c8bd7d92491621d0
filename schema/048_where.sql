-- SPDX-License-Identifier: Apache-2.0
-- 048_where.sql - which host it was, of any time that somebody asks about: as incidents are ranked, without one.

-- Whom to compare: of one node, those near it; else all of a region, or of the fleet; of more than 256 those with the most abnormal
-- time then, and those near them.
create function incident_scene(since timestamptz, until timestamptz, of_region text, of_node text) returns bigint[] language plpgsql stable as $$
declare
	most constant int := 256;
	reach constant int := 2;
	nodes bigint[];
	more bigint[];
begin
	if of_node is null then
		nodes := array(select n.node_id from node n left join region g using (region_id)
			where n.last_seen >= since and (of_region is null or g.name = of_region) limit most + 1);
		if cardinality(nodes) <= most then
			return nodes;
		end if;
		nodes := array(select q.node_id from request q join node n using (node_id) left join region g using (region_id)
			where q.ts >= since and q.ts < until and (of_region is null or g.name = of_region)
			group by q.node_id order by sum(q.queue_us + q.request_us - q.normal_us) desc, q.node_id limit most / 4);
	else
		nodes := array(select n.node_id from node n left join region g using (region_id) where n.name = of_node and (of_region is null or g.name = of_region));
	end if;
	for step in 1..reach loop
		more := array(select o.other from incident_near(nodes, since, until) o where o.other <> all(nodes) order by o.other limit most - cardinality(nodes));
		exit when cardinality(more) = 0;
		nodes := nodes || more;
	end loop;
	return nodes;
end $$;

-- How many events of these nodes say what was wrong with them, as incident_events lists them.
create function incident_wrong(nodes bigint[], since timestamptz, until timestamptz) returns table (host bigint, n bigint) language plpgsql stable as $$
declare
	offs interval[] := incident_clocks(nodes, since);
begin
	return query select e.node_id, count(distinct (e.ts, e.event_id)) from event e join unnest(nodes, offs) c(node_id, off) on c.node_id = e.node_id
		where e.ts > since - interval '1 minute' - (select max(o) from unnest(offs) o) and e.ts <= until - (select min(o) from unnest(offs) o)
		and e.ts > since - interval '1 minute' - c.off and e.ts <= until - c.off and e.severity > 1 and e.kind <> 'probe.budget' group by 1;
end $$;

-- What was counted then, and in the half hour before without an incident: [usual_since, usual_until] holds that. Counts are told up
-- to 20 s late.
create function api.where_sums(from_at timestamptz, to_at timestamptz, of_region text, of_node text)
returns table (host bigint, role smallint, peer text, other bigint, n float8, errors float8, judged float8, excess float8,
	n_before float8, errors_before float8, judged_before float8, excess_before float8, us float8, us_before float8, noise float8,
	host_name text, other_name text, events bigint, nodes bigint, usual_since text, usual_until text)
language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
	late constant interval := '20 seconds';
	longest constant interval := '1 hour 5 minutes'; -- who does not say up to when asks for five minutes more than there are
	scene bigint[];
begin
	if to_at - from_at > longest then
		raise exception 'at most an hour is compared with what was before; ask for the part in which it began.' using errcode = 'invalid_parameter_value';
	end if;
	scene := incident_scene(from_at, to_at, of_region, of_node);
	if cardinality(scene) = 0 then
		return;
	end if;
	return query with f as materialized (select api.rfc3339(min(f.since)) as since, api.rfc3339(max(f.until)) as until from incident_free_of(scene, from_at) f),
		s as materialized (select * from incident_sums(scene, from_at, to_at + late)),
		w as materialized (select * from incident_wrong(scene, from_at, to_at + late))
		select s.*, h.name, o.name, coalesce(w.n, 0), cardinality(scene)::bigint, f.since, f.until
		from s cross join f join node h on h.node_id = s.host left join node o on o.node_id = s.other left join w on w.host = s.host;
end $$;

-- The calls of each of these nodes to each host, or address of nobody's: made then, and expected of as many requests of the same
-- routes by those before it, as incident_sums has both. variance: of the difference, if both are Poisson counts.
create function incident_calls(nodes bigint[], since timestamptz, until timestamptz)
returns table (host bigint, other bigint, peer text, made float8, expected float8, variance float8) language plpgsql stable as $$
declare
	offs interval[] := incident_clocks(nodes, since);
	least_off interval := (select min(o) from unnest(offs) o);
	most_off interval := (select max(o) from unnest(offs) o);
begin
	return query with c as materialized (select u.node_id, u.off from unnest(nodes, offs) u(node_id, off)),
		now as materialized (select r.node_id, r.key_id, sum(r.n)::float8 as n from red r join c on c.node_id = r.node_id
			where r.node_id = any(nodes) and r.ts > since - most_off and r.ts <= until - least_off and r.ts > since - c.off and r.ts <= until - c.off group by 1, 2),
		before as materialized (select r.node_id, r.key_id, sum(r.n)::float8 as n
			from incident_free_of(nodes, since) f join red r on r.node_id = any(nodes) and r.ts > f.since - most_off and r.ts <= f.until - least_off
				join c on c.node_id = r.node_id and r.ts > f.since - c.off and r.ts <= f.until - c.off group by 1, 2),
		k as materialized (select k.node_id, k.key_id, k.role, k.app, k.route, k.peer, coalesce(w.n, 0) as n, coalesce(b.n, 0) as n_before
			from now w full join before b using (node_id, key_id) join red_key k using (node_id, key_id) where k.role in (0, 1)),
		served as (select k.node_id, k.app, k.route, sum(k.n) as n, sum(k.n_before) as n_before from k where k.role = 0 group by 1, 2, 3),
		call as materialized (select k.node_id, k.key_id, k.peer, k.n, k.n_before * s.n / s.n_before as expected, s.n / s.n_before as ratio
			from k join served s using (node_id, app, route) where k.role = 1 and s.n > 0 and s.n_before > 0)
		select l.node_id, o.other, case when o.other is null then l.peer end, sum(l.n), sum(l.expected), sum(l.expected * (1 + l.ratio))
		from call l left join incident_others(array(select a.key_id from call a), nodes, until) o on o.host = l.node_id and o.key_id = l.key_id group by 1, 2, 3;
end $$;

-- By name, those of a node one after the other. It is asked when where_sums has answered, which says what is too long.
create function api.where_calls(from_at timestamptz, to_at timestamptz, of_region text, of_node text)
returns table (host text, other text, peer text, made float8, expected float8, variance float8)
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
	scene bigint[] := incident_scene(from_at, to_at, of_region, of_node);
begin
	if cardinality(scene) > 0 then
		return query select h.name, o.name, c.peer, c.made, c.expected, c.variance
			from incident_calls(scene, from_at, to_at + interval '20 seconds') c join node h on h.node_id = c.host left join node o on o.node_id = c.other
			order by c.host, c.expected desc, o.name, c.peer;
	end if;
end $$;

revoke execute on all functions in schema public from public;
do $$ begin perform grant_web(); end $$;
