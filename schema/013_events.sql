-- SPDX-License-Identifier: Apache-2.0
-- 013_events.sql - events that last: told when they begin, again while they go on, and when they are over.
--
-- Each telling is a row with all there is to say, of the same ts and event_id; the last one counts. So a batch stays
-- one COPY, nothing is ever updated, and what is read again is found by the index that there is.

alter table event
	add column told int not null default 0,            -- which telling, from 1; of an event told once 0
	add column going_on smallint not null default 0,        -- 1: when it was told, it was not over
	add column epoch bigint not null default 0,             -- of the probe's process: with it ends what it told of
	add column evidence_id bigint;                          -- owner_id of this telling's evidence; null: event_id

-- Whoever ceases to tell of an event did not see its end. Probes tell of one that goes on again after 30 s, and then after
-- twice as long each time, at most 600 s; one that died, or whose node did, does not: it is silent, or another has come.
create view api.process as
select node_id, epoch, updated as heard, updated > now() - interval '1 minute' as alive from ingest_mark;

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
		'diagnosis', '/events/' || api.id_text(v.ts, v.event_id)) as body
from event v
left join node n using (node_id)
left join region g using (region_id)
left join reason c using (reason_id)
where v.told = 0 or not exists (
	select from event l where l.ts = v.ts and l.event_id = v.event_id and l.node_id = v.node_id and l.told > v.told);

do $$ begin perform grant_web(); end $$;
