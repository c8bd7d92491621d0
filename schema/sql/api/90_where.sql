-- SPDX-License-Identifier: Apache-2.0
-- Which host caused a problem in a range of time that somebody asks about: ranked like an incident, without one.

-- The counts of a range, and of the half hour before it without an incident, [usual_since, usual_until]. Counts arrive up to
-- 20 s late.
create or replace function api.where_sums(from_at timestamptz, to_at timestamptz, of_region text, of_node text)
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

-- The calls of a range, with names, ordered by node. Called after where_sums, which refuses a range that is too long.
create or replace function api.where_calls(from_at timestamptz, to_at timestamptz, of_region text, of_node text)
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
