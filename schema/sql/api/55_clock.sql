-- SPDX-License-Identifier: Apache-2.0
-- The clocks of nodes.

create or replace view api.clock as select node_id, told, since, collector_since, offset_us, uncertainty_us from clock;

-- Nodes of other regions, with the node of their relay.
create or replace view api.clock_relay as select n.node_id, r.relay_id from node n join region_relay r using (region_id);

-- The offset of a node's clock at a time by its own clock (own), or by its collector's clock: the last report up to then. When
-- that report is older than the interval of reports, the clock may have drifted, and the next report may be closer. No row: not
-- known.
create or replace function api.clock_at(node bigint, at timestamptz, own bool) returns table (offset_us bigint, uncertainty_us bigint) language sql stable parallel safe as $$
	with c as not materialized (select k.told, k.offset_us, k.uncertainty_us, case when own then k.since else k.collector_since end as since
		from api.clock k where k.node_id = node)
	select x.offset_us, (x.uncertainty_us + 30 * x.old)::bigint from (
		(select c.offset_us, c.uncertainty_us, greatest(0, extract(epoch from at - c.since) - 7200) as old, 1 as i from c where c.since <= at order by c.told desc limit 1)
		union all (select c.offset_us, c.uncertainty_us, extract(epoch from c.since - at), 2 from c where c.since > at order by c.told limit 1)) x
	order by x.old, x.i limit 1
$$;

-- How far the second node's clock is ahead of the first node's, at a time of the first, and the uncertainty. All joins of rows
-- of two nodes by time use this function. Clocks of two regions are compared through their relays. Without reports the
-- uncertainty is 5 s.
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

-- The offset from a node's clock to this collector's clock, and its uncertainty; `at` is by the node's clock (own), or by this
-- collector's. A node of another region is compared with its collector, and that collector, by its relay's node, with this one.
-- No row: not known.
create or replace function api.clock_here(node bigint, at timestamptz, own boolean) returns table (offset_us bigint, uncertainty_us bigint)
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
