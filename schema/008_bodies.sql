-- SPDX-License-Identifier: Apache-2.0
-- 008_bodies.sql - the same bodies of requests for half the processor time: a page has a hundred of them, a file ten
-- thousand. What took it: json_build_object() asks for the type of each of its arguments each time, where concat()
-- remembers; a time in microseconds was computed in numerics; and a sentence was taken apart for each row anew.

-- Exact until the year 2106: a second of a float then has 0.5 us, and this rounds.
create or replace function api.id_text(t timestamptz, number bigint) returns text language sql immutable parallel safe as
	$$ select to_hex(round(date_part('epoch', t) * 1000000)::bigint) || '-' || lpad(to_hex(number), 16, '0') $$;

-- Texts of JSON, of which bodies are put together.
create function api.json_text(t text) returns text language sql stable parallel safe as
	$$ select coalesce(to_json(t)::text, 'null') $$;

create function api.json_ms(us bigint) returns text language sql immutable parallel safe as $$
	select case when us between 0 and 1000000000000 then (us / float8 '1000')::text
		else coalesce(trim_scale(round(us::numeric / 1000, 3))::text, 'null') end
$$;

create function api.json_addr(ip inet, port int) returns text language sql stable parallel safe as $$
	select case family(ip) when 4 then concat('"', host(ip), ':', port, '"') when 6 then concat('"[', host(ip), ']:', port, '"') else 'null' end
$$;

-- A reason's sentences as formats, with the names of their parameters in the order of their numbers.
create function api.reason_keys(en text, zh text) returns text[] language sql immutable parallel safe as $$
	select coalesce(array_agg(key order by first), '{}') from (
		select m[1] as key, min(i) as first from regexp_matches(en || zh, '\{([^{}]*)\}', 'g') with ordinality t(m, i) group by 1) k
$$;

create function api.reason_format(sentence text, keys text[]) returns text language plpgsql immutable parallel safe as $$
declare
	told text := replace(sentence, '%', '%%');
begin
	for i in 1 .. cardinality(keys) loop
		told := replace(told, '{' || replace(keys[i], '%', '%%') || '}', '%' || i || '$s');
	end loop;
	return told;
end $$;

alter table reason
	add keys text[] generated always as (api.reason_keys(en, zh)) stored,
	add en_format text generated always as (api.reason_format(en, api.reason_keys(en, zh))) stored,
	add zh_format text generated always as (api.reason_format(zh, api.reason_keys(en, zh))) stored;

create function api.reason_text(keys text[], en text, zh text, params jsonb) returns text language plpgsql stable parallel safe as $$
declare
	key text;
	told text[] := '{}';
begin
	foreach key in array keys loop
		told := told || case when jsonb_typeof(params -> key) = 'number' then api.number_text((params -> key)::numeric)
			else coalesce(params ->> key, '{' || key || '}') end;
	end loop;
	return concat('{"en":', to_json(format(en, variadic told)), ',"zh":', to_json(format(zh, variadic told)), '}');
end $$;

create or replace function api.shares(shares bigint[], knows_normal bool, codes text[]) returns json language plpgsql stable parallel safe as $$
declare
	told text := '';
begin
	for i in 1 .. cardinality(shares) - 2 by 3 loop
		told := concat(told, case when i > 1 then ',{"code":"' else '{"code":"' end, coalesce(codes[shares[i] + 1], 'part' || shares[i]),
			'","ms":', shares[i + 1] / float8 '1000', ',"normal":', case when knows_normal then (shares[i + 2] / float8 '1000')::text else 'null' end, '}');
	end loop;
	return concat('[', told, ']');
end $$;

create or replace function api.upstreams(tries jsonb) returns json language plpgsql stable parallel safe as $$
declare
	t jsonb;
	flag int;
	error text;
	told text := '';
begin
	for i in 0 .. jsonb_array_length(tries) - 1 loop
		t := tries -> i;
		flag := coalesce((t -> 'flags')::int, 0);
		error := coalesce(nullif(nullif(t ->> 'error', '0'), ''), case
			when flag & 2 <> 0 then 'no connection' when flag & 4 <> 0 then 'no answer' end);
		told := concat(told, case when i > 0 then ',' end, '{"addr":', coalesce((t -> 'addr')::text, 'null'),
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
	return concat('[', told, ']');
end $$;

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

do $$ begin perform grant_web(); end $$;
