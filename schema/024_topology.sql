-- SPDX-License-Identifier: Apache-2.0
-- 024_topology.sql - who calls whom: names beside the addresses of a request, and its calls with the other half of each.

-- An app's calls of an hour are found without the rows of all others.
create index red_by_key on red (node_id, key_id, ts);
create index red_key_by_app on red_key (app, role);
create index place_by_app on place (app) where kind in (2, 4);
create index red_key_by_peer on red_key (peer) where role = 1;

create view api.red_key as select node_id, key_id, app, peer, role from red_key;
create view api.red_row as select ts, node_id, key_id, status_class, n, sum_us, lo, b from red;

-- {"node", "app", "how"} of an address: how is listener, address, unix, ambiguous or external.
create function api.place_text(node text, app text, how text) returns text language sql stable parallel safe as
	$$ select concat('{"node":', api.json_text(node), ',"app":', api.json_text(app), ',"how":"', how, '"}') $$;

-- Bodies of requests (010) with the names of both ends, as they were at its time.
create function api.named_bodies(times timestamptz[], numbers bigint[], since timestamptz, until timestamptz)
returns table (i bigint, id text, body text) language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	return query
	with k as materialized (
		select u.i, r.id, r.body::text as body, q.ts, q.node_id, q.client, q.remote, q.upstream
		from unnest(times, numbers) with ordinality u(ts, request_id, i)
		join api.request r on r.ts = u.ts and r.request_id = u.request_id
		join api.request_key q on q.ts = u.ts and q.request_id = u.request_id
		where r.ts >= since and r.ts < until and q.ts >= since and q.ts < until),
	ends as materialized (
		select 2 * k.i as e, k.client as addr, api.peer_port(k.remote) as port, k.ts, k.node_id from k where k.client is not null
		union all select 2 * k.i + 1, api.peer_ip(k.upstream), api.peer_port(k.upstream), k.ts, k.node_id from k where k.upstream <> ''),
	asked as (select array_agg(e order by e) as e, array_agg(addr order by e) as addrs, array_agg(port order by e) as ports,
		array_agg(ts order by e) as ats, array_agg(node_id order by e) as asking from ends),
	told as materialized (
		select a.e[r.i] as e, api.place_text(n.node, r.app, r.how) as place
		from asked a, api.resolve_all(a.addrs, a.ports, a.ats, a.asking) r left join api.node_key n on n.node_id = r.node_id)
	select k.i, k.id, concat(left(k.body, -1), ',"remotePlace":',
			case when k.client is null then 'null' else coalesce((select place from told where e = 2 * k.i), '{"node":null,"app":null,"how":"external"}') end,
			',"upstreamPlace":', case when k.upstream = '' then 'null'
				when k.upstream like 'unix:%' then (select api.place_text(n.node, null, 'unix') from api.node_key n where n.node_id = k.node_id)
				else coalesce((select place from told where e = 2 * k.i + 1), '{"node":null,"app":null,"how":"external"}') end, '}')
	from k;
end $$;

-- What ties the two halves of one call together: both ends of its connection, and the time.
create view api.request_call as
select r.ts, r.request_id, r.node_id, date_bin('1 minute', r.ts, timestamptz 'epoch') as minute, r.app, r.method, r.path, r.status, r.remote, r.remote_port,
	r.local, r.local_port, r.upstreams, r.queue_us, r.request_us, r.reason_id, r.shares
from request r;

create view api.request_source as
select node_id, state, why, since from source where name = 'request';

-- The callee's row of a try: from the caller's port to the address called, with the same status, not longer than the try, and
-- begun while it went on, for clocks that differ by up to 5 s (on one node by none). On a connection that is used again that
-- may be another call's: not if a row of the caller is nearer to it; of several the one with the caller's path; if there are
-- still several, none: it cannot be told which. How long the callee's waited to be read is known by the kernel's tick only, and
-- says nothing here; and numbers come from probes and may be anything that fits.
create function api.callee_of(caller_ts timestamptz, caller_node bigint, caller_id bigint, caller_path text, try jsonb)
returns table (ts timestamptz, request_id bigint, node_id bigint, sure bool) language sql stable parallel safe
set enable_hashjoin = off set enable_mergejoin = off as $$
	with t as materialized (select try ->> 'addr' as addr, api.peer_ip(try ->> 'addr') as ip, api.peer_port(try ->> 'addr') as port, (try ->> 'localPort')::int as from_port,
			coalesce((try ->> 'status')::int, 0) as status, least(coalesce((try ->> 'responseUs')::bigint, 0), 3600000000) * interval '1 microsecond' as took,
			least(coalesce((try ->> 'responseUs')::bigint, 0), 86400000000) as us, caller_ts + least(coalesce((try ->> 'startUs')::bigint, 0), 3600000000) * interval '1 microsecond' as began),
	c as materialized (select q.ts, q.request_id, q.node_id, (q.path = caller_path)::int as same from t join api.request_call q
		on q.local = t.ip and q.local_port = t.port and q.remote_port = t.from_port
		where t.from_port > 0 and q.ts between t.began - interval '5 s' and t.began + interval '5 s' + t.took
			and (q.node_id <> caller_node or q.ts between t.began - interval '5 ms' and t.began + interval '5 ms' + t.took)
			-- What began within the call is of it, also if its host had no time to end it as soon as the caller had the answer.
			and q.request_us <= t.us + case when q.node_id = caller_node and q.ts <= t.began + t.took then 1000000 else 2000 end and (q.status = t.status or q.status in (0, 499) or t.status = 0)),
	mine as (select c.* from c, t where not exists (select from api.request_call o cross join lateral jsonb_array_elements(o.upstreams) e
		where o.node_id = caller_node and o.minute between date_bin('1 minute', c.ts - interval '65 s', timestamptz 'epoch') and date_bin('1 minute', c.ts + interval '5 s', timestamptz 'epoch')
			and (o.ts, o.request_id) <> (caller_ts, caller_id) and (e ->> 'localPort')::int = t.from_port and e ->> 'addr' = t.addr
			and abs(extract(epoch from o.ts + least(coalesce((e ->> 'startUs')::bigint, 0), 3600000000) * interval '1 microsecond' - c.ts)) < abs(extract(epoch from t.began - c.ts)))),
	b as (select m.*, count(*) over () as n from (select mine.*, max(same) over () as most from mine) m where m.same = m.most)
	select b.ts, b.request_id, b.node_id, b.n = 1 from b limit 1
$$;

-- Why there is no row of the callee: whether its node is known, and whether its requests are seen.
create function api.callee_silence(callee bigint, how text) returns text language sql stable parallel safe as $$
	select case when how = 'ambiguous' then 'ambiguous' when how = 'unix' then 'unix' when callee is null then 'noProbe'
		when exists (select from api.request_source s where s.node_id = callee and s.state > 0) then 'nothingAbnormal' else 'notSeen' end
$$;

-- The calls of one request, try by try: the callee's row and what was left for the network, or why there is none.
create function api.calls(at timestamptz, number bigint) returns json language plpgsql stable parallel safe
set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	return (with r as materialized (select q.* from api.request_call q where q.ts = at and q.request_id = number limit 1),
	t as materialized (select u.i, u.try, u.try ->> 'addr' as addr, (u.try ->> 'responseUs')::bigint as us
		from r, jsonb_array_elements(r.upstreams) with ordinality u(try, i)),
	place as materialized (select p.* from (select array_agg(api.peer_ip(addr) order by i) as ips, array_agg(api.peer_port(addr) order by i) as ports,
		array_agg(at order by i) as ats, array_agg((select node_id from r) order by i) as asking from t) a,
		api.resolve_all(a.ips, a.ports, a.ats, a.asking) p),
	found as materialized (select t.*, c.ts, c.request_id, case when t.addr like 'unix:%' then (select node_id from r) else coalesce(c.node_id, p.node_id) end as callee,
			p.app, case when t.addr like 'unix:%' then 'unix' else coalesce(p.how, 'external') end as how, c.sure
		from t left join api.callee_of(at, (select node_id from r), number, (select path from r), t.try) c on true left join place p on p.i = t.i)
	select coalesce(json_agg(json_build_object('try', f.i, 'addr', f.addr, 'responseTime', api.ms(f.us),
		'node', n.node, 'app', coalesce(q.app, f.app), 'how', f.how,
		'id', case when f.sure then api.id_text(f.ts, f.request_id) end,
		'time', case when f.sure then api.rfc3339(q.ts) end,
		'request', case when f.sure then q.method || ' ' || q.path end,
		'status', case when f.sure then nullif(q.status, 0) end,
		'requestTime', case when f.sure then api.ms(q.request_us) end,
		'totalTime', case when f.sure then api.ms(q.queue_us::numeric + q.request_us) end,
		'networkTime', case when f.sure then api.ms(greatest(0, f.us - q.queue_us - q.request_us)) end,
		'reason', case when f.sure then coalesce(k.code, 'unknown') end,
		'shares', case when f.sure and q.shares is not null then api.shares(q.shares, false, (select codes from api.part_codes)) end,
		'silence', case when f.sure then null when f.sure is false then 'several' else api.callee_silence(f.callee, f.how) end) order by f.i), '[]')
	from found f left join api.node_key n on n.node_id = f.callee
	left join api.request_call q on f.sure and q.ts = f.ts and q.request_id = f.request_id and q.node_id = f.callee
	left join api.reason_key k on k.reason_id = q.reason_id);
end $$;

-- Whose call one request was: the row of the node that its client's address belongs to, with a try from the client's port to
-- where the request came in. Null: none, or it cannot be told which.
create function api.called_by(at timestamptz, number bigint) returns json language plpgsql stable parallel safe
set enable_hashjoin = off set enable_mergejoin = off as $$
begin
	return (with r as materialized (select q.* from api.request_call q where q.ts = at and q.request_id = number limit 1),
	w as (select p.node_id from r, api.resolve_all(array[r.remote], array[r.remote_port], array[at], array[r.node_id]) p where p.node_id is not null),
	c as materialized (select q.*, api.peer_ip(u.try ->> 'addr') as ip, u.i from r join w on true
		join api.request_call q on q.node_id = w.node_id and q.minute between date_bin('1 minute', at - interval '10 minutes', timestamptz 'epoch')
			and date_bin('1 minute', at + interval '5 s', timestamptz 'epoch')
		cross join lateral jsonb_array_elements(q.upstreams) with ordinality u(try, i)
		where q.ts between at - interval '10 minutes' and at + interval '5 s'
			and (u.try ->> 'localPort')::int = r.remote_port and u.try ->> 'addr' = api.addr(r.local, r.local_port)
			and exists (select from api.callee_of(q.ts, q.node_id, q.request_id, q.path, u.try) f where f.sure and f.ts = at and f.request_id = number))
	select json_build_object('id', api.id_text(c.ts, c.request_id), 'try', c.i, 'node', n.node, 'app', c.app, 'time', api.rfc3339(c.ts),
		'request', c.method || ' ' || c.path, 'status', nullif(c.status, 0), 'requestTime', api.ms(c.request_us),
		'totalTime', api.ms(c.queue_us::numeric + c.request_us), 'reason', coalesce(k.code, 'unknown'))
	from c left join api.node_key n on n.node_id = c.node_id left join api.reason_key k on k.reason_id = c.reason_id
	where (select count(*) from c) = 1);
end $$;

do $$ begin perform grant_web(); end $$;
