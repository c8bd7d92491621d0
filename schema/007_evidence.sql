-- SPDX-License-Identifier: Apache-2.0
-- 007_evidence.sql - where the time went, what was checked, what was seen at that moment, and events.
--
-- A row of request that has none of it costs nothing more: three columns that are null. What many rows share
-- is kept once, by the hash of its content, and dropped when it has not been used for longer than what uses it
-- is kept.

create table part (                                -- schema/parts.def, refreshed by the collector at its start
	part_id     smallint primary key,
	place       smallint not null,                 -- in the bar
	code        text not null unique,
	en          text not null,
	zh          text not null
);

create table checks (                              -- one list of causes that were looked for, or could not be
	checks_id   bigint primary key,                -- hash of what the probe said
	checked     json not null,                     -- ["net.loss", ...]: looked for, and not the cause
	unchecked   json not null,                     -- [{"code":"lock","why":"..."}, ...]
	last_used   timestamptz not null               -- to the day; the codes are then written anew, too
) with (fillfactor = 90);

create table stack (
	stack_id    bigint primary key,                -- hash of the frames
	frames      text[] not null,                   -- innermost first
	flags       smallint not null,                 -- 1: cut short, 2: of user space
	last_used   timestamptz not null               -- to the day: probes tell it again after an hour of use
) with (fillfactor = 90);

alter table request
	add column shares bigint[],                    -- {part_id, us, normal us, ...}: they add up to queue_us + request_us
	add column checks_id bigint,
	add column losses int[];                       -- {side, kind, segments, ...}: lib/item.h, struct loss_item

create table event (                               -- something else than a request that went wrong
	ts          timestamptz not null,
	node_id     bigint not null,
	event_id    bigint not null,                   -- hash of node, epoch, seq and place in the batch
	stored      timestamptz not null,              -- the commit's, as of a request
	kind        text not null,
	severity    smallint not null,                 -- 1 info, 2 warning, 3 critical
	pid         int not null,
	tid         int not null,
	comm        text not null,
	us          bigint not null,
	error_us    bigint not null,                   -- how exactly us is known
	reason_id   smallint not null,
	params      jsonb not null
) partition by range (ts);
create index event_by_time on event (ts, event_id);

create table evidence (                            -- blocks of a request or an event
	ts          timestamptz not null,              -- the owner's, so that they lie in the same day
	node_id     bigint not null,
	owner_id    bigint not null,                   -- request_id or event_id
	place       smallint not null,
	start_us    bigint not null,                   -- after ts
	us          bigint not null,
	part_id     smallint not null,
	pid         int not null,
	tid         int not null,
	comm        text not null,
	call        text not null,                     -- '': none, or not known; so what and who
	what        text not null,
	who         text not null,
	stack_id    bigint                             -- null: none
) partition by range (ts);
create index evidence_by_owner on evidence (ts, owner_id);

create or replace function ensure_partitions(days_back int, days_ahead int) returns int language plpgsql as $$
declare
	fact text;
	day date;
	made int := 0;
begin
	foreach fact in array array['sample', 'request', 'red', 'unread', 'event', 'evidence'] loop
		for i in -days_back .. days_ahead loop
			day := (now() at time zone 'utc')::date + i;
			if to_regclass(format('%I', fact || '_' || to_char(day, 'YYYYMMDD'))) is null then
				execute format('create table %I partition of %I for values from (%L) to (%L)',
					fact || '_' || to_char(day, 'YYYYMMDD'), fact,
					day::timestamp at time zone 'utc', (day + 1)::timestamp at time zone 'utc');
				made := made + 1;
			end if;
		end loop;
	end loop;
	return made;
end $$;

-- Evidence is the bulk of a row, so it may be kept for fewer days than the row; never for more.
create function drop_old(keep_days int, evidence_days int) returns int language plpgsql as $$
declare
	part record;
	dropped int := 0;
begin
	for part in
		select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
		join pg_class p on p.oid = i.inhparent
		where p.relname in ('sample', 'request', 'red', 'unread', 'event', 'evidence')
		  and c.relname ~ '_[0-9]{8}$'
		  and to_date(right(c.relname, 8), 'YYYYMMDD') < (now() at time zone 'utc')::date
		      - case p.relname when 'evidence' then least(evidence_days, keep_days) else keep_days end
	loop
		execute format('drop table %I', part.relname);
		dropped := dropped + 1;
	end loop;
	return dropped;
end $$;

create or replace function drop_old(keep_days int) returns int language sql as $$ select drop_old(keep_days, keep_days) $$;

-- The bodies of the API. A hundred are made for a page, so what is null is not even looked at, and the codes of parts
-- are looked up once: codes[part_id + 1].

create view api.part_codes as
select array_agg(p.code order by i) as codes
from generate_series(0, (select max(part_id) from part)) i left join part p on p.part_id = i;

create function api.part_code(part bigint, codes text[]) returns text language sql immutable parallel safe as
	$$ select coalesce(codes[part + 1], 'part' || part) $$;

create function api.reason_body(id int, code text, en text, zh text, params jsonb) returns json language sql stable parallel safe as $$
	select json_build_object('code', coalesce(code, 'unknown'), 'params', params, 'text', json_build_object(
		'en', coalesce(api.sentence(en, params), 'Reason ' || id || ' (unknown to this version)'),
		'zh', coalesce(api.sentence(zh, params), '原因 ' || id || '（此版本未知）')))
$$;

-- Floats print a whole number of microseconds as it is, and at a tenth of the cost of numerics.
create function api.shares(shares bigint[], knows_normal bool, codes text[]) returns json language plpgsql immutable parallel safe as $$
declare
	told text := '[';
begin
	for i in 1 .. cardinality(shares) - 2 by 3 loop
		told := told || case when i > 1 then ',{"code":"' else '{"code":"' end || api.part_code(shares[i], codes)
			|| '","ms":' || shares[i + 1] / float8 '1000' || ',"normal":' || case when knows_normal then (shares[i + 2] / float8 '1000')::text else 'null' end || '}';
	end loop;
	return (told || ']')::json;
end $$;

create function api.losses(losses int[]) returns json language sql stable parallel safe as $$
	select json_agg(json_build_object(
		'side', case losses[i] when 0 then 'client' when 1 then 'upstream' end,
		'kind', (array['syn', 'fast', 'slow-start', 'rto', 'tlp'])[losses[i + 1]],
		'count', losses[i + 2]) order by i)
	from generate_series(1, cardinality(losses) - 2, 3) i
$$;

-- Of a row that was judged by the first byte of its answer, its own total would be of another kind than its normal.
create function api.times_normal(flags int, queue_us bigint, request_us bigint, normal_us bigint, params jsonb) returns numeric
language sql immutable parallel safe as $$
	select round((queue_us::numeric + case when flags & 64 = 0 then request_us
		when jsonb_typeof(params -> 'first_ms') = 'number' then (params ->> 'first_ms')::numeric * 1000 end)
		/ nullif(normal_us, 0), 1)
$$;

create or replace view api.request as
select r.ts, r.request_id, r.stored,
	api.id_text(r.ts, r.request_id) as id,
	api.id_text(r.stored, r.request_id) as event_id,
	coalesce(g.name, '') as region, coalesce(n.name, '') as node, r.app, r.route, r.status::int as status,
	coalesce(c.code, 'unknown') as reason,
	concat_ws(' ', r.method, r.path, r.app, n.name, api.addr(r.remote, r.remote_port),
		r.upstreams -> -1 ->> 'addr') as search,
	json_build_object(
		'id', api.id_text(r.ts, r.request_id),
		'time', api.rfc3339(r.ts),
		'end', api.rfc3339(r.ts + least(r.request_us, 31536000000000) * interval '1 microsecond'),
		'region', g.name, 'node', n.name, 'app', r.app, 'pid', r.pid, 'tid', r.tid, 'comm', r.comm,
		'remoteAddr', api.addr(r.remote, r.remote_port),
		'local', api.addr(r.local, r.local_port),
		'upstreamAddr', nullif(r.upstreams -> -1 ->> 'addr', ''),
		'upstreams', api.upstreams(r.upstreams),
		'method', r.method, 'path', r.path, 'request', r.method || ' ' || r.path, 'route', r.route,
		'status', nullif(r.status, 0),
		'requestTime', api.ms(r.request_us),
		'queueTime', api.ms(r.queue_us),
		'totalTime', api.ms(r.queue_us::numeric + r.request_us),
		'upstreamResponseTime', api.ms(r.upstream_us),
		'normalTime', api.ms(nullif(r.normal_us, 0)),
		'limitTime', api.ms(r.limit_us),
		'timesNormal', api.times_normal(r.flags, r.queue_us, r.request_us, r.normal_us, r.params),
		'bytesIn', r.bytes_in, 'bytesOut', r.bytes_out,
		'flags', api.flags(r.flags),
		'socket', json_build_object('retransmits', r.retrans, 'rtt', api.ms(r.srtt_us), 'outOfOrder', r.rcv_ooo),
		'reason', api.reason_body(r.reason_id, c.code, c.en, c.zh, r.params),
		'shares', case when r.shares is null then '[]' else api.shares(r.shares, r.normal_us > 0, (select codes from api.part_codes)) end,
		'checked', coalesce(k.checked, '[]'), 'unchecked', coalesce(k.unchecked, '[]'),
		'losses', case when r.losses is null then '[]' else api.losses(r.losses) end,
		'diagnosis', '/requests/' || api.id_text(r.ts, r.request_id)) as body,
	coalesce(api.addr(r.remote, r.remote_port), '') as remote,
	coalesce(r.upstreams -> -1 ->> 'addr', '') as upstream,
	r.queue_us::numeric + r.request_us as total_us
from request r
left join node n using (node_id)
left join region g using (region_id)
left join reason c using (reason_id)
left join checks k using (checks_id);

-- A block that says it began a year away from its owner is a probe's fault, and must not cost the others.
create view api.evidence as
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

-- Nothing before this is kept: who asks is told that, and not that there was none.
create view api.oldest_evidence as
select min(to_timestamp(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'utc') as ts
from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'evidence'::regclass and c.relname ~ '_[0-9]{8}$';

create view api.event as
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
		'params', v.params,
		'reason', api.reason_body(v.reason_id, c.code, c.en, c.zh, v.params),
		'evidence', case when v.ts >= (select ts from api.oldest_evidence) then (
			select coalesce(json_agg(e.body order by e.place), '[]') from api.evidence e where e.ts = v.ts and e.owner_id = v.event_id) end,
		'diagnosis', '/events/' || api.id_text(v.ts, v.event_id)) as body
from event v
left join node n using (node_id)
left join region g using (region_id)
left join reason c using (reason_id);

create view api.part as
select place, json_build_object('code', code, 'en', en, 'zh', zh) as body from part;

revoke execute on function drop_old(int, int) from public;
do $$ begin perform grant_web(); end $$;
