-- SPDX-License-Identifier: Apache-2.0
-- Incidents: changes by commands, merges and retention.

-- Moves the signals and parts of a merged incident to the other one, and adds up the signals that both have.
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

-- Commands wait for the correlating thread, and it waits for them; then it reads its state again.
create or replace function incident_lock() returns timestamptz language plpgsql as $$
begin
	perform pg_advisory_xact_lock(126879331840370);
	return (select stored from incident_mark where fact = 'command');
end $$;

-- Adds a step to an incident.
create or replace function incident_take(of bigint, the_kind text, by_whom text, the_detail jsonb) returns void language sql as $$
	insert into incident_step (incident_id, step, at, kind, who, detail)
		select of, coalesce((select max(step) from incident_step where incident_id = of), 0) + 1,
			coalesce((select max(n.last_seen) from node n join incident i using (region_id) where i.incident_id = of), now()), the_kind, by_whom, the_detail
$$;

create or replace function incident_merge(gone incident, into_id bigint, by_whom text) returns void language plpgsql as $$
begin
	perform incident_take(gone.incident_id, 'merged', by_whom, jsonb_build_object('into', (select api.id_text(onset, incident_id) from incident where incident_id = into_id)));
	perform incident_take(into_id, 'merged', by_whom, jsonb_build_object('from', api.id_text(gone.onset, gone.incident_id)));
	update incident set closed = null where incident_id = into_id and gone.closed is null;
	update incident set merged_into = into_id, closed = coalesce(closed, last), changed = now() where incident_id = gone.incident_id;
	perform incident_fold(gone.incident_id, into_id);
end $$;

-- Makes these signals an incident of their own, which begins by this collector's clock.
create or replace function incident_split(i incident, ids bigint[], by_whom text) returns text language plpgsql as $$
declare
	s record;
	new_id bigint;
begin
	select min(first + incident_clock(host_id, first) * interval '1 microsecond') as first, max(last + incident_clock(host_id, last) * interval '1 microsecond') as last,
		min(signal_id) as least into s from incident_signal where incident_id = i.incident_id and signal_id = any(ids);
	new_id := hashtextextended(i.region_id || ' ' || s.least || ' ' || extract(epoch from s.first), 0) & 9223372036854775807;
	while exists (select from incident where incident_id = new_id) loop -- split off before, and merged again
		new_id := hashtextextended(new_id::text, 0) & 9223372036854775807;
	end loop;
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

-- Executes a command of the console. status is an HTTP status; answer is the body, or the error.
create or replace function incident_command(id text, verb text, body jsonb, out status int, out answer text) language plpgsql as $$
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

-- Incidents are kept as long as their requests.
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
