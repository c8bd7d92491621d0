-- SPDX-License-Identifier: Apache-2.0
-- 004_find.sql - how the newest rows of a node, app, route, status or reason, and of a text, are found.
--
-- Each index holds one value's rows minute by minute, so that a page is read from its newest end. Rows of one
-- minute have equal keys, which a btree keeps once: a fifth of the size of one by (value, ts). What follows the
-- minute is few-valued: pairs are then told apart in the index. A whole table is indexed here, once: minutes for
-- ten million rows.

create index request_by_node on request (node_id, date_bin('1 minute', ts, timestamptz 'epoch'), app, route);
create index request_by_app on request (app, date_bin('1 minute', ts, timestamptz 'epoch'), status, reason_id);
create index request_by_route on request (route, date_bin('1 minute', ts, timestamptz 'epoch'));
create index request_by_status on request (status, date_bin('1 minute', ts, timestamptz 'epoch'), reason_id);
create index request_by_reason on request (reason_id, date_bin('1 minute', ts, timestamptz 'epoch'));

-- What a text is looked for in, besides the node's name.
create function api.request_text(method text, path text, app text, remote inet, port int, upstreams jsonb) returns text
language sql immutable parallel safe as $$
	select method || ' ' || path || ' ' || app || ' ' || coalesce(api.addr(remote, port), '') || ' ' || coalesce(upstreams -> -1 ->> 'addr', '')
$$;

-- Without pg_trgm, which a database's owner may make where it is installed, texts are found by looking at each row.
do $$ begin
	create extension if not exists pg_trgm;
	create index request_by_text on request
		using gin (api.request_text(method, path, app, remote, remote_port, upstreams) gin_trgm_ops);
exception when insufficient_privilege or undefined_file or undefined_object or feature_not_supported then
	raise notice 'no index for texts: %', sqlerrm;
end $$;

-- What is filtered of a request, and nothing that costs: a page is first found here, then its 100 bodies are made.
create view api.request_key as
select r.ts, date_bin('1 minute', r.ts, timestamptz 'epoch') as minute, r.request_id, r.node_id, r.app, r.route, r.status, r.reason_id,
	api.request_text(r.method, r.path, r.app, r.remote, r.remote_port, r.upstreams) as text,
	coalesce(api.addr(r.remote, r.remote_port), '') as remote,
	coalesce(r.upstreams -> -1 ->> 'addr', '') as upstream,
	r.queue_us::numeric + r.request_us as total_us
from request r;

create view api.node_key as
select n.node_id, n.name as node, coalesce(g.name, '') as region from node n left join region g using (region_id);

create view api.reason_key as
select reason_id, code from reason;

-- Names become ids before the query is planned, which then knows what it looks for. For that these claim to be
-- immutable; it holds for one query, so they must never stand in a prepared one, an index or a view.
create function api.nodes(regions text[], names text[]) returns bigint[] language sql immutable parallel safe as $$
	select coalesce(array_agg(node_id), '{}') from api.node_key
	where (regions is null or region = any(regions)) and (names is null or node = any(names))
$$;

create function api.nodes_with(word text) returns bigint[] language sql immutable parallel safe as $$
	select coalesce(array_agg(node_id), '{}') from api.node_key where strpos(lower(node), lower(word)) > 0
$$;

create function api.reasons(codes text[]) returns smallint[] language sql immutable parallel safe as $$
	select coalesce(array_agg(reason_id), '{}') from api.reason_key where codes is null or code = any(codes)
$$;

create function api.like_text(word text) returns text language sql immutable parallel safe as $$
	select '%' || replace(replace(replace(word, '\', '\\'), '%', '\%'), '_', '\_') || '%'
$$;

-- What a body is made of, the same as in 002 but called a hundred times for a page: no regular expressions and no
-- query inside. It took 43 ms of a processor for a hundred bodies, most of it here.
create or replace function api.sentence(template text, params jsonb) returns text language plpgsql immutable parallel safe as $$
declare
	part text;
	name text;
	parts text[] := string_to_array(template, '{');
	said text := parts[1];
begin
	foreach part in array coalesce(parts[2:], '{}') loop
		name := split_part(part, '}', 1);
		said := said || case
			when length(name) = length(part) then '{' || part
			when jsonb_typeof(params -> name) = 'number' then api.number_text((params ->> name)::numeric) || substr(part, length(name) + 2)
			else coalesce(params ->> name, '{' || name || '}') || substr(part, length(name) + 2) end;
	end loop;
	return said;
end $$;

create or replace function api.upstreams(tries jsonb) returns json language plpgsql stable parallel safe as $$
declare
	t jsonb;
	flag int;
	told text := '';
begin
	for i in 0 .. jsonb_array_length(tries) - 1 loop
		t := tries -> i;
		flag := coalesce((t ->> 'flags')::int, 0);
		told := told || case when i > 0 then ', ' else '' end || json_build_object(
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
			'localPort', nullif((t ->> 'localPort')::int, 0));
	end loop;
	return ('[' || told || ']')::json;
end $$;

create or replace function api.flags(flags int) returns json language plpgsql immutable parallel safe as $$
begin
	return case when flags = 0 then '[]' else (select coalesce(json_agg(name order by bit), '[]')
		from (values (1, 'clientClosed'), (2, 'noAnswer'), (4, 'pipelined'), (8, 'upstreamUnknown'), (16, 'pathCut'), (32, 'upsCut')) f(bit, name)
		where $1 & bit <> 0) end;
end $$;

do $$ begin perform grant_web(); end $$;
