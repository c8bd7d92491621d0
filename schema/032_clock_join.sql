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
