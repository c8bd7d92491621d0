-- SPDX-License-Identifier: Apache-2.0
-- 045_trace_time.sql - what a trace asks is planned once for a connection: plans that were made anew took a third of its time.

-- As in 024.
create or replace function api.callee_silence(callee bigint, how text) returns text language plpgsql stable parallel safe as $$
begin
	return case when how = 'ambiguous' then 'ambiguous' when how = 'unix' then 'unix' when callee is null then 'noProbe'
		when exists (select from api.request_source s where s.node_id = callee and s.state > 0) then 'nothingAbnormal' else 'notSeen' end;
end $$;

-- As in 031, one question after the other.
create or replace function api.trace_silence(callee bigint, how text, at timestamptz) returns text language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
declare
	silence text := api.callee_silence(callee, how);
begin
	if silence <> 'nothingAbnormal' then
		return silence;
	elsif at < (select o.ts from api.oldest o) then
		return 'agedOut';
	elsif exists (select from api.node_heard h where h.node_id = callee and h.last_seen < at) then
		return 'notHeard';
	elsif exists (select from api.coverage c where c.node_id = callee and c.ts between at - interval '30 s' and at + interval '30 s' and c.value > 0
			and c.hour between at - interval '2 hours' and at + interval '30 s'
			and c.name in ('rows_withheld', 'ring_full', 'head_missed', 'conn_full', 'calls_full')) then
		return 'withheld';
	end if;
	return silence;
end $$;

-- As in 031.
create or replace function api.trace_blame(hops jsonb) returns json language plpgsql stable parallel safe as $$
begin
	return (with h as materialized (select e, (e ->> 'hop')::int as hop, (e ->> 'parent')::int as parent, (e ->> 'failed')::bool as failed, (e -> 'arose' ->> 'own')::numeric as own,
			(e -> 'arose' ->> 'network')::numeric as net, (e -> 'arose' ->> 'behind')::numeric as behind
		from jsonb_array_elements(hops) e),
	place as (select 'node' as kind, (array_agg(h.hop order by h.own desc, h.hop))[1] as hop, sum(h.own) as ms from h where h.own > 0 group by h.e ->> 'node'
		union all select 'network', h.hop, h.net from h where h.net > 0 union all select 'behind', h.hop, h.behind from h where h.behind > 0),
	whole as (select sum(p.ms) as ms from place p),
	fault as (select 'failed' as kind, h.hop, null::numeric as ms from h where h.failed and (select not (f.e ->> 'slow')::bool from h f where f.hop = 0)
		and not exists (select from h c where c.parent = h.hop and c.failed) order by h.hop desc limit 1),
	most as (select p.* from place p, whole w where p.ms * 2 >= w.ms order by p.ms desc, p.hop limit 1),
	pick as (select * from fault union all select * from most where not exists (select from fault))
	select json_build_object('kind', p.kind, 'hop', p.hop, 'node', h.e -> 'node', 'app', h.e -> 'app', 'addr', h.e -> 'addr', 'from', c.e -> 'node',
		'reason', h.e -> 'reason', 'ms', p.ms, 'share', round(p.ms / w.ms, 3))
	from whole w, pick p join h on h.hop = p.hop left join h c on c.hop = h.parent);
end $$;

do $$ begin perform grant_web(); end $$;
