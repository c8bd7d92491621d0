-- SPDX-License-Identifier: Apache-2.0
-- 022_incidents.sql - what went wrong together: signals of many nodes, joined to incidents, with each step that was taken.
--
-- Only the correlating thread of one collector writes here. Ids are hashes of what an incident is of (region, first signal,
-- onset), so that a region and its centre name it alike. A few rows an incident: no partitions, old ones are deleted.
-- What is told of nodes is told by host_id: these tables stay where the collector writes.

create table incident (
	incident_id bigint primary key,                -- hash of region, first signal and onset
	region_id   bigint not null,
	onset       timestamptz not null,              -- begin of the first request that was wrong; all times are of the data
	last        timestamptz not null,              -- end of the last one
	opened      timestamptz not null,              -- the newest of the region's data when it was
	closed      timestamptz,                       -- null: open
	merged_into bigint,                            -- is told of there
	whole_us    float8 not null default 0,         -- of the last ranking: all that was too much
	clear       boolean not null default false,    -- the first candidate explains half
	headline    bigint,                            -- the signal that its title names
	first_host  bigint,                            -- host_id of the first candidate
	shared      text not null default '',          -- a class that so many hosts have of themselves that it is their region's
	shared_hosts int not null default 0,
	acknowledged timestamptz,
	acknowledged_by text not null default '',
	changed     timestamptz not null default now()
);
create index incident_by_onset on incident (onset, incident_id);
create index incident_by_last on incident (last);

create table incident_signal (                     -- what went wrong on one node, in one way
	incident_id bigint not null,
	signal_id   bigint not null,                   -- hash of node, app, route and class
	host_id     bigint not null,
	app         text not null,
	route       text not null,
	class       text not null,                     -- family of the reason; error, error.up: it failed, by an upstream
	reason_id   smallint not null,                 -- of the worst
	first       timestamptz not null,
	last        timestamptz not null,
	n           bigint not null,
	excess_us   bigint not null,                   -- over what is normal
	worst       timestamptz[] not null,            -- samples: ts, request_id and excess, the worst first
	worst_ids   bigint[] not null,
	worst_us    float8[] not null,
	primary key (incident_id, signal_id)
);
create index incident_signal_by_key on incident_signal (host_id, app, route);

create table incident_candidate (                  -- of the last ranking, the first three
	incident_id bigint not null,
	ranking     smallint not null,                 -- 0 by time, 1 by errors
	place       smallint not null,                 -- from 1
	host_id     bigint,                            -- null: external
	address     text not null,                     -- of who is external
	own         float8 not null,                   -- us, or failed requests: arose there
	edge        float8 not null,                   -- and on the way
	share       float8 not null,                   -- of the whole
	parts       jsonb not null,                    -- [{"from","to","value"}]: node names or addresses; to null: own
	primary key (incident_id, ranking, place)
);

create table incident_event (                      -- what else the nodes told of that time
	incident_id bigint not null,
	host_id     bigint not null,
	kind        text not null,
	reason_id   smallint not null,                 -- of the worst
	n           bigint not null,
	first       timestamptz not null,
	last        timestamptz not null,
	worst       timestamptz not null,              -- ts and event_id
	worst_id    bigint not null,
	primary key (incident_id, host_id, kind)
);

create table incident_graph (                      -- where it arose, of all hosts that had a part
	incident_id bigint primary key,
	parts       jsonb not null                     -- as of a candidate; "net" of an edge is with what the callee had of it
);

create table incident_step (
	incident_id bigint not null,
	step        int not null,                      -- from 1
	at          timestamptz not null,              -- of the data
	made        timestamptz not null default now(),
	kind        text not null,                     -- opened, joined, ranked, closed, reopened, acknowledged, commented, merged, split
	who         text not null,                     -- '': Seismo itself
	detail      jsonb not null,
	primary key (incident_id, step)
);

create table incident_mark (                       -- up to where rows were counted: moved in the transaction that counts
	fact        text primary key,
	stored      timestamptz not null
);

create index red_by_node on red (node_id, ts);

-- The address at the other end, as red says it: of who asked without a port.
create function incident_ip(role smallint, peer text) returns inet language plpgsql immutable as $$
begin
	return case when role = 1 then api.peer_ip(peer) when peer ~ '^[0-9a-f:.]+$' then peer::inet end;
exception when invalid_text_representation then
	return null;
end $$;

-- Who that was, of all keys of these nodes that counted calls in that time. No row: external, or nobody knows.
create function incident_others(keys bigint[], nodes bigint[], until timestamptz) returns table (host bigint, key_id bigint, other bigint)
language plpgsql stable as $$
begin
	return query with k as materialized (select k.node_id, k.key_id, k.role, k.peer from red_key k
			where k.node_id = any(nodes) and k.key_id = any(keys) and k.role in (1, 3)),
		p as materialized (select row_number() over () as i, d.* from (select distinct k.node_id, k.role, k.peer from k) d),
		r as materialized (select r.i, r.node_id from (select array_agg(incident_ip(p.role, p.peer) order by p.i) as ips,
				array_agg(coalesce(case when p.role = 1 then api.peer_port(p.peer) end, 0) order by p.i) as ports,
				array_agg(until order by p.i) as ats, array_agg(p.node_id order by p.i) as asking from p) a,
			api.resolve_all(a.ips, a.ports, a.ats, a.asking) r)
		select k.node_id, k.key_id, r.node_id from k join p using (node_id, role, peer) join r using (i);
end $$;

-- Whom these nodes called in that time, and who called them, as far as their probes say.
create function incident_near(nodes bigint[], since timestamptz, until timestamptz) returns table (other bigint)
language plpgsql stable as $$
begin
	return query select distinct o.other from incident_others(array(select distinct r.key_id from red r
		where r.node_id = any(nodes) and r.ts > since and r.ts <= until), nodes, until) o where o.other is not null;
end $$;

-- Of many signals how often their route was asked since a time, and up to when that is counted.
create function incident_asked(nodes bigint[], apps text[], routes text[], sinces timestamptz[])
returns table (i int, n float8, counted timestamptz) language plpgsql stable as $$
begin
	return query select q.i::int, sum(r.n)::float8, max(r.ts)
		from unnest(nodes, apps, routes, sinces) with ordinality q(node, app, route, since, i)
		join red_key k on k.node_id = q.node and k.app = q.app and k.route = q.route and k.role = 0
		join red r on r.node_id = k.node_id and r.key_id = k.key_id and r.ts > q.since
		group by q.i;
end $$;

-- The half hour before an incident in which there was none, in pieces: what is usual.
create function incident_free(at timestamptz) returns table (since timestamptz, until timestamptz) language plpgsql stable as $$
declare
	left_over interval := '30 minutes';
	piece tstzrange;
begin
	for piece in select p from unnest(tstzmultirange(tstzrange(at - interval '6 hours', at - interval '20 seconds'))
			- (select coalesce(range_agg(tstzrange(i.onset - interval '1 minute', greatest(i.onset, i.last) + interval '2 minutes')), '{}')
				from incident i where i.last > at - interval '6 hours' and i.onset < at)) p
		order by lower(p) desc loop
		since := greatest(lower(piece), upper(piece) - left_over);
		until := upper(piece);
		return next;
		left_over := left_over - (until - since);
		exit when left_over <= interval '0';
	end loop;
end $$;

-- What red counted of these nodes while an incident went on, and when there was none before it.
create function incident_sums(nodes bigint[], since timestamptz, until timestamptz)
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
		select k.node_id, k.role, k.peer, o.other,
			w.n, w.errors, w.judged, w.excess, coalesce(b.n, 0), coalesce(b.errors, 0), coalesce(b.judged, 0), coalesce(b.excess, 0), w.us, coalesce(b.us, 0)
		from now w join red_key k using (node_id, key_id) left join before b using (node_id, key_id)
		left join incident_others(array(select distinct u.key_id from now u), nodes, until) o on o.host = w.node_id and o.key_id = w.key_id;
end $$;

-- The events of these nodes from a minute before it on, as its evidence: of which how many there are.
create function incident_events(of bigint, nodes bigint[], since timestamptz, until timestamptz) returns table (host bigint, n bigint)
language plpgsql as $$
begin
	delete from incident_event e where e.incident_id = of;
	insert into incident_event select of, w.node_id, w.kind, w.reason_id, w.n, w.first, w.last, w.ts, w.event_id from (
			select v.node_id, v.kind, v.reason_id, v.ts, v.event_id, row_number() over worst as i, count(*) over same as n,
				min(v.ts) over same as first, max(v.ts + least(v.us, 86400000000) * interval '1 microsecond') over same as last
			from (select distinct on (e.ts, e.event_id) e.* from event e where e.ts > since - interval '1 minute' and e.ts <= until
				and e.node_id = any(nodes) and e.severity > 1 and e.kind <> 'probe.budget' order by e.ts, e.event_id, e.told desc) v
			window same as (partition by v.node_id, v.kind), worst as (partition by v.node_id, v.kind order by v.severity desc, v.us desc, v.event_id)) w
		where w.i = 1;
	return query select e.host_id, sum(e.n)::bigint from incident_event e where e.incident_id = of group by 1;
end $$;

-- All that a merged incident had is the other's, once: what both had of one signal is added up.
create function incident_fold(gone bigint, into_id bigint) returns void language plpgsql as $$
begin
	insert into incident_signal as s select into_id, g.signal_id, g.host_id, g.app, g.route, g.class, g.reason_id, g.first, g.last, g.n,
			g.excess_us, g.worst, g.worst_ids, g.worst_us
		from incident_signal g where g.incident_id = gone
		on conflict (incident_id, signal_id) do update set first = least(s.first, excluded.first), last = greatest(s.last, excluded.last),
			n = s.n + excluded.n, excess_us = s.excess_us + excluded.excess_us;
	delete from incident_signal where incident_id = gone;
	delete from incident_candidate where incident_id = gone;
	delete from incident_event where incident_id = gone;
	update incident i set last = greatest(i.last, g.last), changed = now() from incident g where i.incident_id = into_id and g.incident_id = gone;
end $$;

-- They are kept as long as the requests that they are of.
create function forget_incidents(keep_days int) returns void language plpgsql as $$
declare
	gone bigint[] := array(select incident_id from incident where last < now() - keep_days * interval '1 day');
begin
	delete from incident_signal where incident_id = any(gone);
	delete from incident_candidate where incident_id = any(gone);
	delete from incident_graph where incident_id = any(gone);
	delete from incident_event where incident_id = any(gone);
	delete from incident_step where incident_id = any(gone);
	delete from incident where incident_id = any(gone);
end $$;

-- What a person decides. Whoever correlates waits for it, and it for them; then they read anew what they had in memory.
create function incident_lock() returns timestamptz language plpgsql as $$
begin
	perform pg_advisory_xact_lock(126879331840370);
	return (select stored from incident_mark where fact = 'command');
end $$;

create function incident_take(of bigint, the_kind text, by_whom text, the_detail jsonb) returns void language sql as $$
	insert into incident_step (incident_id, step, at, kind, who, detail)
		select of, coalesce((select max(step) from incident_step where incident_id = of), 0) + 1,
			coalesce((select max(n.last_seen) from node n join incident i using (region_id) where i.incident_id = of), now()), the_kind, by_whom, the_detail
$$;

create function incident_merge(gone incident, into_id bigint, by_whom text) returns void language plpgsql as $$
begin
	perform incident_take(gone.incident_id, 'merged', by_whom, jsonb_build_object('into', (select api.id_text(onset, incident_id) from incident where incident_id = into_id)));
	perform incident_take(into_id, 'merged', by_whom, jsonb_build_object('from', api.id_text(gone.onset, gone.incident_id)));
	update incident set closed = null where incident_id = into_id and gone.closed is null;
	update incident set merged_into = into_id, closed = coalesce(closed, last), changed = now() where incident_id = gone.incident_id;
	perform incident_fold(gone.incident_id, into_id);
end $$;

-- These signals are an incident of their own from now on.
create function incident_split(i incident, ids bigint[], by_whom text) returns text language plpgsql as $$
declare
	s record;
	new_id bigint;
begin
	select min(first) as first, max(last) as last, min(signal_id) as least into s from incident_signal where incident_id = i.incident_id and signal_id = any(ids);
	new_id := hashtextextended(i.region_id || ' ' || s.least || ' ' || extract(epoch from s.first), 0) & 9223372036854775807;
	insert into incident (incident_id, region_id, onset, last, opened, closed, headline) values (new_id, i.region_id, s.first, s.last, i.opened,
		case when i.closed is not null then s.last end, s.least);
	update incident_signal set incident_id = new_id where incident_id = i.incident_id and signal_id = any(ids);
	delete from incident_candidate where incident_id = i.incident_id;
	perform incident_take(i.incident_id, 'split', by_whom, jsonb_build_object('new', api.id_text(s.first, new_id), 'signals', cardinality(ids)));
	perform incident_take(new_id, 'split', by_whom, jsonb_build_object('from', api.id_text(i.onset, i.incident_id), 'signals', cardinality(ids)));
	update incident set headline = (select signal_id from incident_signal where incident_id = i.incident_id order by excess_us desc, n desc limit 1),
		changed = now() where incident_id = i.incident_id;
	return api.id_text(s.first, new_id);
end $$;

-- status as of HTTP; answer is the body, or why not.
create function incident_command(id text, verb text, body jsonb, out status int, out answer text) language plpgsql as $$
declare
	i incident;
	o incident;
	who text := btrim(body ->> 'by');
	said text := body ->> 'text';
	ids bigint[];
	new_id text;
begin
	perform incident_lock();
	select * into i from incident x where x.incident_id = api.id_number(id) and x.onset = api.id_time(id);
	status := 400;
	if jsonb_typeof(body) <> 'object' or coalesce(jsonb_typeof(body -> 'by'), '') <> 'string' or length(who) not between 1 and 80 then
		answer := 'by says who decides, in 1 to 80 characters.';
	elsif i.incident_id is null then
		status := 404;
		answer := format('There is no incident %s.', id);
	elsif i.merged_into is not null then
		status := 409;
		answer := format('This incident is one with %s now.', (select api.id_text(onset, incident_id) from incident where incident_id = i.merged_into));
	elsif verb = 'comment' then
		if coalesce(jsonb_typeof(body -> 'text'), '') <> 'string' or length(said) not between 1 and 4000 then
			answer := 'text is the comment, of 1 to 4000 characters.';
			return;
		end if;
		perform incident_take(i.incident_id, 'commented', who, jsonb_build_object('text', said));
		status := 200;
	elsif verb = 'acknowledge' then
		update incident set acknowledged = now(), acknowledged_by = who, changed = now() where incident_id = i.incident_id;
		perform incident_take(i.incident_id, 'acknowledged', who, '{}');
		status := 200;
	elsif verb = 'close' then
		if i.closed is not null then
			status := 409;
			answer := 'This incident is closed already.';
			return;
		end if;
		update incident set closed = greatest(last, onset), changed = now() where incident_id = i.incident_id;
		perform incident_take(i.incident_id, 'closed', who, '{}');
		status := 200;
	elsif verb = 'merge' then
		if coalesce(body ->> 'into', '') !~ '^[0-9a-f]{1,13}-[0-9a-f]{16}$' then
			answer := 'into is the id of the incident that it becomes a part of.';
			return;
		end if;
		select * into o from incident x where x.incident_id = api.id_number(body ->> 'into') and x.onset = api.id_time(body ->> 'into');
		if o.incident_id is null or o.merged_into is not null or o.incident_id = i.incident_id then
			answer := 'into must be another incident, which is not merged itself.';
			return;
		end if;
		perform incident_merge(i, o.incident_id, who);
		status := 200;
	elsif verb = 'split' then
		ids := array(select s.signal_id from incident_signal s where s.incident_id = i.incident_id
			and lpad(to_hex(s.signal_id), 16, '0') in (select jsonb_array_elements_text(case jsonb_typeof(body -> 'signals') when 'array' then body -> 'signals' else '[]' end)));
		if cardinality(ids) = 0 or cardinality(ids) = (select count(*) from incident_signal where incident_id = i.incident_id) then
			answer := 'signals are those of the evidence that become an incident of their own: at least one, and not all.';
			return;
		end if;
		new_id := incident_split(i, ids, who);
		status := 200;
	end if;
	if status = 200 then
		insert into incident_mark values ('command', clock_timestamp()) on conflict (fact) do update set stored = excluded.stored;
		answer := json_build_object('id', id, 'done', verb, 'new', new_id);
	end if;
end $$;

revoke execute on all functions in schema public from public;
