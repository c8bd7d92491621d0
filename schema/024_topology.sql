-- SPDX-License-Identifier: Apache-2.0
-- 024_topology.sql - who calls whom: names beside the addresses of a request, and the edges between applications.

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

-- The edges of an app, a node, a region, or all: each caller (node and app) and what it called, with the caller's own figures and,
-- beside them, what the callee says of all that it served. The most frequent first; whom an address belongs to is told as
-- of the end of the range. Percentiles are estimated within slots that double, as for /api/v1/red.
create function api.topology(from_at timestamptz, to_at timestamptz, of_region text, of_node text, of_app text, most int)
returns json language plpgsql stable parallel safe set plan_cache_mode = force_custom_plan set enable_mergejoin = off as $$
begin
	return (with
	chosen as materialized (select k.node_id from api.node_key k where (of_region is null or k.region = of_region) and (of_node is null or k.node = of_node)),
	listens as materialized (
		select distinct p.node_id, p.netns, p.addr, p.port from api.place p join chosen using (node_id)
		where coalesce(of_region, of_node, of_app) is not null and p.kind_id in (2, 4) and (of_app is null or p.app = of_app)
		and p.since < to_at and (p.until is null or p.until > from_at)),
	served as materialized (
		select l.node_id, api.addr(l.addr, l.port) as peer, l.addr << inet '127.0.0.0/8' or l.addr = inet '::1' as home from listens l
		where l.addr not in (inet '0.0.0.0', inet '::')
		union select l.node_id, api.addr(a.addr, l.port), false from listens l join api.place a on a.node_id = l.node_id and a.netns = l.netns
		where l.addr in (inet '0.0.0.0', inet '::') and a.kind_id in (1, 3) and family(l.addr) >= family(a.addr) and (a.until is null or a.until > from_at)
		union select l.node_id, api.addr(a, l.port), true from listens l, unnest(array[inet '127.0.0.1', inet '::1']) a
		where l.addr in (inet '0.0.0.0', inet '::') and family(l.addr) >= family(a)),
	keys as materialized (
		select k.node_id, k.key_id, k.app, k.peer from api.red_key k join chosen using (node_id) where k.role = 1 and (of_app is null or k.app = of_app)
		union select k.node_id, k.key_id, k.app, k.peer from served s join api.red_key k on k.role = 1 and k.peer = s.peer
		where not s.home or k.node_id = s.node_id),
	call as materialized (select row_number() over (order by node_id, app, peer) as e, k.node_id, k.app, k.peer from keys k group by k.node_id, k.app, k.peer),
	asked as (select array_agg(api.peer_ip(c.peer) order by e) as addrs, array_agg(api.peer_port(c.peer) order by e) as ports,
		array_agg(least(to_at, now()) order by e) as ats, array_agg(c.node_id order by e) as asking from call c),
	known as materialized (select r.* from asked a, api.resolve_all(a.addrs, a.ports, a.ats, a.asking) r where a.addrs is not null),
	edge as materialized (
		select c.e, c.node_id, c.app, c.peer, case when c.peer like 'unix:%' then c.node_id else r.node_id end as to_node, r.app as to_app,
			case when c.peer like 'unix:%' then 'unix' else coalesce(r.how, 'external') end as how
		from call c left join known r on r.i = c.e
		where (of_app is null or c.app = of_app) and c.node_id in (select node_id from chosen)
			or (of_app is null or r.app = of_app) and r.node_id in (select node_id from chosen)),
	callee as materialized (select row_number() over () as s, to_node, to_app from edge where to_app is not null group by to_node, to_app),
	series as (
		select 'e' as kind, g.e as s, k.node_id, k.key_id from edge g join keys k using (node_id, app, peer)
		union all select 's', c.s, k.node_id, k.key_id from callee c join api.red_key k on k.node_id = c.to_node and k.app = c.to_app and k.role = 0),
	d as materialized (
		select x.kind, x.s, r.status_class, r.n, r.sum_us, r.lo, r.b from series x
		join api.red_row r on r.node_id = x.node_id and r.key_id = x.key_id where r.ts >= from_at and r.ts < to_at),
	total as (select kind, s, sum(n) as n, sum(sum_us) as us, coalesce(sum(n) filter (where status_class in (0, 5)), 0) as errors from d group by 1, 2),
	slot as (select kind, s, (lo + i - 1)::float8 as slot, sum(c) as c from d, unnest(b) with ordinality u(c, i)
		where c > 0 and lo + i - 1 between 0 and 62 group by 1, 2, 3),
	run as (select *, sum(c) over w as upto, sum(c) over (partition by kind, s) as whole, case slot when 0 then 0 else 2 ^ (slot - 1) end as low
		from slot window w as (partition by kind, s order by slot)),
	mark as (select kind, s, max(2 ^ slot) as most_us,
		min(low + (2 ^ slot - low) * greatest(0, 0.50 * whole - (upto - c)) / c) filter (where upto >= 0.50 * whole) as p50,
		min(low + (2 ^ slot - low) * greatest(0, 0.99 * whole - (upto - c)) / c) filter (where upto >= 0.99 * whole) as p99 from run group by 1, 2),
	every as (select kind, s, n, us, errors, null::float8 as p50, null::float8 as p99, null::float8 as most_us from total
		union all select kind, s, null, null, null, p50, p99, most_us from mark), -- no join: nobody could tell the planner how many there are
	figure as materialized (select t.kind, t.s, max(t.n) as n, json_build_object('count', max(t.n), 'rate', round(max(t.n) / greatest(extract(epoch from least(to_at, now()) - from_at), 1), 3),
		'errors', max(t.errors), 'errorRatio', round(max(t.errors) / nullif(max(t.n), 0), 5), 'mean', api.ms(round(max(t.us) / nullif(max(t.n), 0))),
		'p50', api.ms(round(max(t.p50)::numeric)), 'p99', api.ms(round(max(t.p99)::numeric)), 'max', api.ms(round(max(t.most_us)::numeric))) as body
		from every t group by t.kind, t.s),
	shown as materialized (
		select g.*, f.n, f.body, row_number() over (order by f.n desc, g.e) as place from edge g join figure f on f.kind = 'e' and f.s = g.e)
	select json_build_object(
		'total', (select count(*) from shown),
		'edges', (select coalesce(json_agg(json_build_object(
			'from', json_build_object('node', a.node, 'app', x.app),
			'to', json_build_object('node', b.node, 'app', x.to_app, 'addr', x.peer, 'how', x.how),
			'protocol', 'http', 'calls', x.body, 'served', v.body) order by x.place), '[]')
			from shown x join api.node_key a on a.node_id = x.node_id left join api.node_key b on b.node_id = x.to_node
			left join callee c on c.to_node = x.to_node and c.to_app = x.to_app left join figure v on v.kind = 's' and v.s = c.s
			where x.place <= most)));
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
