-- SPDX-License-Identifier: Apache-2.0
-- What three probes would have sent: front calls app, app calls db; a minute is six times of counts.
create function node_of(name text) returns bigint language sql as $$ select node_id from node n where n.name = $1 $$;

create function add_node(name text, address inet) returns void language sql as $$
	insert into node (node_id, region_id, name, last_seen) -- its rows say how late it is, else an incident of half an hour ago is over at once
		values (hashtextextended(name, 1) & 9223372036854775807, (select region_id from region limit 1), name, now() - interval '2 days');
	insert into place values (node_of(name), address, 0, 1, 0, '', now() - interval '2 days')
$$;

-- role, peer: as in red_key; n requests in each ten seconds, of which each was excess_ms too slow.
create function count_red(name text, the_role int, the_peer text, n int, excess_ms float8, since timestamptz, until timestamptz, class int default 2)
returns void language sql as $$
	insert into red_key values (node_of(name), hashtextextended(name || the_role || the_peer, 2), name || '-app', '/buy', the_peer, the_role) on conflict do nothing;
	insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b, excess_us, judged)
		select t, node_of(name), hashtextextended(name || the_role || the_peer, 2), class, n, n * 10000, 14, array[n], n * excess_ms * 1000, n
		from generate_series(since + interval '10 s', until, interval '10 s') t
$$;

create function abnormal(name text, count int, code text, total_ms int, normal_ms int, since timestamptz, until timestamptz, the_status int default 200, later interval default '0')
returns void language sql as $$
	insert into request (ts, node_id, request_id, stored, app, comm, pid, tid, remote_port, local_port, method, path, route, flags, status, request_us,
			queue_us, bytes_in, bytes_out, normal_us, limit_us, retrans, srtt_us, rcv_ooo, reason_id, params, upstreams)
		select since + (until - since) * i / count, node_of(name), hashtextextended(name || since || code || i, 3) & 9223372036854775807,
			now() + later, name || '-app', 'x', 1, 1, 0, 0, 'GET', '/buy', '/buy', 0, the_status, total_ms * 1000, 0, 0, 0, normal_ms * 1000, 0, 0, 0, 0,
			(select reason_id from reason r where r.code = $3), '{}', '[]' from generate_series(0, count - 1) i
$$;

-- Each server: all that its probe sent of a time in which db was so much too slow, by itself.
create function traffic(since timestamptz, until timestamptz, slow_ms float8) returns void language sql as $$
	select count_red(name, 0, ':80', 20, slow_ms, since, until) from unnest(array['front', 'app', 'db']) name;
	select count_red('front', 1, '10.0.0.2:80', 20, slow_ms, since, until), count_red('app', 1, '10.0.0.3:80', 20, slow_ms, since, until);
	select count_red('front', 2, ':80', 20, 0, since, until), count_red('app', 2, ':80', 20, 0, since, until), count_red('db', 2, ':80', 20, slow_ms, since, until);
	select count_red('app', 3, '10.0.0.1', 20, slow_ms, since, until), count_red('db', 3, '10.0.0.2', 20, slow_ms, since, until);
	update node set last_seen = until where name in ('front', 'app', 'db');
$$;

create function happened(name text, kind text, at timestamptz) returns void language sql as $$
	insert into event (ts, node_id, event_id, stored, kind, severity, pid, tid, comm, us, error_us, reason_id, params)
		values (at, node_of(name), 1, now(), kind, 2, 1, 1, 'x', 5000, 0, (select reason_id from reason r where r.code = $2), '{}')
$$;
