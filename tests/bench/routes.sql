-- SPDX-License-Identifier: Apache-2.0
-- routes.sql - abnormal requests of the last hour, :rows in all: four of five are of one app and its :routes routes, as a crawler
-- leaves them, the others of 30 apps with ten routes each, on 20 nodes.
set synchronous_commit = off;
insert into region values (1, 'home') on conflict do nothing;
insert into node (node_id, region_id, name) select hashint8extended(i, 7), 1, 'web-' || i from generate_series(0, 19) i on conflict do nothing;
set role seismo; -- who migrates them must own them
select ensure_partitions(2, 1) \g /dev/null
reset role;
with h as (select i, now() - interval '1 hour' * (1 - i::float8 / :rows) as ts, abs(hashint8extended(i, 2)) as a, abs(hashint8extended(i, 3)) as b,
	abs(hashint8extended(i, 4)) as c from generate_series(0, :rows - 1) i),
p as (select *, case when c % 5 > 0 then 'shop' else 'app-' || b % 30 end as app, case when c % 5 > 0 then '/' || md5((b % :routes)::text) else '/v1/' || b % 10 end as path from h)
insert into request select ts, hashint8extended(a % 20, 7), hashint8extended(i, 99), ts + interval '1 s', app, 'worker', 1000, 1000,
	inet '10.0.0.0' + a % 50000, 1024 + (b % 60000)::int, inet '10.200.0.1', 80, 'GET', path, 'GET ' || path,
	0, (array[404, 404, 404, 500, 502])[1 + a % 5], 60000 + a % 900000, 5, 50000, 300, 2000, 30000, 50000, 0, 800, 0, (array[6, 3])[1 + b % 2],
	jsonb_build_object('app', app, 'error', 404, 'addr', '10.201.0.1:80'), '[]'
from p;
