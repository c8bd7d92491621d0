-- SPDX-License-Identifier: Apache-2.0
-- Abnormal requests.

-- The start of the oldest partition of requests: a permalink to an older request can say that it aged out.
create or replace view api.oldest as
select min(to_timestamp(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'utc') as ts
from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'request'::regclass and c.relname ~ '_[0-9]{8}$';

create or replace function api.flags(flags int) returns json language plpgsql immutable parallel safe as $$
begin
	return case when flags = 0 then '[]' else (select coalesce(json_agg(name order by bit), '[]')
		from (values (1, 'clientClosed'), (2, 'noAnswer'), (4, 'pipelined'), (8, 'upstreamUnknown'), (16, 'pathCut'), (32, 'upsCut'),
			(64, 'byFirstByte')) f(bit, name)
		where $1 & bit <> 0) end;
end $$;

create or replace function api.losses(losses int[]) returns json language sql stable parallel safe as $$
	select json_agg(json_build_object(
		'side', case losses[i] when 0 then 'client' when 1 then 'upstream' end,
		'kind', (array['syn', 'fast', 'slow-start', 'rto', 'tlp'])[losses[i + 1]],
		'count', losses[i + 2]) order by i)
	from generate_series(1, cardinality(losses) - 2, 3) i
$$;

-- Floats print a whole number of microseconds exactly, at a tenth of the cost of numerics.
create or replace function api.shares(shares bigint[], knows_normal bool, codes text[]) returns json language plpgsql stable parallel safe as $$
declare
	listed text := '';
begin
	for i in 1 .. cardinality(shares) - 2 by 3 loop
		listed := concat(listed, case when i > 1 then ',{"code":"' else '{"code":"' end, coalesce(codes[shares[i] + 1], 'part' || shares[i]),
			'","ms":', shares[i + 1] / float8 '1000', ',"normal":', case when knows_normal then (shares[i + 2] / float8 '1000')::text else 'null' end, '}');
	end loop;
	return concat('[', listed, ']');
end $$;

-- A request that was judged by the first byte of its answer: its total cannot be compared with its normal time.
create or replace function api.times_normal(flags int, queue_us bigint, request_us bigint, normal_us bigint, params jsonb) returns numeric
language sql immutable parallel safe as $$
	select round((queue_us::numeric + case when flags & 64 = 0 then request_us
		when jsonb_typeof(params -> 'first_ms') = 'number' then (params ->> 'first_ms')::numeric * 1000 end)
		/ nullif(normal_us, 0), 1)
$$;

-- The tries of a request for the API. Errors are texts; what was not measured is null.
create or replace function api.upstreams(tries jsonb) returns json language plpgsql stable parallel safe as $$
declare
	t jsonb;
	flag int;
	error text;
	listed text := '';
begin
	for i in 0 .. jsonb_array_length(tries) - 1 loop
		t := tries -> i;
		flag := coalesce((t -> 'flags')::int, 0);
		error := coalesce(nullif(nullif(t ->> 'error', '0'), ''), case
			when flag & 2 <> 0 then 'no connection' when flag & 4 <> 0 then 'no answer' end);
		listed := concat(listed, case when i > 0 then ',' end, '{"addr":', coalesce((t -> 'addr')::text, 'null'),
			',"startTime":', api.json_ms((t -> 'startUs')::bigint),
			',"connectTime":', case when flag & 3 = 0 then api.json_ms((t -> 'connectUs')::bigint) else 'null' end,
			',"responseTime":', api.json_ms((t -> 'responseUs')::bigint),
			',"status":', coalesce(nullif((t -> 'status')::int, 0)::text, 'null'),
			',"error":', api.json_text(error),
			',"reused":', case when flag & 1 <> 0 then 'true' else 'false' end,
			',"retransmits":', coalesce((t ->> 'retrans'), 'null'),
			',"rtt":', case when flag & 2 = 0 then api.json_ms((t -> 'srttUs')::bigint) else 'null' end,
			',"localPort":', coalesce(nullif(t ->> 'localPort', '0'), 'null'), '}');
	end loop;
	return concat('[', listed, ']');
end $$;

-- Request bodies for the API. A page makes a hundred, so null fields are skipped at once, and the codes of parts are read
-- once: codes[part_id + 1].
create or replace view api.request as
select r.ts, r.request_id, r.stored,
	api.id_text(r.ts, r.request_id) as id,
	api.id_text(r.stored, r.request_id) as event_id,
	coalesce(g.name, '') as region, coalesce(n.name, '') as node, r.app, r.route, r.status::int as status,
	coalesce(c.code, 'unknown') as reason,
	concat_ws(' ', r.method, r.path, r.app, n.name, api.addr(r.remote, r.remote_port),
		r.upstreams -> -1 ->> 'addr') as search,
	concat('{"id":"', api.id_text(r.ts, r.request_id), '","time":"', api.rfc3339(r.ts),
		'","end":"', api.rfc3339(r.ts + least(r.request_us, 31536000000000) * interval '1 microsecond'),
		'","region":', api.json_text(g.name), ',"node":', api.json_text(n.name), ',"app":', api.json_text(r.app),
		',"pid":', r.pid, ',"tid":', r.tid, ',"comm":', api.json_text(r.comm),
		',"remoteAddr":', api.json_addr(r.remote, r.remote_port), ',"local":', api.json_addr(r.local, r.local_port),
		',"upstreamAddr":', case when jsonb_array_length(r.upstreams) = 0 then 'null' else api.json_text(nullif(r.upstreams -> -1 ->> 'addr', '')) end,
		',"upstreams":', case when jsonb_array_length(r.upstreams) = 0 then '[]' else api.upstreams(r.upstreams) end,
		',"method":', api.json_text(r.method), ',"path":', api.json_text(r.path), ',"request":', to_json(r.method || ' ' || r.path),
		',"route":', api.json_text(r.route), ',"status":', coalesce(nullif(r.status, 0)::text, 'null'),
		',"requestTime":', api.json_ms(r.request_us), ',"queueTime":', api.json_ms(r.queue_us),
		',"totalTime":', case when r.queue_us between 0 and 1000000000000 and r.request_us between 0 and 1000000000000
			then api.json_ms(r.queue_us + r.request_us) else api.ms(r.queue_us::numeric + r.request_us)::text end,
		',"upstreamResponseTime":', api.json_ms(r.upstream_us), ',"normalTime":', api.json_ms(nullif(r.normal_us, 0)),
		',"limitTime":', api.json_ms(r.limit_us),
		',"timesNormal":', coalesce(api.times_normal(r.flags, r.queue_us, r.request_us, r.normal_us, r.params)::text, 'null'),
		',"bytesIn":', r.bytes_in, ',"bytesOut":', r.bytes_out,
		',"flags":', case when r.flags = 0 then '[]' else api.flags(r.flags) end,
		',"socket":{"retransmits":', r.retrans, ',"rtt":', api.json_ms(r.srtt_us), ',"outOfOrder":', r.rcv_ooo,
		'},"reason":{"code":', api.json_text(coalesce(c.code, 'unknown')), ',"params":', r.params, ',"text":', case when c.code is null
			then json_build_object('en', 'Reason ' || r.reason_id || ' (unknown to this version)', 'zh', '原因 ' || r.reason_id || '（此版本未知）')::text
			else api.reason_text(c.keys, c.en_format, c.zh_format, r.params) end,
		'},"shares":', case when r.shares is null then '[]' else api.shares(r.shares, r.normal_us > 0, (select codes from api.part_codes)) end,
		',"checked":', coalesce(k.checked, '[]'), ',"unchecked":', coalesce(k.unchecked, '[]'),
		',"losses":', case when r.losses is null then '[]' else api.losses(r.losses) end,
		',"diagnosis":"/requests/', api.id_text(r.ts, r.request_id), '"}')::json as body,
	coalesce(api.addr(r.remote, r.remote_port), '') as remote,
	coalesce(r.upstreams -> -1 ->> 'addr', '') as upstream,
	r.queue_us::numeric + r.request_us as total_us
from request r
left join node n using (node_id)
left join region g using (region_id)
left join reason c using (reason_id)
left join checks k using (checks_id);

-- The columns that filters use, and nothing expensive: a page is found here first, then its 100 bodies are made.
create or replace view api.request_key as
select r.ts, date_bin('1 minute', r.ts, timestamptz 'epoch') as minute, r.request_id, r.node_id, r.app, r.route, r.status, r.reason_id,
	api.request_text(r.method, r.path, r.app, r.remote, r.remote_port, r.upstreams) as text,
	coalesce(api.addr(r.remote, r.remote_port), '') as remote,
	coalesce(r.upstreams -> -1 ->> 'addr', '') as upstream,
	r.queue_us::numeric + r.request_us as total_us,
	r.remote as client,
	case when r.normal_us > 0 then greatest(r.queue_us::numeric + r.request_us - r.normal_us, 0) else 0 end as excess_us
from request r;

-- The two halves of one call are joined by both ends of its connection and the time.
create or replace view api.request_call as
select r.ts, r.request_id, r.node_id, date_bin('1 minute', r.ts, timestamptz 'epoch') as minute, r.app, r.method, r.path, r.status, r.remote, r.remote_port,
	r.local, r.local_port, r.upstreams, r.queue_us, r.request_us, r.reason_id, r.shares, r.trace, r.sent_id
from request r;

create or replace view api.request_hop as select ts, request_id, node_id, flags, limit_us from request;

create or replace view api.request_source as
select node_id, state, why, since from source where name = 'request';

-- The bodies of these requests, all in the range, so that no other day is read. Only the plan by key is right: the statistics
-- of a table that was empty when the query was planned suggest another.
create or replace function api.bodies(times timestamptz[], numbers bigint[], since timestamptz, until timestamptz)
returns table (i bigint, id text, body json) language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	return query select k.i, r.id, r.body from unnest(times, numbers) with ordinality k(ts, request_id, i)
		join api.request r on r.ts = k.ts and r.request_id = k.request_id where r.ts >= since and r.ts < until;
end $$;

-- Names become ids before the query is planned, so that the planner knows the values. For that these three are declared
-- immutable. It holds within one query: they must never stand in a prepared query, an index or a view.
create or replace function api.nodes(regions text[], names text[]) returns bigint[] language plpgsql immutable parallel safe as $$
begin
	return (select coalesce(array_agg(node_id), '{}') from api.node_key
		where (regions is null or region = any(regions)) and (names is null or node = any(names)));
end $$;

create or replace function api.nodes_with(word text) returns bigint[] language plpgsql immutable parallel safe as $$
begin
	return (select coalesce(array_agg(node_id), '{}') from api.node_key where strpos(lower(node), lower(word)) > 0);
end $$;

create or replace function api.reasons(codes text[]) returns smallint[] language plpgsql immutable parallel safe as $$
begin
	return (select coalesce(array_agg(reason_id), '{}') from api.reason_key where codes is null or code = any(codes));
end $$;
