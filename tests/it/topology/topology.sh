#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# topology.sh - who calls whom: names beside addresses, edges between applications, and the halves of one call, over a
# real collector and a real PostgreSQL with rows that are known.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web < <(free_ports 2 | tr '\n' ' ')

api() { # PATH PYTHON: true of the answer a
	curl -s "http://127.0.0.1:$web/api/v1/$1" | python3 -c "import json, sys; a = json.load(sys.stdin); sys.exit(not ($2))" ||
		{ curl -s "http://127.0.0.1:$web/api/v1/$1" >&2; return 1; }
}

pg_make
start one "$port" "$web"
await 300 counted "$web" seismo_database_up 1

# web: nginx; shop: two apps, one in a container; db: a probe that sees no requests; outside: nobody's.
sql <<'END'
insert into node (node_id, region_id, name) values (1, 0, 'web'), (2, 0, 'shop'), (3, 0, 'db');
insert into source select n, 'request', (n < 3)::int, '', now() from generate_series(1, 3) n;
insert into place select v.n, v.a::inet, v.p, v.k, 0, v.app, now() - interval '1 day', null from (values
	(1, '10.0.0.1', 0, 1, ''), (1, '0.0.0.0', 80, 2, 'nginx'), (2, '10.0.0.2', 0, 1, ''), (2, '0.0.0.0', 8000, 2, 'shop'),
	(2, '127.0.0.1', 8001, 2, 'stock'), (3, '10.0.0.3', 0, 1, ''), (3, '0.0.0.0', 5432, 2, 'db')) v(n, a, p, k, app);
insert into red_key values (1, 11, 'nginx', '/a', '10.0.0.2:8000', 1), (1, 12, 'nginx', '/b', '10.0.0.2:8000', 1), (1, 13, 'nginx', '/a', '198.51.100.9:443', 1),
	(2, 21, 'shop', '/a', ':8000', 0), (2, 22, 'shop', '/a', '127.0.0.1:8001', 1), (2, 23, 'shop', '/a', 'unix:/run/x', 1), (2, 24, 'shop', '/a', '10.0.0.3:5432', 1),
	(2, 25, 'stock', '/a', ':8001', 0), (1, 14, 'nginx', '/a', ':80', 0);
insert into red select now() - interval '1 minute', k.node_id, k.key_id, c.class, c.n, c.n * 3000, 12, array[c.n]
	from red_key k, (values (2, 90), (5, 10)) c(class, n);
insert into request (ts, node_id, request_id, stored, app, comm, pid, tid, remote, remote_port, local, local_port, method, path, route, flags, status, request_us, queue_us,
	upstream_us, bytes_in, bytes_out, normal_us, limit_us, retrans, srtt_us, rcv_ooo, reason_id, params, upstreams)
select date_trunc('second', now()) - v.ago::interval, v.n, v.id, now(), v.app, 'c', 1, 1, v.remote::inet, v.rport, v.local::inet, v.lport, 'GET', v.path, v.path, 0, v.status, v.us, 1000, null, 1, 1,
	1, 1, 0, 0, 0, 1, '{}', v.ups::jsonb from (values
	('10 s', 1, 101, 'nginx', '192.0.2.50', 999, '10.0.0.1', 80, '/a', 502, 80000, '[{"addr":"198.51.100.9:443","startUs":10,"responseUs":5000,"status":0,"localPort":31,"flags":0},
		{"addr":"10.0.0.2:8000","startUs":6000,"responseUs":70000,"status":500,"localPort":41,"flags":0}]'),
	('9.993 s', 2, 102, 'shop', '10.0.0.1', 41, '10.0.0.2', 8000, '/a', 500, 60000, '[{"addr":"127.0.0.1:8001","startUs":0,"responseUs":20000,"status":200,"localPort":51,"flags":0},
		{"addr":"10.0.0.3:5432","startUs":20000,"responseUs":20000,"status":200,"localPort":52,"flags":0},{"addr":"unix:/run/x","startUs":0,"responseUs":1,"status":200,"localPort":0,"flags":0}]'),
	('3 s', 1, 103, 'nginx', '192.0.2.50', 998, '10.0.0.1', 80, '/c', 502, 80000, '[{"addr":"10.0.0.2:8000","startUs":0,"responseUs":70000,"status":500,"localPort":42,"flags":0}]'),
	('1 s', 2, 104, 'shop', '10.0.0.1', 42, '10.0.0.2', 8000, '/c', 500, 60000, '[]'),
	('4 s', 2, 105, 'shop', '10.0.0.1', 42, '10.0.0.2', 8000, '/c', 500, 60000, '[]'),
	('2 s', 2, 106, 'shop', '10.0.0.1', 42, '10.0.0.2', 8000, '/d', 500, 60000, '[]')) v(ago, n, id, app, remote, rport, local, lport, path, status, us, ups);
END
id() { sql -c "select api.id_text(ts, request_id) from request where request_id = $1"; }
row="{q['id'].split('-')[1]: q for q in a['requests']}"
ok "a list has the names of both ends" api requests "[$row['0000000000000066'][k] for k in ('remotePlace', 'upstreamPlace')] ==
	[dict(node='web', app=None, how='address'), dict(node='shop', app=None, how='unix')]"
ok "who is nobody's is external" api requests "$row['0000000000000065']['remotePlace'] == dict(node=None, app=None, how='external')"
ok "who listens is named" api requests "$row['0000000000000065']['upstreamPlace'] == dict(node='shop', app='shop', how='listener')"
ok "who called nobody has no name" api requests "$row['0000000000000068']['upstreamPlace'] is None"
ok "a request has them, too" api "requests/$(id 101)" "a['upstreamPlace']['app'] == 'shop' and a['evidence'] == []"

e="{(x['from']['node'], x['from']['app'], x['to']['addr']): x for x in a['edges']}"
ok "an app's edges are those out of it and into it" api "topology?app=shop" "sorted($e) == [('shop', 'shop', '10.0.0.3:5432'), ('shop', 'shop', '127.0.0.1:8001'),
	('shop', 'shop', 'unix:/run/x'), ('web', 'nginx', '10.0.0.2:8000')] and a['total'] == 4"
ok "with the caller's figures, over all routes" api "topology?app=shop" "(lambda c: (c['count'], c['errors'], c['errorRatio'], c['mean'], c['max']))($e['web', 'nginx', '10.0.0.2:8000']['calls']) == (200, 20, 0.1, 3, 4.096)"
ok "and the callee's own beside them" api "topology?app=shop" "[(x['to']['node'], x['to']['app'], x['served']['count']) for x in a['edges'] if x['served']] == [('shop', 'shop', 100), ('shop', 'stock', 100)]"
ok "each says how it was resolved" api "topology?node=shop" "[$e[k]['to'] for k in sorted($e)][:3] == [dict(node='db', app='db', addr='10.0.0.3:5432', how='listener'),
	dict(node='shop', app='stock', addr='127.0.0.1:8001', how='listener'), dict(node='shop', app=None, addr='unix:/run/x', how='unix')]"
ok "what is nobody's is external" api "topology?node=web" "$e['web', 'nginx', '198.51.100.9:443']['to'] == dict(node=None, app=None, addr='198.51.100.9:443', how='external')"
ok "a callee that calls nobody has who calls it" api "topology?app=stock" "list($e) == [('shop', 'shop', '127.0.0.1:8001')]"
ok "without a filter all are there, and of many the most frequent" api "topology?limit=2" "a['total'] == 5 and len(a['edges']) == 2 and a['edges'][0]['calls']['count'] == 200"
ok "of a range without requests there is none" api "topology?to=2020-01-01T00:00:00Z&from=2019-12-31T00:00:00Z" "a == dict(edges=[], total=0)"

ok "a try leads to the callee's row" api "requests/$(id 101)" "(lambda c: (c['id'], c['node'], c['app'], c['status'], c['totalTime'], c['networkTime'], c['reason'] != '', c['silence']))(a['calls'][1]) ==
	('$(id 102)', 'shop', 'shop', 500, 61, 9, True, None)"
ok "where nobody has a probe nothing is known" api "requests/$(id 101)" "[a['calls'][0][k] for k in ('id', 'how', 'silence', 'node')] == [None, 'external', 'noProbe', None]"
ok "who called is found" api "requests/$(id 102)" "(lambda c: (c['id'], c['try'], c['node'], c['app']))(a['calledBy']) == ('$(id 101)', 2, 'web', 'nginx')"
ok "an external client is nobody's call" api "requests/$(id 101)" "a['calledBy'] is None"
ok "a callee with a probe and no row had nothing abnormal" api "requests/$(id 102)" "[(c['node'], c['app'], c['silence']) for c in a['calls']] ==
	[('shop', 'stock', 'nothingAbnormal'), ('db', 'db', 'notSeen'), ('shop', None, 'unix')]"
ok "of several rows on a connection used again none is taken" api "requests/$(id 103)" "[a['calls'][0][k] for k in ('id', 'silence')] == [None, 'several']"
ok "and none of them is said to be called by it" api "requests/$(id 104)" "a['calledBy'] is None"

# far is 65 s ahead, as its clock reports say, and is called each 30 ms on one connection.
sql >/dev/null <<'END'
insert into node (node_id, region_id, name) values (4, 0, 'far');
insert into source values (4, 'request', 1, '', now());
insert into place values (4, '10.0.0.4', 0, 1, 0, '', now() - interval '1 day'), (4, '0.0.0.0', 8000, 2, 0, 'far', now() - interval '1 day');
create function clock_report(n bigint, at timestamptz, ahead interval, unsure int) returns void language sql as
	$$ insert into clock values (n, at, at + ahead, at, -1000000 * extract(epoch from ahead), unsure) $$;
select clock_report(1, now() - interval '10 minutes', '0', 300), clock_report(4, now() - interval '10 minutes', '65 s', 300);
create table moment as select date_trunc('minute', now()) - interval '3 minutes' as t0;
create function row_of(n bigint, id bigint, at timestamptz, from_port int, us int, path text, ups text) returns void language sql as $$
	insert into request (ts, node_id, request_id, stored, app, comm, pid, tid, remote, remote_port, local, local_port, method, path, route, flags, status, request_us, queue_us,
		upstream_us, bytes_in, bytes_out, normal_us, limit_us, retrans, srtt_us, rcv_ooo, reason_id, params, upstreams)
	values (at, n, id, now(), 'a', 'c', 1, 1, '10.0.0.1', from_port, ('10.0.0.' || n)::inet, case n when 1 then 80 else 8000 end, 'GET', path, path, 0, 500, us, 0, null, 1, 1, 1, 1, 0, 0, 0, 1, '{}', ups::jsonb) $$;
create function call_of(id bigint, at interval, from_port int, us int, path text, callee bigint, ahead interval, callee_path text) returns void language sql as $$
	select row_of(1, id, t0 + at, 9, us, path, format('[{"addr":"10.0.0.%s:8000","startUs":0,"responseUs":%s,"status":500,"localPort":%s,"flags":0}]', callee, us, from_port)),
		row_of(callee, id + 100, t0 + at + ahead + interval '100 us', from_port, us - 300, callee_path, '[]') from moment $$;
select call_of(200 + i, i * interval '30 ms', 61, 9000, '/c', 4, '65 s', '/c') from generate_series(1, 5) i;
select call_of(210 + i, i * interval '30 ms', 62, 9000, '/c/' || i, 4, '65.03 s', '/c/' || i) from generate_series(1, 5) i;
select call_of(220 + i, i * interval '61 ms', 63, 60000, '/c/' || i, 4, '65.001 s', '/stock/' || i) from generate_series(1, 7) i;
update request set request_us = 300000 where request_id = 327;
select call_of(230, '0', 64, 10000, '/c', 4, '65 s', '/stock'), call_of(231, '11 ms', 64, 60000, '/c', 4, '65 s', '/stock');
delete from request where request_id in (330, 231);
select call_of(232, '0', 66, 50000, '/c', 4, '65 s', '/stock');
update request set upstreams = jsonb_set(upstreams, '{0,status}', '0'), status = 504 where request_id = 232;
update request set request_us = 9000000, status = 200 where request_id = 332;
select call_of(240 + i, i * interval '2 ms', 65, 1000, '/c', 4, '65 s', '/stock') from generate_series(1, 5) i;
END
joined() { # FROM TO: how many of these requests lead to their callee's, and how many of those lead back; how many to another
	sql -c "select count(*) filter (where c ->> 'id' = api.id_text(o.ts, o.request_id)) || ' ' || count(*) filter (where api.called_by(o.ts, o.request_id) ->> 'id' = api.id_text(r.ts, r.request_id))
		|| ' ' || count(*) filter (where c ->> 'id' <> api.id_text(o.ts, o.request_id)) || coalesce(' ' || string_agg(distinct c ->> 'silence', ''), '')
		from request r join request o on o.request_id = r.request_id + 100, json_array_elements(api.calls(r.ts, r.request_id)) c where r.request_id between $1 and $2"
}
clock() { # NODE AT AHEAD UNSURE: nothing else is known of it
	sql -c "delete from clock where node_id = $1" -c "select clock_report($1, t0 + '$2', '$3', $4) from moment" >/dev/null
}
ok "calls are joined by clocks that are 65 s apart, as that is known" test "$(joined 201 205)" = "5 5 0"
ok "calls of a moment are joined by clocks that are known as well" test "$(joined 241 245)" = "5 5 0"
clock 4 "-10 min" "65 s" 30000
ok "calls that follow each other within the uncertainty are not joined by time" test "$(joined 201 205)" = "0 0 0 several"
ok "but by its path" test "$(joined 211 215)" = "5 5 0"
clock 4 "-10 min" "65 s" 2000
ok "calls one after the other are joined by the end of each row, where a host changes paths" test "$(joined 221 226)" = "6 6 0"
ok "one whose end was noted late by when it began" test "$(joined 227 227)" = "1 1 0"
ok "a row that began when a call was over is not taken for that one's" is several "select c ->> 'silence' from request, json_array_elements(api.calls(ts, request_id)) c where request_id = 230"
ok "nor is that said to be its caller" is t "select api.called_by(ts, request_id) is null from request where request_id = 331"
ok "one that its caller gave up, and that went on, is joined" test "$(joined 232 232)" = "1 1 0"
ok "calls of a moment are not, by clocks that are known worse" test "$(joined 241 245)" = "0 0 0 several"
sql -c "update request set sent_id = 'a' || (request_id - case when node_id = 1 then 200 else 300 end) where request_id between 241 and 345 and remote_port in (9, 65)"
ok "but by an id that went with them" test "$(joined 241 245)" = "5 5 0"
sql -c "update request set sent_id = null, trace = lpad(request_id % 100 || '-' || node_id, 34, '0') where request_id between 241 and 345 and remote_port in (9, 65)"
ok "or by their trace" test "$(joined 241 245)" = "5 5 0"
ok "the API has it" api "requests/$(id 341)" "a['ids'] == dict(trace='0' * 30 + '41', parent='4', request=None)"
ok "a request without any has none" api "requests/$(id 101)" "a['ids'] is None"
clock 4 "-10 min" "5 s" 300
ok "a clock that is said to be off by as much as it is not joins nothing" test "$(joined 201 205)" = "0 0 0 nothingAbnormal"
sql -c "select clock_report(4, t0 - interval '1 minute', '65 s', 300) from moment" >/dev/null
ok "a clock that was set forward counts as reported from then on" test "$(joined 201 205)" = "5 5 0"
clock 4 "-10 min" "300 s" 300
sql -c "select clock_report(4, t0 - interval '1 minute', '65 s', 300) from moment" >/dev/null
ok "one that was set back, too" test "$(joined 201 205)" = "5 5 0"
clock 4 "+2 min" "65 s" 300
ok "before the first report of a clock the next one counts" test "$(joined 201 205)" = "5 5 0"
clock 4 "-30 hours" "65 s" 300
ok "an old report counts with the drift since" test "$(joined 201 205)" = "0 0 0 several"
sql -c "delete from clock where node_id = 4" -c "insert into region values (9, 'rest')" -c "update node set region_id = 9 where node_id = 4" -c "insert into node (node_id, region_id, name) values (5, 0, 'relay-rest')" \
	-c "insert into region_relay values (9, 5, '', now(), now())" -c "select clock_report(4, t0 - interval '10 minutes', '62 s', 300) from moment" >/dev/null
ok "the clock of a node of another region is unknown without a report of the relay" test "$(joined 201 205)" = "0 0 0 nothingAbnormal"
sql -c "select clock_report(5, t0 - interval '10 minutes', '3 s', 200) from moment" >/dev/null
ok "with it the clock is the sum of both reports" test "$(joined 201 205)" = "5 5 0"
ok "the API has the clock of each node that reported it" api nodes "{n['name']: n['clock'] and (n['clock']['ahead'], n['clock']['uncertainty']) for n in a['nodes'] if n['name'] in ('web', 'far', 'db')} ==
	dict(web=(0, 0.3), far=(62000, 0.3), db=None)"

trace="[(h['parent'], h['try'], h['node'], h['app'], h['id'] and h['id'].split('-')[1][-2:], h['silence']) for h in a['hops']]"
whole="[(None, None, 'web', 'nginx', '65', None), (0, 1, None, None, None, 'noProbe'), (0, 2, 'shop', 'shop', '66', None), (2, 1, 'shop', 'stock', None, 'nothingAbnormal'),
	(2, 2, 'db', 'db', None, 'notSeen'), (2, 3, 'shop', None, None, 'unix')]"
ok "a trace has every call of the chain, and says where it ends" api "requests/$(id 101)/trace" "$trace == $whole and a['hop'] == 0"
ok "it is the same from a row further down" api "requests/$(id 102)/trace" "$trace == $whole and a['hop'] == 2 and a['id'] == '$(id 102)'"
ok "and says why there is nothing before it" api "requests/$(id 102)/trace" "a['caller'] == dict(addr='192.0.2.50:999', node=None, app=None, how='external', silence='noProbe')"
ok "each hop has its own split" api "requests/$(id 102)/trace" "(lambda h: [h[k] for k in ('callTime', 'startTime', 'responseTime', 'networkTime', 'totalTime', 'upstreamTime', 'status', 'request')])(a['hops'][2]) ==
	[7, 11.5, 70, 9, 61, 40, 500, 'GET /a']"
ok "what arose where adds up to the whole" api "requests/$(id 102)/trace" "abs(sum(sum(h['arose'].values()) for h in a['hops']) - 81) < 0.01"
ok "calls of which several rows fit end the trace" api "requests/$(id 103)/trace" "$trace == [(None, None, 'web', 'nginx', '67', None), (0, 1, 'shop', 'shop', None, 'several')]"
ok "and none of these rows has a caller" api "requests/$(id 104)/trace" "$trace == [(None, None, 'shop', 'shop', '68', None)] and a['caller']['silence'] == 'several'"
ok "the host is named where most of the time arose" api "requests/$(id 103)/trace" "[a['lookAt'][k] for k in ('kind', 'hop', 'node', 'ms')] == ['behind', 1, 'shop', 70]"
ok "of a trace without such a host none is" api "requests/$(id 101)/trace" "a['lookAt'] is None"
for bad in '' %27 1-1/trace '1-0000000000000001%27' "$(id 101)/" "$(id 101)x"; do
	ok "an id like '$bad' is refused" [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$web/api/v1/requests/$bad/trace")" = 400 ]
done
ok "a request that was dropped has none" [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$web/api/v1/requests/1-0000000000000001/trace")" = 410 ]
never=$(id 101)
ok "nor has one that never was" [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$web/api/v1/requests/${never%-*}-0000000000000001/trace")" = 404 ]
[ $(($(date +%s) % 600)) -lt 595 ] || sleep 6 # time: not over the end of ten minutes
sql -c "insert into red_key values (1, 31, 'early', '/a', '10.0.0.2:8000', 1)" -c "insert into red select date_bin('10 minutes', now() - interval '1 hour', timestamptz 'epoch') + s * interval '1 s', 1, 31, 2, n, n, 0, array[n]
	from (values (-1, 1), (1, 2), (599, 4), (3599, 8)) v(s, n)" >/dev/null
ok "where nobody says since when, it is since full ten minutes, of which the last hour is a part" api "topology?app=early" "[x['calls']['count'] for x in a['edges']] == [14]"
ok "and exactly since then where somebody does" api "topology?app=early&from=$(date -ud "@$(($(date +%s) / 600 * 600 - 3600 + 300))" +%FT%TZ)" "[x['calls']['count'] for x in a['edges']] == [12]"
done_checking
