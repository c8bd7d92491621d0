-- SPDX-License-Identifier: Apache-2.0
-- 032_clock_join.sql - the halves of a call are joined by times of one clock: each node's is corrected by what is known of it.

create view api.clock as select node_id, told, since, collector_since, offset_us, uncertainty_us from clock;

-- Nodes of other regions: who relays them.
create view api.clock_relay as select n.node_id, r.relay_id from node n join region_relay r using (region_id);

-- How far a node's clock was off at a time by its own clock (own), or by its collector's: what was told last of what was so by
-- then. When that is older than is told anew, it may have drifted, and what was told next may be nearer. No row: not known.
create function api.clock_at(node bigint, at timestamptz, own bool) returns table (offset_us bigint, uncertainty_us bigint) language sql stable parallel safe as $$
	with c as not materialized (select k.told, k.offset_us, k.uncertainty_us, case when own then k.since else k.collector_since end as since
		from api.clock k where k.node_id = node)
	select x.offset_us, (x.uncertainty_us + 30 * x.old)::bigint from (
		(select c.offset_us, c.uncertainty_us, greatest(0, extract(epoch from at - c.since) - 7200) as old, 1 as i from c where c.since <= at order by c.told desc limit 1)
		union all (select c.offset_us, c.uncertainty_us, extract(epoch from c.since - at), 2 from c where c.since > at order by c.told limit 1)) x
	order by x.old, x.i limit 1
$$;

-- How far the second node's clock is ahead of the first one's at a time of the first one's, and within what that is certain. Clocks
-- of two regions are compared by those of their relays. What nobody told is taken to be less than 5 s, as before.
create or replace function api.clocks_apart(caller bigint, callee bigint, at timestamptz) returns table (ahead interval, within interval) language plpgsql stable parallel safe as $$
declare
	caller_relay bigint := (select c.relay_id from api.clock_relay c where c.node_id = caller limit 1);
	callee_relay bigint := (select c.relay_id from api.clock_relay c where c.node_id = callee limit 1);
	us bigint; -- from the first one's clock to that of its collector, of the other's collector, and so on
	unsure bigint;
	c record;
begin
	if caller = callee then
		return query select interval '0', interval '5 ms';
		return;
	end if;
	select k.offset_us, k.uncertainty_us into us, unsure from api.clock_at(caller, at, true) k;
	if caller_relay is distinct from callee_relay and caller_relay is not null then
		select * into c from api.clock_at(caller_relay, at + us * interval '1 microsecond', true);
		us := us + c.offset_us;
		unsure := unsure + c.uncertainty_us;
	end if;
	if caller_relay is distinct from callee_relay and callee_relay is not null then
		select * into c from api.clock_at(callee_relay, at + us * interval '1 microsecond', false);
		us := us - c.offset_us;
		unsure := unsure + c.uncertainty_us;
	end if;
	select * into c from api.clock_at(callee, at + us * interval '1 microsecond', false);
	us := us - c.offset_us;
	unsure := unsure + c.uncertainty_us + 5000;
	if unsure <= 5000000 and us is not null then
		return query select us * interval '1 microsecond', unsure * interval '1 microsecond';
	else
		return query select interval '0', interval '5 s';
	end if;
end $$;

-- As in 031, but that the time is the callee's.
create or replace function api.caller_of(at timestamptz, number bigint)
returns table (ts timestamptz, request_id bigint, i bigint, node_id bigint, app text, how text, silence text)
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
declare
	r record;
	w record;
	k record;
	back interval;
begin
	select q.* into r from api.request_call q where q.ts = at and q.request_id = number limit 1;
	select p.node_id, p.app, coalesce(p.how, 'external') as how into w from (values (1)) v left join api.resolve_all(array[r.remote], array[r.remote_port], array[at], array[r.node_id]) p on true;
	select c.at, c.within into k from (select at + x.ahead as at, x.within from api.clocks_apart(r.node_id, w.node_id, at) x) c;
	foreach back in array array[interval '10 s', interval '10 minutes'] loop
		exit when w.node_id is null;
		return query with c as materialized (select q.ts, q.request_id, q.node_id, q.path, q.upstreams from api.request_call q
			where q.node_id = w.node_id and q.ts between k.at - back and k.at + k.within
				and q.minute between date_bin('1 minute', k.at - back, timestamptz 'epoch') and date_bin('1 minute', k.at + k.within, timestamptz 'epoch')
				and q.ts + api.trace_us(q.request_us) * interval '1 microsecond' >= k.at - k.within
				and q.upstreams @> jsonb_build_array(jsonb_build_object('addr', api.addr(r.local, r.local_port), 'localPort', r.remote_port))),
		d as materialized (select c.ts, c.request_id, c.node_id, e.i, count(*) over () as n from c cross join lateral api.callees_of(c.ts, c.node_id, c.request_id, c.path, c.upstreams) e
			where e.ts = at and e.request_id = number)
		select case when d.n = 1 then d.ts end, case when d.n = 1 then d.request_id end, d.i, d.node_id, w.app, w.how, case when d.n > 1 then 'several' end from d limit 1;
		if found then
			return;
		end if;
	end loop;
	return query select null::timestamptz, null::bigint, null::bigint, w.node_id, w.app, w.how, api.trace_silence(w.node_id, case when r.remote is null then 'unix' else w.how end, at);
end $$;

-- As in 025, with what is known of the clock.
create or replace view api.node as
select n.name, coalesce(g.name, '') as region, n.last_seen,
	json_build_object(
		'id', lpad(to_hex(n.node_id), 16, '0'),
		'name', n.name, 'region', g.name, 'tags', n.tags, 'version', n.version,
		'firstSeen', api.rfc3339(n.first_seen),
		'lastSeen', api.rfc3339(n.last_seen),
		'lag', greatest(0, round(extract(epoch from now() - n.last_seen) * 1000)),
		'clock', (select json_build_object('ahead', api.ms(-c.offset_us), 'uncertainty', api.ms(c.uncertainty_us), 'told', api.rfc3339(c.told))
			from clock c where c.node_id = n.node_id order by c.told desc limit 1),
		'lostBatches', (select coalesce(sum(m.lost), 0) from ingest_mark m where m.node_id = n.node_id),
		'sources', (select coalesce(json_agg(json_build_object(
				'name', s.name,
				'state', case s.state when 0 then 'off' when 1 then 'attached' else 'throttled' end,
				'why', s.why, 'since', api.rfc3339(s.since)) order by s.name), '[]')
			from source s where s.node_id = n.node_id),
		'coverage', (select coalesce(json_object_agg(c.name, c.total order by c.name), '{}')
			from (select name, coalesce(sum(value), 0) as total from api.coverage
				where node_id = n.node_id and ts > now() - interval '1 hour' and hour > now() - interval '2 hours' group by name) c),
		'unread', (select coalesce(json_agg(json_build_object('app', u.app, 'kind', u.kind, 'count', u.total)
				order by u.total desc, u.app, u.kind), '[]')
			from (select app, kind, sum(n) as total from unread
				where node_id = n.node_id and ts > now() - interval '1 hour' group by app, kind) u)) as body
from node n
left join region g using (region_id)
where not exists (select from node_key k where k.node_id = n.node_id and k.relay <> '');

do $$ begin perform grant_web(); end $$;
