-- SPDX-License-Identifier: Apache-2.0
-- Regions: the outbox of a regional collector, and what a global collector takes from it.

-- Appends batches to the outbox, in this order; other writers wait until this transaction ends. Returns the last number in the
-- stream of events.
create or replace function outbox_put(new_epoch bigint, streams smallint[], walls bigint[], counts bigint[], bodies bytea[]) returns bigint language plpgsql as $$
begin
	insert into outbox_head values (1, new_epoch, 0), (2, new_epoch, 0) on conflict do nothing;
	perform from outbox_head where stream = 1 for update;
	with took as (
		update outbox_head h set seq = h.seq + (select count(*) from unnest(streams) s where s = h.stream) returning h.stream, h.seq),
	n as (
		select u.stream, u.wall, u.items, u.body, row_number() over (partition by u.stream order by u.i desc) - 1 as back
		from unnest(streams, walls, counts, bodies) with ordinality u(stream, wall, items, body, i))
	insert into outbox (stream, seq, wall_ns, items, body)
		select n.stream, t.seq - n.back, n.wall, n.items::int, n.body from n join took t using (stream);
	return (select seq from outbox_head where stream = 1);
end $$;

-- Starts another epoch, in which the remaining batches are numbered from 1: the global collector has numbers of the old epoch
-- that were never given here, as after a restored backup.
create or replace function outbox_renew(new_epoch bigint) returns void language plpgsql as $$
begin
	perform from outbox_head order by stream for update;
	update outbox_head h set epoch = new_epoch,
		seq = (select count(*) from outbox o where o.stream = h.stream);
	update outbox o set seq = -n.i from (select stream, seq, row_number() over (partition by stream order by seq) as i from outbox) n
		where o.stream = n.stream and o.seq = n.seq;
	update outbox set seq = -seq where seq < 0;
end $$;

-- Starts another epoch if the outbox is in another cluster, database or timeline than before.
create or replace function outbox_home(new_epoch bigint) returns boolean language plpgsql as $$
declare
	here text := (select s.system_identifier || '/' || d.oid || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
		from pg_control_system() s, pg_database d where d.datname = current_database());
	moved boolean;
begin
	perform from outbox_head order by stream for update;
	moved := exists (select from outbox_head where home not in ('', here));
	if moved then
		perform outbox_renew(new_epoch);
	end if;
	update outbox_head set home = here where home <> here;
	return moved;
end $$;

-- For each of these batches whether it is stored here already; the others are marked as stored.
create or replace function take_relayed(nodes bigint[], epochs bigint[], streams bigint[], seqs bigint[]) returns boolean[] language plpgsql as $$
declare
	again boolean[];
begin
	insert into relayed (node_id, epoch, heard) select distinct u.node, u.epoch, now() from unnest(nodes, epochs) u(node, epoch)
		on conflict (node_id, epoch) do nothing;
	select array_agg(w.seq <= greatest(r.seq[w.stream], w.before) order by w.i) into again
		from (select u.*, max(u.seq) over (partition by u.node, u.epoch, u.stream order by u.i rows between unbounded preceding and 1 preceding) as before
			from unnest(nodes, epochs, streams, seqs) with ordinality u(node, epoch, stream, seq, i)) w
		join relayed r on r.node_id = w.node and r.epoch = w.epoch;
	update relayed r set heard = now(), seq = array[greatest(r.seq[1], m.events), greatest(r.seq[2], m.metrics)]
		from (select u.node, u.epoch, max(u.seq) filter (where u.stream = 1) as events, max(u.seq) filter (where u.stream = 2) as metrics
			from unnest(nodes, epochs, streams, seqs) u(node, epoch, stream, seq) group by 1, 2) m
		where r.node_id = m.node and r.epoch = m.epoch;
	return again;
end $$;

-- Stores a part of a region's report of an hour: it replaces the whole hour, or the part of that number. A report of an hour that
-- is over has numbers below 2^24, and ends the reports before it.
create or replace function take_rollup(of_hour timestamptz, the_node bigint, the_layout bigint, the_part int, whole boolean, ids bigint[], packed bytea)
returns void language plpgsql as $$
begin
	perform ensure_partition('sample_1m', 'day', of_hour); -- where two collectors do so at once, one tries again
	delete from sample_1m s where s.hour = of_hour and s.node_id = the_node and s.layout_id = the_layout
		and (whole or s.part = the_part or (s.part >= 16777216 and the_part < 16777216));
	insert into sample_1m (hour, node_id, layout_id, part, entities, chunk, made_by) values (of_hour, the_node, the_layout, the_part, ids, packed, 2);
end $$;

create or replace function set_relay_rolled(slot bigint, last_node bigint) returns void language sql as $$
	delete from relay_rolled;
	insert into relay_rolled values (slot, last_node);
$$;

-- A region reports about itself by its relay, and about regions that have had no relay of their own here since yesterday.
create or replace function relay_speaks_for(region bigint, by_region text) returns boolean language sql stable as $$
	select exists (select from region g where g.region_id = region and g.name = by_region)
		or not exists (select from region_relay r where r.region_id = region and r.heard > now() - interval '1 day')
$$;

-- The incidents to report now. An incident that only goes on is reported every 10 s, and not to a collector that is away.
create or replace function incidents_to_tell(up boolean, most int) returns table (id bigint, region text, onset timestamptz, last timestamptz,
	opened timestamptz, closed timestamptz, merged_into bigint, first_host bigint, title text, shape bigint, said bigint) language plpgsql stable as $$
begin
	return query with i as materialized (select c.*,
			hashtextextended(concat_ws('|', c.closed is null, c.merged_into, c.first_host, g.ids), 0) as is_shape,
			hashtextextended(concat_ws('|', c.closed, c.last, c.whole_us, g.n), 0) as is_said
		from incident c cross join lateral (select sum(s.n) as n, string_agg(s.signal_id::text, ',' order by s.signal_id) as ids
			from incident_signal s where s.incident_id = c.incident_id) g
		where c.changed > now() - interval '1 hour'),
	due as materialized (select i.*, coalesce(r.name, '') as of_region from i left join region r using (region_id) left join relay_told_incident t using (incident_id)
		where t.shape is distinct from i.is_shape or (up and t.said is distinct from i.is_said and t.at < now() - interval '10 s')
		order by i.incident_id limit most)
	select d.incident_id, d.of_region, d.onset, d.last, d.opened, d.closed, d.merged_into, d.first_host, v.body -> 'text' ->> 'en', d.is_shape, d.is_said
	from due d join api.incident v on v.onset = d.onset and v.incident_id = d.incident_id order by d.incident_id;
end $$;

-- Stores a relay's report of an incident. A relay reports about its own region, and about regions that relay through it, but not
-- about a region that another relay reports.
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

-- The incident that a merged incident became, through any number of merges.
create or replace function incident_end(of bigint) returns bigint language plpgsql stable as $$
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

-- Reports that were not taken over yet, one row for each signal on a node that is known here and whose reports come by that
-- relay: two regions may each have a web-1, and the global collector takes the first. here: the incident that it is or would be a
-- part of; has_row: it exists. Reports without any known node may be many, and must not delay those that can be taken over.
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
