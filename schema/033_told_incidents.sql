-- SPDX-License-Identifier: Apache-2.0
-- 033_told_incidents.sql - incidents of regions, told to the global collector, which has them under the ids of their region.
--
-- All of it is small and lives as long as the incidents: it stays where the collector writes.

create index incident_by_changed on incident (changed);

create table relay_told_incident (                 -- what the global collector was told of each incident here, as hashes
	incident_id bigint primary key,
	shape       bigint not null,                   -- of what is told at once
	said        bigint not null,
	at          timestamptz not null
);

-- What is to be told now. What only went on is told every 10 s, and not at all to one that is away.
create function incidents_to_tell(up boolean, most int) returns table (id bigint, region text, onset timestamptz, last timestamptz,
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

create table incident_told (                       -- what regions said of their incidents last
	incident_id bigint primary key,
	region_id   bigint not null,                   -- whose it is
	via         text not null,                     -- the region whose relay told it
	onset       timestamptz not null,
	last        timestamptz not null,
	opened      timestamptz not null,
	closed      timestamptz,                       -- null: it goes on
	into_id     bigint,                            -- is a part of that one now
	first_host  bigint,
	title       text not null,
	signals     jsonb not null,                    -- [{"node","app","route","class","reason","first_us","last_us","n","excess_us"}]
	version     bigint not null,                   -- how often it was told
	heard       timestamptz not null
);
create index incident_told_by_heard on incident_told (heard);

create table incident_part (                       -- what of it was taken: of which incident here it is a part
	told_id     bigint primary key,
	incident_id bigint not null,
	version     bigint not null,
	open        boolean not null
);
create index incident_part_of on incident_part (incident_id);

-- A relay tells of its own region, and of those that relay to it: not of one that another relay speaks for here.
create function take_incident(id bigint, region bigint, by_region text, hops int, onset_us bigint, last_us bigint, opened_us bigint, closed_us bigint,
	into_incident bigint, host bigint, the_title text, the_signals jsonb) returns void language sql as $$
	insert into incident_told as t select id, region, by_region, timestamptz 'epoch' + onset_us * interval '1 microsecond',
		timestamptz 'epoch' + last_us * interval '1 microsecond', timestamptz 'epoch' + opened_us * interval '1 microsecond',
		case when closed_us > 0 then timestamptz 'epoch' + closed_us * interval '1 microsecond' end,
		nullif(into_incident, 0), nullif(host, 0), the_title, the_signals, 1, now()
	where hops = 1 or not exists (select from region_relay r where r.region_id = region)
	on conflict (incident_id) do update set via = excluded.via, last = excluded.last, closed = excluded.closed, into_id = excluded.into_id,
		first_host = excluded.first_host, title = excluded.title, signals = excluded.signals, version = t.version + 1, heard = excluded.heard
		where t.region_id = excluded.region_id and (t.via = excluded.via or hops = 1)
$$;

-- What was told and not taken yet, a row for each of its signals on a node that is known here and comes by a relay.
-- here: the incident that it is a part of, or would be; has_row: it is written.
create function incidents_told() returns table (id bigint, here bigint, region bigint, onset timestamptz, last timestamptz, opened timestamptz,
	closed timestamptz, into_id bigint, version bigint, was_open boolean, has_row boolean, node bigint, app text, route text, class text,
	reason bigint, first_us bigint, last_us bigint, n bigint, excess_us bigint) language plpgsql stable as $$
begin
	return query with d as materialized (select t.*, coalesce(p.incident_id, o.merged_into, t.incident_id) as here, coalesce(p.open, false) as was_open
		from incident_told t left join incident_part p on p.told_id = t.incident_id left join incident o on o.incident_id = t.incident_id
		where t.heard > now() - interval '1 day' and p.version is distinct from t.version and (o.incident_id is null or o.region_id = t.region_id)
		order by t.onset, t.incident_id limit 100)
	select d.incident_id, d.here, d.region_id, d.onset, d.last, d.opened, d.closed, coalesce(d.into_id, 0), d.version, d.was_open,
		exists (select from incident i where i.incident_id = d.here and i.merged_into is null),
		s.node, s.app, s.route, s.class, s.reason, s.first_us, s.last_us, s.n, s.excess_us
	from d left join lateral (select x.* from jsonb_to_recordset(d.signals)
			x(node bigint, app text, route text, class text, reason bigint, first_us bigint, last_us bigint, n bigint, excess_us bigint)
		join node h on h.node_id = x.node
		where not exists (select from ingest_mark m where m.node_id = x.node)) s on true
	order by d.into_id is not null, d.onset, d.incident_id, s.first_us, s.node, s.class, s.route;
end $$;

-- As in 022, with the parts of which it consists.
create or replace function incident_fold(gone bigint, into_id bigint) returns void language plpgsql as $$
begin
	insert into incident_signal as s select into_id, g.signal_id, g.host_id, g.app, g.route, g.class, g.reason_id, g.first, g.last, g.n,
			g.excess_us, g.worst, g.worst_ids, g.worst_us
		from incident_signal g where g.incident_id = gone
		on conflict (incident_id, signal_id) do update set first = least(s.first, excluded.first), last = greatest(s.last, excluded.last),
			n = s.n + excluded.n, excess_us = s.excess_us + excluded.excess_us;
	delete from incident_signal where incident_id = gone;
	delete from incident_candidate where incident_id = gone;
	delete from incident_event where incident_id = gone;
	update incident_part p set incident_id = into_id where p.incident_id = gone;
	update incident i set last = greatest(i.last, g.last), changed = now() from incident g where i.incident_id = into_id and g.incident_id = gone;
end $$;

create or replace function forget_incidents(keep_days int) returns void language plpgsql as $$
declare
	gone bigint[] := array(select incident_id from incident where last < now() - keep_days * interval '1 day');
begin
	delete from incident_signal where incident_id = any(gone);
	delete from incident_candidate where incident_id = any(gone);
	delete from incident_graph where incident_id = any(gone);
	delete from incident_event where incident_id = any(gone);
	delete from incident_step where incident_id = any(gone);
	delete from incident where incident_id = any(gone);
	delete from incident_part p using incident_told t where t.incident_id = p.told_id and t.last < now() - keep_days * interval '1 day';
	delete from incident_told where last < now() - keep_days * interval '1 day';
	delete from relay_told_incident t where not exists (select from incident i where i.incident_id = t.incident_id);
end $$;

-- Of which incidents of regions one here consists: under what id each is at home.
create view api.incident_part as
select p.incident_id, t.onset, t.incident_id as told_id, json_build_object('region', g.name, 'id', api.id_text(t.onset, t.incident_id),
	'state', case when t.into_id is not null then 'merged' when t.closed is null then 'open' else 'closed' end,
	'onset', api.rfc3339(t.onset), 'last', api.rfc3339(t.last), 'closed', api.rfc3339(t.closed), 'first', n.name, 'title', t.title) as body
from incident_part p join incident_told t on t.incident_id = p.told_id left join region g using (region_id) left join node n on n.node_id = t.first_host;

revoke execute on all functions in schema public from public;
do $$ begin perform grant_web(); end $$;
