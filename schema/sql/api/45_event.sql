-- SPDX-License-Identifier: Apache-2.0
-- Events, evidence, stacks and CPU profiles.

create or replace view api.stack as
select stack_id, frames, flags & 1 <> 0 as cut from stack;

-- A block that claims to begin more than a year away from its owner is a probe's fault, and must not hide the others.
create or replace view api.evidence as
select e.ts, e.owner_id, e.place, json_build_object(
		'time', api.rfc3339(b.t), 'end', api.rfc3339(b.t + least(e.us, 31536000000000) * interval '1 microsecond'),
		'startTime', api.ms(e.start_us), 'ms', api.ms(e.us),
		'part', api.part_code(e.part_id, (select codes from api.part_codes)),
		'pid', e.pid, 'tid', e.tid, 'comm', e.comm,
		'call', nullif(e.call, ''), 'what', nullif(e.what, ''), 'who', nullif(e.who, ''),
		'stack', s.frames,
		'stackFlags', array_remove(array[case when s.flags & 1 <> 0 then 'cut' end, case when s.flags & 2 <> 0 then 'user' end], null)) as body
from evidence e
left join stack s using (stack_id),
	lateral (select e.ts + greatest(least(e.start_us, 31536000000000), -31536000000000) * interval '1 microsecond' as t) b;

-- No evidence before this time is kept; the API says so instead of answering that there was none.
create or replace view api.oldest_evidence as
select min(to_timestamp(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'utc') as ts
from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'evidence'::regclass and c.relname ~ '_[0-9]{8}$';

-- The last report of each event. A probe reports an event that goes on after 30 s, then at intervals that double up to 600 s.
-- A probe that died, or whose node did, sends no end: its process is silent, or another process of the node was heard.
create or replace view api.event as
select v.ts, v.event_id, v.stored, api.id_text(v.ts, v.event_id) as id,
	coalesce(g.name, '') as region, coalesce(n.name, '') as node, v.kind,
	json_build_object(
		'id', api.id_text(v.ts, v.event_id),
		'time', api.rfc3339(v.ts),
		'end', api.rfc3339(v.ts + least(v.us, 31536000000000) * interval '1 microsecond'),
		'region', g.name, 'node', n.name, 'kind', v.kind,
		'severity', (array['info', 'warning', 'critical'])[v.severity],
		'pid', v.pid, 'tid', v.tid, 'comm', v.comm,
		'ms', api.ms(v.us), 'errorMs', api.ms(v.error_us),
		'goingOn', case when v.going_on = 1 then v.stored > now() - interval '15 minutes'
			and exists (select from api.process p where p.node_id = v.node_id and p.epoch = v.epoch and p.alive)
			and not exists (select from api.process p where p.node_id = v.node_id and p.epoch <> v.epoch and p.heard > v.stored)
			else false end,
		'endSeen', v.going_on <> 1,
		'told', nullif(v.told, 0),
		'params', v.params,
		'reason', api.reason_body(v.reason_id, c.code, c.en, c.zh, v.params),
		'evidence', case when v.ts >= (select ts from api.oldest_evidence) then (
			select coalesce(json_agg(e.body order by e.place), '[]') from api.evidence e
			where e.ts = v.ts and e.owner_id = coalesce(v.evidence_id, v.event_id)) end,
		'diagnosis', '/events/' || api.id_text(v.ts, v.event_id)) as body,
	coalesce((array['info', 'warning', 'critical'])[v.severity], '') as severity
from event v
left join node n using (node_id)
left join region g using (region_id)
left join reason c using (reason_id)
where v.told = 0 or not exists (
	select from event l where l.ts = v.ts and l.event_id = v.event_id and l.node_id = v.node_id and l.told > v.told);

create or replace view api.profile as
select p.ts, n.name as node, p.node_id, coalesce(g.name, '') as region, p.app, p.period_us, p.kernel_ids, p.user_ids, p.n
from profile p
join node n using (node_id)
left join region g using (region_id);
