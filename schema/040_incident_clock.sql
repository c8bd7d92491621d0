-- SPDX-License-Identifier: Apache-2.0
-- 040_incident_clock.sql - what of an incident is of several nodes is compared by one clock, that of the collector that has it.
--
-- What rows are found by (incident_signal.first, last and worst, incident_event likewise) stays a time of their node's clock;
-- incident.onset and last are the collector's.

-- Added to a time of that node it is this collector's, to within that; at is by the node's clock (own), or by this collector's.
-- A node of another region is compared with its collector, and that one, as who relays it, with this. No row: not known.
create function api.clock_here(node bigint, at timestamptz, own boolean) returns table (offset_us bigint, uncertainty_us bigint)
language plpgsql stable parallel safe as $$
declare
	via bigint := (select c.relay_id from api.clock_relay c where c.node_id = node limit 1);
	us bigint;
	unsure bigint;
	us_beyond bigint := 0; -- from its collector to this
	unsure_beyond bigint := 0;
begin
	if via is not null and not own then
		select k.offset_us, k.uncertainty_us into us_beyond, unsure_beyond from api.clock_at(via, at, false) k;
	end if;
	select k.offset_us, k.uncertainty_us into us, unsure from api.clock_at(node, at - us_beyond * interval '1 microsecond', own) k;
	if via is not null and own then
		select k.offset_us, k.uncertainty_us into us_beyond, unsure_beyond from api.clock_at(via, at + us * interval '1 microsecond', true) k;
	end if;
	return query select us + us_beyond, unsure + unsure_beyond where us + us_beyond is not null;
end $$;

-- What is not known of a clock is taken to be nothing, as without it.
create function incident_clock(node bigint, at timestamptz) returns bigint language sql stable as
	$$ select coalesce((select k.offset_us from api.clock_here(node, at, true) k), 0) $$;

-- Of each of these nodes, in their order, at a time of this collector.
create function incident_clocks(nodes bigint[], at timestamptz) returns interval[] language sql stable as $$
	select array_agg(coalesce((select k.offset_us from api.clock_here(n.node, at, false) k), 0) * interval '1 microsecond' order by n.i)
	from unnest(nodes) with ordinality n(node, i)
$$;

-- The half hour before an incident in which none of these nodes had one, in pieces: what is usual of them. In a large fleet
-- somebody always has one somewhere.
create function incident_free_of(nodes bigint[], at timestamptz) returns table (since timestamptz, until timestamptz) language plpgsql stable as $$
declare
	left_over interval := '30 minutes';
	piece tstzrange;
begin
	for piece in select p from unnest(tstzmultirange(tstzrange(at - interval '6 hours', at - interval '20 seconds'))
			- (select coalesce(range_agg(tstzrange(i.onset - interval '1 minute', greatest(i.onset, i.last) + interval '2 minutes')), '{}')
				from incident i where i.last > at - interval '6 hours' and i.onset < at
					and exists (select from incident_signal g where g.incident_id = i.incident_id and g.host_id = any(nodes)))) p
		order by lower(p) desc loop
		since := greatest(lower(piece), upper(piece) - left_over);
		until := upper(piece);
		return next;
		left_over := left_over - (until - since);
		exit when left_over <= interval '0';
	end loop;
end $$;

drop function incident_free(timestamptz);

-- As in 022, likewise.
create or replace function incident_events(of bigint, nodes bigint[], since timestamptz, until timestamptz) returns table (host bigint, n bigint)
language plpgsql as $$
declare
	offs interval[] := incident_clocks(nodes, since);
	least_off interval := (select min(o) from unnest(offs) o);
	most_off interval := (select max(o) from unnest(offs) o);
begin
	delete from incident_event e where e.incident_id = of;
	insert into incident_event select of, w.node_id, w.kind, w.reason_id, w.n, w.first, w.last, w.ts, w.event_id from (
			select v.node_id, v.kind, v.reason_id, v.ts, v.event_id, row_number() over worst as i, count(*) over same as n,
				min(v.ts) over same as first, max(v.ts + least(v.us, 86400000000) * interval '1 microsecond') over same as last
			from (select distinct on (e.ts, e.event_id) e.* from event e join unnest(nodes, offs) c(node_id, off) on c.node_id = e.node_id
				where e.ts > since - interval '1 minute' - most_off and e.ts <= until - least_off
				and e.ts > since - interval '1 minute' - c.off and e.ts <= until - c.off
				and e.node_id = any(nodes) and e.severity > 1 and e.kind <> 'probe.budget' order by e.ts, e.event_id, e.told desc) v
			window same as (partition by v.node_id, v.kind), worst as (partition by v.node_id, v.kind order by v.severity desc, v.us desc, v.event_id)) w
		where w.i = 1;
	return query select e.host_id, sum(e.n)::bigint from incident_event e where e.incident_id = of group by 1;
end $$;

-- As in 022: it begins by this collector's clock.
create or replace function incident_split(i incident, ids bigint[], by_whom text) returns text language plpgsql as $$
declare
	s record;
	new_id bigint;
begin
	select min(first + incident_clock(host_id, first) * interval '1 microsecond') as first, max(last + incident_clock(host_id, last) * interval '1 microsecond') as last,
		min(signal_id) as least into s from incident_signal where incident_id = i.incident_id and signal_id = any(ids);
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

create view api.node_name as select node_id, name from node;

create or replace view api.incident_signal as
select incident_id, host_id as node_id, app, route, first, last, class from incident_signal;

-- Which of its nodes went wrong first. Each began between two times: what is not known of its clock, and ten seconds, so exactly
-- counts are told. One was first if these are over before those of any other begin; else it is not known. Null: only one did.
create function api.incident_order(of bigint) returns json language sql stable parallel safe as $$
	with s as (select n.name as node, extract(epoch from g.first) * 1000000 + coalesce(k.offset_us, 0) as us,
			k.uncertainty_us + case g.class when 'slow' then 10000000 else 0 end as unsure
		from api.incident_signal g join api.node_name n using (node_id) left join lateral api.clock_here(g.node_id, g.first, true) k on true
		where g.incident_id = of),
	b as materialized (select s.node, min(s.us) as us, min(s.us - s.unsure) as least, min(s.us + s.unsure) as most, bool_and(s.unsure is not null) as told from s group by s.node),
	a as materialized (select b.* from b order by b.us, b.node limit 1),
	o as materialized (select b.* from b where b.node <> (select a.node from a) order by b.told, b.least, b.node limit 1),
	d as (select a.node as first, o.node as next, o.us - a.us as apart, case when a.told and o.told then o.us - a.us - (o.least - a.most) end as within,
			coalesce(a.told and o.told and a.most < o.least, false) as known, case when a.told then o.node else a.node end as whose from a, o),
	p as (select d.*, jsonb_build_object('first', d.first, 'next', d.next, 'apart', api.span_text(d.apart::float8), 'within', api.span_text(d.within::float8), 'whose', d.whose) as params from d)
	select json_build_object('first', p.first, 'next', p.next, 'apart', api.ms(p.apart), 'within', api.ms(p.within), 'known', p.known, 'text', json_build_object(
		'en', api.sentence(case when p.known then '{first} went wrong first, {apart} before {next}; that is exact to {within}.'
			when p.within is not null then 'Which of {first} and {next} went wrong first is not known: the {apart} between them are exact to {within} only.'
			else 'Which of {first} and {next} went wrong first is not known: nobody told how far the clock of {whose} is off.' end, p.params),
		'zh', api.sentence(case when p.known then '{first} 最先出错，比 {next} 早 {apart}，误差不超过 {within}。'
			when p.within is not null then '无法确定 {first} 与 {next} 谁先出错：二者相差 {apart}，而误差可达 {within}。'
			else '无法确定 {first} 与 {next} 谁先出错：{whose} 的时钟偏差未知。' end, p.params)))
	from p
$$;

-- As in 023, with the times by this collector's clock, and which node was first.
create or replace view api.incident_detail as
select i.onset, i.incident_id, json_build_object(
	'candidates', (select coalesce(json_agg(json_build_object('ranking', case c.ranking when 0 then 'time' else 'errors' end, 'place', c.place,
			'node', n.name, 'address', nullif(c.address, ''), 'external', c.host_id is null,
			'own', case c.ranking when 0 then api.ms(round(c.own::numeric)) else round(c.own::numeric) end,
			'edge', case c.ranking when 0 then api.ms(round(c.edge::numeric)) else round(c.edge::numeric) end,
			'share', round(c.share::numeric, 3), 'parts', c.parts) order by c.ranking, c.place), '[]')
		from incident_candidate c left join node n on n.node_id = c.host_id where c.incident_id = i.incident_id),
	'whole', i.whole_us,
	'graph', (select g.parts from incident_graph g where g.incident_id = i.incident_id),
	'evidence', (select coalesce(json_agg(json_build_object('signal', lpad(to_hex(g.signal_id), 16, '0'), 'node', n.name, 'app', g.app, 'route', g.route, 'class', g.class,
			'reason', coalesce(e.code, 'unknown'), 'first', api.rfc3339(g.first), 'last', api.rfc3339(g.last), 'count', g.n,
			'excess', api.ms(round(g.excess_us::numeric / greatest(g.n, 1))),
			'began', api.rfc3339(g.first + coalesce(h.offset_us, 0) * interval '1 microsecond'), 'ended', api.rfc3339(g.last + coalesce(h.offset_us, 0) * interval '1 microsecond'),
			'clock', case when h.offset_us is not null then json_build_object('ahead', api.ms(-h.offset_us), 'uncertainty', api.ms(h.uncertainty_us)) end,
			'samples', (select coalesce(json_agg(api.id_text(t, k) order by o), '[]') from unnest(g.worst, g.worst_ids) with ordinality w(t, k, o)))
			order by g.excess_us desc, g.n desc, g.signal_id), '[]')
		from incident_signal g left join node n on n.node_id = g.host_id left join reason e using (reason_id)
		left join lateral api.clock_here(g.host_id, g.first, true) h on true where g.incident_id = i.incident_id),
	'order', api.incident_order(i.incident_id),
	'events', (select coalesce(json_agg(json_build_object('node', n.name, 'kind', v.kind, 'reason', coalesce(e.code, 'unknown'), 'count', v.n,
			'first', api.rfc3339(v.first), 'last', api.rfc3339(v.last), 'worst', '/events/' || api.id_text(v.worst, v.worst_id),
			'began', api.rfc3339(v.first + coalesce(h.offset_us, 0) * interval '1 microsecond'), 'ended', api.rfc3339(v.last + coalesce(h.offset_us, 0) * interval '1 microsecond'))
			order by v.host_id = i.first_host desc nulls last, v.n desc, n.name, v.kind), '[]')
		from incident_event v left join node n on n.node_id = v.host_id left join reason e using (reason_id)
		left join lateral api.clock_here(v.host_id, v.first, true) h on true where v.incident_id = i.incident_id),
	'steps', (select coalesce(json_agg(json_build_object('time', api.rfc3339(s.at), 'made', api.rfc3339(s.made), 'kind', s.kind,
			'who', nullif(s.who, ''), 'detail', s.detail) order by s.step), '[]') from incident_step s where s.incident_id = i.incident_id)) as body
from incident i;

revoke execute on all functions in schema public from public;
do $$ begin perform grant_web(); end $$;
