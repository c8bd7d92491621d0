-- SPDX-License-Identifier: Apache-2.0
-- 002_views.sql - what the console may see: views in schema api, and nothing else.
--
-- The web server's role selects from these views only; views read the tables with their owner's rights.
-- PostgreSQL makes the JSON, the web server passes its bytes on. Every value of a request is a stranger's
-- text: it goes into JSON by json_build_object and into a sentence in one pass, never into SQL.

create schema api;

-- Numbers come from probes and may be anything that fits: no view may fail over one row, so sums are numeric.
create function api.ms(us numeric) returns numeric language sql immutable parallel safe as
	$$ select trim_scale(round(us / 1000, 3)) $$;

create function api.rfc3339(t timestamptz) returns text language sql stable parallel safe as
	$$ select to_char(t at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

-- A public id is a time in microseconds and the row's number, in hex: a permalink finds its partition.
create function api.id_text(t timestamptz, number bigint) returns text language sql immutable parallel safe as
	$$ select to_hex((extract(epoch from t) * 1000000)::bigint) || '-' || lpad(to_hex(number), 16, '0') $$;

create function api.id_time(id text) returns timestamptz language sql immutable parallel safe as
	$$ select timestamptz 'epoch' + ('x' || lpad(split_part(id, '-', 1), 16, '0'))::bit(64)::bigint * interval '1 microsecond' $$;

create function api.id_number(id text) returns bigint language sql immutable parallel safe as
	$$ select ('x' || split_part(id, '-', 2))::bit(64)::bigint $$;

create function api.addr(ip inet, port int) returns text language sql immutable parallel safe as
	$$ select case family(ip) when 4 then host(ip) || ':' || port when 6 then '[' || host(ip) || ']:' || port end $$;

create function api.number_text(n numeric) returns text language sql immutable parallel safe as
	$$ select trim_scale(round(n, case when abs(n) < 10 then 2 when abs(n) < 100 then 1 else 0 end))::text $$;

-- {x} in a sentence becomes the parameter x. One pass: a parameter that contains {y} stays as it is.
create function api.sentence(template text, params jsonb) returns text language sql immutable parallel safe as $$
	select string_agg(case
		when part[1] is null then part[2]
		when jsonb_typeof(params -> part[1]) = 'number' then api.number_text((params ->> part[1])::numeric)
		else coalesce(params ->> part[1], '{' || part[1] || '}') end, '' order by i)
	from regexp_matches(template, '\{([a-z0-9_]+)\}|([^{]+|\{)', 'g') with ordinality m(part, i)
$$;

-- The tries of a request as the API tells them; errors are texts, and what was not measured is null.
create function api.upstreams(tries jsonb) returns json language sql stable parallel safe as $$
	select coalesce(json_agg(json_build_object(
		'addr', t ->> 'addr',
		'startTime', api.ms((t ->> 'startUs')::bigint),
		'connectTime', case when flag & 3 = 0 then api.ms((t ->> 'connectUs')::bigint) end,
		'responseTime', api.ms((t ->> 'responseUs')::bigint),
		'status', nullif((t ->> 'status')::int, 0),
		'error', coalesce(nullif(nullif(t ->> 'error', '0'), ''), case
			when flag & 2 <> 0 then 'no connection' when flag & 4 <> 0 then 'no answer' end),
		'reused', flag & 1 <> 0,
		'retransmits', (t ->> 'retrans')::bigint,
		'rtt', case when flag & 2 = 0 then api.ms((t ->> 'srttUs')::bigint) end,
		'localPort', nullif((t ->> 'localPort')::int, 0)) order by i), '[]')
	from jsonb_array_elements(tries) with ordinality u(t, i),
		lateral (select coalesce((t ->> 'flags')::int, 0) flag) f
$$;

create function api.flags(flags int) returns json language sql immutable parallel safe as $$
	select coalesce(json_agg(name order by bit), '[]') from (values (1, 'clientClosed'), (2, 'noAnswer'),
		(4, 'pipelined'), (8, 'upstreamUnknown'), (16, 'pathCut'), (32, 'upsCut')) f(bit, name)
	where flags & bit <> 0
$$;

create view api.request as
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
		'timesNormal', round((r.queue_us::numeric + r.request_us) / nullif(r.normal_us, 0), 1),
		'bytesIn', r.bytes_in, 'bytesOut', r.bytes_out,
		'flags', api.flags(r.flags),
		'socket', json_build_object('retransmits', r.retrans, 'rtt', api.ms(r.srtt_us), 'outOfOrder', r.rcv_ooo),
		'reason', json_build_object(
			'code', coalesce(c.code, 'unknown'),
			'params', r.params,
			'text', json_build_object(
				'en', coalesce(api.sentence(c.en, r.params), 'Reason ' || r.reason_id || ' (unknown to this version)'),
				'zh', coalesce(api.sentence(c.zh, r.params), '原因 ' || r.reason_id || '（此版本未知）'))),
		'shares', '[]'::json, 'checked', '[]'::json, 'unchecked', '[]'::json,
		'diagnosis', '/requests/' || api.id_text(r.ts, r.request_id)) as body
from request r
left join node n using (node_id)
left join region g using (region_id)
left join reason c using (reason_id);

-- What the probes say they saw, stored and could not: one row per node and tick, by name.
create view api.coverage as
select s.ts, s.node_id, n.name as node, coalesce(g.name, '') as region, m.name, case when abs(s.v[m.i]) < 1e18 then s.v[m.i] end as value
from layout l
cross join lateral unnest(l.names) with ordinality m(name, i)
join sample s using (layout_id)
left join node n using (node_id)
left join region g using (region_id)
where l.entity_kind = 'coverage';

-- Batches of requests that a probe had to drop before the collector had them.
create view api.gap as
select p.ts, coalesce(n.name, '') as node, coalesce(g.name, '') as region, p.stream, p.seq_to - p.seq_from + 1 as batches
from gap p left join node n using (node_id) left join region g using (region_id);

create view api.series as
select s.ts, n.name as node, coalesce(g.name, '') as region, e.kind as entity_kind, e.name as entity,
	m.name as metric, m.unit, m.kind = 1 as counter,
	case when abs(s.v[m.i]) < 1e290 then s.v[m.i] end as value -- no NaN: it is above all
from layout l
cross join lateral unnest(l.names, l.units, l.kinds) with ordinality m(name, unit, kind, i)
join sample s using (layout_id)
join entity e using (node_id, entity_id)
join node n using (node_id)
left join region g using (region_id);

create view api.red as
select d.ts, n.name as node, coalesce(g.name, '') as region, k.app, k.route, k.peer,
	case k.role when 0 then 'server' else 'client' end as role,
	d.status_class, d.n, d.sum_us, d.lo, d.b
from red d
join red_key k using (node_id, key_id)
join node n using (node_id)
left join region g using (region_id);

create view api.node as
select n.name, coalesce(g.name, '') as region, n.last_seen,
	json_build_object(
		'id', lpad(to_hex(n.node_id), 16, '0'),
		'name', n.name, 'region', g.name, 'tags', n.tags, 'version', n.version,
		'firstSeen', api.rfc3339(n.first_seen),
		'lastSeen', api.rfc3339(n.last_seen),
		'lag', greatest(0, round(extract(epoch from now() - n.last_seen) * 1000)),
		'lostBatches', (select coalesce(sum(m.lost), 0) from ingest_mark m where m.node_id = n.node_id),
		'sources', (select coalesce(json_agg(json_build_object(
				'name', s.name,
				'state', case s.state when 0 then 'off' when 1 then 'attached' else 'throttled' end,
				'why', s.why, 'since', api.rfc3339(s.since)) order by s.name), '[]')
			from source s where s.node_id = n.node_id),
		'coverage', (select coalesce(json_object_agg(c.name, c.total order by c.name), '{}')
			from (select name, coalesce(sum(value), 0) as total from api.coverage
				where node_id = n.node_id and ts > now() - interval '1 hour' group by name) c),
		'unread', (select coalesce(json_agg(json_build_object('app', u.app, 'kind', u.kind, 'count', u.total)
				order by u.total desc, u.app, u.kind), '[]')
			from (select app, kind, sum(n) as total from unread
				where node_id = n.node_id and ts > now() - interval '1 hour' group by app, kind) u)) as body
from node n
left join region g using (region_id);

-- How far back requests go: a permalink to an older one can say that it aged out.
create view api.oldest as
select min(to_timestamp(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'utc') as ts
from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'request'::regclass and c.relname ~ '_[0-9]{8}$';

-- Grants exist only for a role that exists: whoever makes the role later runs select grant_web() as the owner.
create function grant_web() returns bool language plpgsql as $$
begin
	if not exists (select from pg_roles where rolname = 'seismo_web') then
		return false;
	end if;
	grant usage on schema api to seismo_web;
	grant select on all tables in schema api to seismo_web;
	alter default privileges in schema api grant select on tables to seismo_web;
	return true;
end $$;

revoke execute on all functions in schema public from public;
do $$ begin perform grant_web(); end $$;
