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
