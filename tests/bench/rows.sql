-- SPDX-License-Identifier: Apache-2.0
-- rows.sql - abnormal requests of five days, up to now, :rows in all: 200 nodes, 30 apps, 300 routes, and of each
-- filter one value that three of the last day's rows have. A day's rows are made once and moved to the other days.
set synchronous_commit = off;
insert into region values (1, 'home'), (2, 'away') on conflict do nothing;
insert into node (node_id, region_id, name) select hashint8extended(i, 7), 1 + (i % 4 = 0)::int, 'web-' || i from generate_series(0, 199) i on conflict do nothing;
insert into node (node_id, region_id, name) values (-77, 1, 'rare-node') on conflict do nothing;
insert into reason values (999, 'bench.rare', 'x', 'x') on conflict do nothing;
set role seismo; -- who migrates them must own them
select ensure_partitions(6, 1) \g /dev/null
reset role;

\echo '  FILL   the last day'
with i as (select i, date_trunc('minute', now()) - interval '1 day' * (1 - i::float8 / (:rows / 5)) as ts from generate_series(0, :rows / 5 - 1) i),
h as (select i, ts, floor(200 * (abs(hashint8extended(i, 1)) % 100000 / 100000.0) ^ 2)::int as node, abs(hashint8extended(i, 2)) as a,
	abs(hashint8extended(i, 3)) as b, abs(hashint8extended(i, 4)) as c, abs(hashint8extended(i, 5)) as d, abs(hashint8extended(i, 6)) as e from i),
v as (select *, (node * 7 + c % 3) % 30 as app, floor(10 * (d % 1000 / 1000.0) ^ 2)::int as route,
	(array[500, 500, 500, 500, 500, 502, 502, 502, 502, 504, 504, 504, 499, 499, 200, 200, 200, 503, 404, 0])[1 + e % 20] as status,
	(array[6, 6, 6, 3, 3, 1, 1, 1, 2, 4, 5, 0])[1 + e % 11] as reason, '10.201.' || d % 30 || '.' || c % 20 || ':8080' as up from h),
p as (select *, '/v1/app' || app || '/' || (array['item', 'user', 'order', 'cart', 'search', 'login', 'static', 'report', 'export', 'health'])[1 + route] || '/' as place from v)
insert into request select ts, hashint8extended(node, 7), hashint8extended(i, 99), ts + interval '1 s', 'app-' || app, 'worker', 1000 + node, 1000 + node,
	inet '10.0.0.0' + a % 50000, 1024 + (b % 60000)::int, inet '10.200.0.1' + node, 80, case when c % 5 = 0 then 'POST' else 'GET' end, place || to_hex(b), place || ':x',
	0, status, 60000 + a % 900000, 5, 50000 + a % 800000, 300, 2000 + b % 9000, 30000, 50000, 0, 800, 0, reason,
	case reason when 1 then jsonb_build_object('addr', up, 'ms', a % 800, 'total_ms', a % 900) when 5 then jsonb_build_object('ms', a % 900) when 0 then '{}'
		when 6 then jsonb_build_object('app', 'app-' || app, 'error', status) else jsonb_build_object('addr', up, 'error', status) end,
	jsonb_build_array(jsonb_build_object('addr', up, 'startUs', 200, 'connectUs', 0, 'responseUs', 50000 + a % 800000, 'status', status, 'error', '', 'retrans', 0,
		'srttUs', 120, 'flags', 1, 'localPort', 40000 + b % 20000))
from p;

\echo '  FILL   the days before'
insert into request select ts - d * interval '1 day', node_id, hashint8extended(request_id, d), stored - d * interval '1 day', app, comm, pid, tid, remote, remote_port, local, local_port,
	method, path, route, flags, status, request_us, queue_us, upstream_us, bytes_in, bytes_out, normal_us, limit_us, retrans, srtt_us, rcv_ooo, reason_id, params, upstreams
from generate_series(1, 4) d, request;

-- Three rows an hour, half a day and almost a day old; the last have values that are frequent but never meet.
create temp table w as select *, row_number() over () as k from (select * from request where ts > now() - interval '1 day' and app = 'app-1' and node_id = hashint8extended(0, 7)
	and status = 500 and reason_id = 6 limit 3) r;
create function pg_temp.rare(what text, n int) returns void language plpgsql as $$
begin
	create temp table x as select * from w;
	update x set request_id = request_id + n, ts = now() - interval '1 hour' * (array[1, 12, 23])[k];
	execute 'update x set ' || what;
	alter table x drop k;
	insert into request select * from x;
	drop table x;
end $$;
select pg_temp.rare('node_id = -77', 1), pg_temp.rare('app = ''rare-app''', 2), pg_temp.rare('route = ''/rare/:x'', path = ''/rare/needle-in-hay''', 3),
	pg_temp.rare('status = 418', 4), pg_temp.rare('reason_id = 999', 5), pg_temp.rare('app = ''app-15''', 6) \g /dev/null
