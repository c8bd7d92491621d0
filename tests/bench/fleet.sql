-- SPDX-License-Identifier: Apache-2.0
-- fleet.sql - :nodes nodes in eight regions with four tags and a score each.
set synchronous_commit = off;
insert into region select i, 'r-' || i from generate_series(1, 8) i;
insert into node (node_id, region_id, name, last_seen, tags) select i, 1 + i % 8, 'node-' || lpad(i::text, 5, '0'), now() + interval '1 hour' * (i % 100 > 0)::int,
	jsonb_build_object('role', (array['web', 'db', 'cache', 'batch'])[1 + i % 4], 'rack', 'r' || i % 400, 'az', 'z' || i % 3, 'owner', 'team-' || i % 40) from generate_series(1, :nodes) i;
insert into source select i, 'request', 1, '', now() from generate_series(1, :nodes) i;
insert into node_score select i, now(), i * 7 % 101, i * 13 % 101, case when i % 5 > 0 then i * 31 % 101 end, i * 17 % 101,
	jsonb_build_object('saturation', jsonb_build_object('code', 'io.pressure', 'what', null, 'value', 12.3, 'unknown', '[]'::jsonb), 'load', jsonb_build_object('code', 'disk.busy', 'what', 'nvme0n1', 'value', 88.1, 'unknown', '[]'::jsonb),
		'latency', jsonb_build_object('code', 'excess', 'what', 'app-' || i % 500, 'value', 41.7, 'unknown', '[]'::jsonb), 'error', jsonb_build_object('code', 'event', 'what', 'io.stall', 'value', 2, 'unknown', '[]'::jsonb))
	from generate_series(1, :nodes) i;
insert into red_key select i, 1000000 + i * 10 + k, 'app-' || (i + k * 37) % 500, '/r', ':80' || k, 0 from generate_series(1, :nodes) i, generate_series(0, 1) k;
vacuum analyze;

-- Each node has two applications of five hundred, at :8000 and :8001, and each of these calls ten addresses of others: :edges in all. Of the
-- last hour each has six rows of counts, but the calls of app-7, those to it, and what it and those it calls served have one every ten
-- seconds, as a probe sends them.
delete from red_key;
insert into place select i, inet '10.0.0.0' + i, 0, 1, 0, '', now() - interval '1 day', null from generate_series(1, :nodes) i;
insert into place select i, inet '0.0.0.0', 8000 + k, 2, 0, 'app-' || (i + k * 37) % 500, now() - interval '1 day', null from generate_series(1, :nodes) i, generate_series(0, 1) k;
insert into red_key select i, 1000000 + i * 100 + k, 'app-' || (i + k * 37) % 500, '/r', ':' || 8000 + k, 0 from generate_series(1, :nodes) i, generate_series(0, 1) k;
insert into red_key select i, 100000000 + i * 100 + e, 'app-' || (i + e % 2 * 37) % 500, '/r', host(inet '10.0.0.0' + 1 + (i::bigint * 7919 + e * 104729) % :nodes) || ':' || 8000 + (i + e) % 2, 1
	from generate_series(1, :nodes) i, generate_series(0, :edges / :nodes - 1) e;
create table busy as
	select node_id, key_id from red_key where role = 1 and (app = 'app-7' or peer in (select host(inet '10.0.0.0' + k.node_id) || k.peer from red_key k where k.role = 0 and k.app = 'app-7'))
	union all select node_id, key_id from red_key where role = 0 and (app = 'app-7' or host(inet '10.0.0.0' + node_id) || peer in (select k.peer from red_key k where k.role = 1 and k.app = 'app-7'));
insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b)
	select now() - (i + node_id % 10 / 10.0) * interval '10 minutes', node_id, key_id, 2, 1 + key_id % 90, 90000 + key_id % 9000, 8, array[key_id % 9, 3, 2, 1]
	from red_key, generate_series(0, 5) i where (node_id, key_id) not in (select node_id, key_id from busy);
insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b)
	select now() - i * interval '10 s', node_id, key_id, 2, 1 + key_id % 9, 9000 + key_id % 900, 8, array[key_id % 9, 3, 2, 1] from busy, generate_series(0, 359) i order by 1, 2, 3;
vacuum analyze;
