-- SPDX-License-Identifier: Apache-2.0
-- 044_told_by_whom.sql - what a relay tells of incidents is of its own nodes, and holds up nobody else.
--
-- Nodes are known by their names: two regions may each have a web-1, of which the global collector takes the first that it
-- hears of, and refuses the other's rows. The other's incidents are told by the same node_id, and are not of that node.

-- Whom a region may tell of by its relay: of itself, and of whoever has had no relay of its own here since yesterday.
create function relay_speaks_for(region bigint, by_region text) returns boolean language sql stable as $$
	select exists (select from region g where g.region_id = region and g.name = by_region)
		or not exists (select from region_relay r where r.region_id = region and r.heard > now() - interval '1 day')
$$;

-- As in 033; a region that had a relay of its own and now has another before it was told of by nobody any more.
create or replace function take_incident(id bigint, region bigint, by_region text, hops int, onset_us bigint, last_us bigint, opened_us bigint, closed_us bigint,
	into_incident bigint, host bigint, the_title text, the_signals jsonb) returns void language sql as $$
	insert into incident_told as t select id, region, by_region, timestamptz 'epoch' + onset_us * interval '1 microsecond',
		timestamptz 'epoch' + last_us * interval '1 microsecond', timestamptz 'epoch' + opened_us * interval '1 microsecond',
		case when closed_us > 0 then timestamptz 'epoch' + closed_us * interval '1 microsecond' end,
		nullif(into_incident, 0), nullif(host, 0), the_title, the_signals, 1, now()
	where id > 0 and (hops = 1 or relay_speaks_for(region, by_region))
	on conflict (incident_id) do update set via = excluded.via, last = excluded.last, closed = excluded.closed, into_id = excluded.into_id,
		first_host = excluded.first_host, title = excluded.title, signals = excluded.signals, version = t.version + 1, heard = excluded.heard
		where t.region_id = excluded.region_id and (t.via = excluded.via or hops = 1)
$$;

-- What became of an incident that was merged, and what of that. No chain is so long.
create function incident_end(of bigint) returns bigint language plpgsql stable as $$
declare
	next_id bigint;
begin
	for i in 1 .. 100 loop
		next_id := (select c.merged_into from incident c where c.incident_id = of);
		exit when next_id is null;
		of := next_id;
	end loop;
	return of;
end $$;

-- As in 033, of nodes that who told it speaks for. Of what cannot be taken, as none of its nodes is known, there may be any
-- number: what can be is not behind it.
create or replace function incidents_told() returns table (id bigint, here bigint, region bigint, onset timestamptz, last timestamptz, opened timestamptz,
	closed timestamptz, into_id bigint, version bigint, was_open boolean, has_row boolean, node bigint, app text, route text, class text,
	reason bigint, first_us bigint, last_us bigint, n bigint, excess_us bigint) language plpgsql stable as $$
begin
	return query with t as materialized (select t.*, incident_end(coalesce(p.incident_id, t.incident_id)) as is_here, coalesce(p.open, false) as is_was_open
		from incident_told t left join incident_part p on p.told_id = t.incident_id left join incident o on o.incident_id = t.incident_id
		where t.heard > now() - interval '1 day' and p.version is distinct from t.version and (o.incident_id is null or o.region_id = t.region_id)),
	s as materialized (select t.incident_id, x.* from t cross join lateral jsonb_to_recordset(t.signals)
			x(node bigint, app text, route text, class text, reason bigint, first_us bigint, last_us bigint, n bigint, excess_us bigint)
		join node h on h.node_id = x.node
		where not exists (select from ingest_mark m where m.node_id = x.node) and relay_speaks_for(h.region_id, t.via)),
	d as materialized (select t.*, exists (select from incident i where i.incident_id = t.is_here and i.merged_into is null) as is_there from t),
	may as materialized (select d.* from d where d.into_id is not null or d.is_there or d.incident_id in (select s.incident_id from s)
		order by d.onset, d.incident_id limit 100)
	select d.incident_id, d.is_here, d.region_id, d.onset, d.last, d.opened, d.closed, coalesce(d.into_id, 0), d.version, d.is_was_open, d.is_there,
		s.node, s.app, s.route, s.class, s.reason, s.first_us, s.last_us, s.n, s.excess_us
	from may d left join s on s.incident_id = d.incident_id
	order by d.into_id is not null, d.onset, d.incident_id, s.first_us, s.node, s.class, s.route;
end $$;

revoke execute on function relay_speaks_for(bigint, text), incident_end(bigint) from public;
do $$ begin perform grant_web(); end $$;
