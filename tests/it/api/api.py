#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The API over real HTTP and a real PostgreSQL: routes, filters, paging, refusals and who may read what."""
import gzip
import json
import re
import sys
import time
import urllib.parse

sys.dont_write_bytecode = True
from webtest import TOP, Web, check_api, pages  # noqa: E402

ROWS = '''
insert into region values (1, 'home'), (2, 'away');
insert into node (node_id, region_id, name, version) values (11, 1, 'web-1', '0.1'), (12, 2, 'db-1', '0.1');
insert into reason values (1, 'up.slow', 'Upstream {addr} took {ms} ms of {total_ms} ms', '上游 {addr} 耗时 {ms} ms'),
	(3, 'up.error', 'Upstream {addr} failed: {error}', '上游 {addr} 出错：{error}');
select ensure_partitions(2, 1);
'''


def request(n, ts="now() - interval '1 minute'", node=11, app='nginx', path='/item/7', route='/item/:n', status=502, reason=1,
            params='{"addr": "10.0.0.1:80", "ms": 12.5236, "total_ms": 90}', ups='[]', flags=0, remote='10.1.2.3', stored='now()'):
    values = [ts, node, n, stored, f"'{app}'", "'worker'", 100, 101, f"'{remote}'", 4000, "'::1'", 80, "'GET'",
              "'" + path.replace("'", "''") + "'", f"'{route}'", flags, status, 90001, 5, 80000, 100, 200, 30000, 50000,
              2, 1500, 0, reason, f"'{params}'", f"'{ups}'"]
    return f'insert into request select {", ".join(map(str, values))};\n'


def check_headers(c, web):
    _, headers, _ = web.ask('/')
    status, h, _ = web.ask('/api/v1/nope')
    for where, h in (('a page', headers), ('an answer', web.ask('/api/v1/nodes')[1]), ('an error', h),
                     ('a refusal', web.ask('/', host='evil.example')[1])):
        csp = h.get('content-security-policy', '')
        for part in ("default-src 'none'", "script-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
                     "require-trusted-types-for 'script'"):
            c.ok(f'{where} has {part}', part in csp, csp)
        c.ok(f'{where} says nosniff', h.get('x-content-type-options') == 'nosniff')
        c.ok(f'{where} sends no referrer', h.get('referrer-policy') == 'no-referrer')
        c.ok(f'{where} stays in its origin', h.get('cross-origin-opener-policy') == h.get('cross-origin-resource-policy') == 'same-origin')
        c.ok(f'{where} opens nothing to other origins', 'access-control-allow-origin' not in h)


def check_host(c, web):
    for host in (f'127.0.0.1:{web.port}', f'localhost:{web.port}', f'[::1]:{web.port}', f'LOCALHOST:{web.port}'):
        c.ok(f'the host {host} is served', web.ask('/healthz', host=host)[0] == 200)
    for host in ('evil.example', f'evil.example:{web.port}', '127.0.0.1', 'localhost:1', f'localhost.evil.example:{web.port}', '[::1]',
                 f'127.0.0.1:{web.port}:{web.port}', f'127.0.0.1:{web.port}@evil.example', f'0.0.0.0:{web.port}'):
        c.ok(f'the host {host} is refused', web.ask('/api/v1/requests', host=host)[0] == 421)
    c.ok('no host is refused', b' 200 ' not in web.raw(b'GET /healthz HTTP/1.0\r\n\r\n')[:20])


def check_methods(c, web):
    for method in ('POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE'):
        status, h, _ = web.ask('/api/v1/requests', method=method)
        c.ok(f'{method} is refused', status == 405 and h.get('allow') == 'GET, HEAD', status)
    status, h, body = web.ask('/api/v1/nodes', method='HEAD')
    c.ok('HEAD has no body', status == 200 and body == b'' and int(h['content-length']) > 2)
    c.ok('a body is refused', web.ask('/api/v1/nodes', headers={'Content-Length': '5'}, body=b'hello')[0] == 413)
    c.ok('a long URL is refused', web.ask('/api/v1/nodes?region=' + 'a' * 5000)[0] == 414)
    c.ok('long headers are refused', web.ask('/', headers={'X': 'a' * 20000})[0] in (400, 413, 431))


def console_urls():
    """Each page that the console's router knows, and an item below each that has items."""
    with open(f'{TOP}/web/src/app/app.jsx', encoding='utf-8') as f:
        router = f.read().split('const pageOf')[1].split('};')[0]
    return re.findall(r"path === '([^']+)'", router) + [p + '1' for p in re.findall(r"path.startsWith\('([^']+)'\)", router)]


def check_assets(c, web):
    status, h, page = web.ask('/')
    c.ok('the page is HTML that is asked for anew', status == 200 and h['content-type'].startswith('text/html') and h['cache-control'] == 'no-cache')
    urls = console_urls()
    c.ok('the router of the console has pages', {'/', '/fleet', '/where', '/requests/1'} <= set(urls), urls)
    for url in urls:
        c.ok(f'{url} is the same page, also on reload', web.ask(url)[2] == page)
    c.ok('a known page is 304', web.ask('/', headers={'If-None-Match': h['etag']})[0] == 304)
    for url in ('/assets/none.js', '/../../etc/passwd', '/assets/../index.html', '/web/dist/index.html', '/api/v1/nothing'):
        c.ok(f'{url} is not there', web.ask(url)[0] == 404)
    status, h, body = web.ask('/nothing/here', headers={'Accept': 'text/html,*/*'})
    c.ok('of a page that is not there a browser gets the console, which says so', (status, body) == (404, page), (status, body[:80]))
    c.ok('no cache gives it to a program, or as a page that is there', 'etag' not in h and h.get('vary', '').startswith('Accept'), h)
    status, h, body = web.ask('/api/v1/nothing', headers={'Accept': 'text/html,*/*'})
    c.ok('of the API it gets the error', status == 404 and json.loads(body)['error']['code'] == 'not_found', body[:80])
    assets = [a for a in page.decode().split('"') if a.startswith('/assets/')]
    for a in assets:
        status, h, body = web.ask(a)
        whole = web.ask(a)[2]
        status, h, body = web.ask(a, headers={'Accept-Encoding': 'br, gzip;q=0.5'})
        c.ok(f'{a} is packed for whoever takes gzip', (status, h.get('content-encoding'), h['vary']) == (200, 'gzip', 'Accept-Encoding') and gzip.decompress(body) == whole, h)
        c.ok(f'{a} is less than half of its size then', len(body) * 2 < len(whole), (len(body), len(whole)))
        c.ok(f'{a} is known by the tag of the packed form', web.ask(a, headers={'If-None-Match': h['etag'], 'Accept-Encoding': 'gzip'})[0] == 304)
        for refused in ('br', 'gzip;q=0', 'gzip; q=0.000, br', 'xgzip', ''):
            status, h, body = web.ask(a, headers={'Accept-Encoding': refused})
            c.ok(f'{a} is not packed for "{refused}"', 'content-encoding' not in h and body == whole, h)
        status, h, body = web.ask(a)
        c.ok(f'{a} is kept for ever', status == 200 and 'immutable' in h['cache-control'] and len(body) == int(h['content-length']))


def check_description(c, web):
    status, head, body = web.ask('/api/v1/openapi.json')
    api = json.loads(body)
    c.ok('the API is described in OpenAPI 3.1', status == 200 and head['content-type'].startswith('application/json') and api['openapi'] == '3.1.0' and len(api['paths']) > 25, head)
    c.ok('its index names the same paths', web.json('/api/v1/') == (200, {'openapi': '/api/v1/openapi.json', 'paths': list(api['paths'])}))
    with open(f'{TOP}/docs/reference/api.md', encoding='utf-8') as f:
        named = set(re.findall(r'GET (/api/v1/[a-z_./A-Z]+)|(?<=, )(/api/v1/requests\.ndjson)', f.read()))
    named = {(a or b).replace('/ID', '/{id}') for a, b in named}
    c.ok('each path has its place in the reference', set(api['paths']) - named <= {'/api/v1/fleet/values', '/api/v1/profile.folded'}, sorted(set(api['paths']) - named))
    c.ok('each path of the reference is described, but for the stream, and what no query answers', named - set(api['paths']) <= {'/api/v1/stream', '/api/v1/console', '/api/v1/openapi.json', '/api/v1/'},
         sorted(named - set(api['paths'])))
    for path, of in api['paths'].items():
        params = {p['name']: p for p in of['get']['parameters']}
        c.ok(f'{path} describes each parameter once', len(params) == len(of['get']['parameters']) and all(p['description'] and p['schema'] for p in params.values()), params)
        c.ok(f'{path} has its id in the path', ('{id}' in path) == any(p['in'] == 'path' and p['required'] for p in params.values()))
        if '{id}' in path:
            continue
        needed = '&'.join(f'{n}=web-1' for n, p in params.items() if p['required'])
        status, head, body = web.ask(f'{path}?{needed}')
        c.ok(f'{path} answers with what it needs', status == 200 and head['content-type'].split(';')[0] in of['get']['responses']['200']['content'], (status, body[:200]))
        for name, p in params.items():
            if p['required']:
                c.ok(f'{path} needs {name}', web.ask(f'{path}?' + '&'.join(w for w in needed.split('&') if not w.startswith(f'{name}=')))[0] == 400)
            if p['schema'].get('type') == 'integer':
                for n in (p['schema']['minimum'] - 1, p['schema']['maximum'] + 1):
                    c.ok(f'{path} refuses {name}={n}', web.ask(f'{path}?{needed}&{name}={n}')[0] == 400)
        c.ok(f'{path} takes no other parameter', web.ask(f'{path}?{needed}&absurd=1')[0] == 400)


def check_shape(c, web):
    status, page = web.json('/api/v1/requests?route=/shape')
    r = (page['requests'] or [{}])[0]
    want = {'node': 'web-1', 'region': 'home', 'app': 'nginx', 'remoteAddr': '[2001:db8::7]:4000', 'local': '[::1]:80', 'status': None,
            'upstreamAddr': '10.0.0.1:80', 'requestTime': 90.001, 'queueTime': 0.005, 'totalTime': 90.006, 'upstreamResponseTime': 80,
            'timesNormal': 3.0, 'normalTime': 30, 'limitTime': 50, 'flags': ['clientClosed', 'pathCut'], 'path': '/it"em\\/\u202e<script>',
            'socket': {'retransmits': 2, 'rtt': 1.5, 'outOfOrder': 0}, 'method': 'GET', 'route': '/shape', 'bytesIn': 100}
    for key, value in want.items():
        c.ok(f'{key} is as stored', r.get(key) == value, r.get(key))
    c.ok('request is method and path', r['request'] == 'GET ' + r['path'])
    c.ok('diagnosis is its page', r['diagnosis'] == '/requests/' + r['id'])
    c.ok('a try that failed says why, and how long it took', r['upstreams'][0]['error'] == 'connection refused' and r['upstreams'][0]['responseTime'] == 0 and r['upstreams'][0]['rtt'] is None, r['upstreams'])
    c.ok('a try on a kept connection has no connect time',
         (r['upstreams'][1]['reused'], r['upstreams'][1]['connectTime'], r['upstreams'][1]['responseTime']) == (True, None, 80), r['upstreams'])
    c.ok('a parameter that looks like a placeholder stays text', r['reason']['text']['en'] == 'Upstream {ms} took 12.5 ms of 90 ms', r['reason'])
    c.ok('the sentence is there in Chinese', r['reason']['text']['zh'] == '上游 {ms} 耗时 12.5 ms', r['reason'])
    c.ok('time is UTC with milliseconds', len(r['time']) == 24 and r['time'][-1] == 'Z' and r['time'][19] == '.', r['time'])
    status, one = web.json('/api/v1/requests/' + r['id'])
    c.ok('one request is the same object, and evidence', status == 200 and one.pop('evidence') == [] and dict(r, calls=one['calls'], calledBy=one['calledBy'], ids=one['ids']) == one)


def check_filters(c, web):
    def n(query):
        status, page = web.json('/api/v1/requests?limit=1000&' + query)
        return len(page['requests']) if status == 200 else page

    for query, count in (('region=away', 1), ('region=home&app=api', 2), ('node=db-1', 1), ('app=api', 2), ('route=/users/:id', 2),
                         ('status=404&app=api', 1), ('status=5xx&app=api', 1), ('status=0&route=/shape', 1), ('reason=up.error', 3),
                         ('q=GET%20/users/7', 1), ('q=USERS', 2), ('q=10.9.9.9', 1), ('q=%25', 0), ("q='", 1),
                         ('node=db-1&app=api', 0), ('app=api&from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z', 0)):
        c.ok(f'{query} finds {count}', n(query) == count, n(query))
    status, page = web.json('/api/v1/requests?app=old')
    c.ok('without from it is the last hour', page['requests'] == [])
    old = urllib.parse.quote(time.strftime('%Y-%m-%dT%H:%M:%S+00:00', time.gmtime(time.time() - 7200)))
    c.ok('from reaches back', n(f'app=old&from={old}') == 1)
    c.ok('a + that nobody encoded is a +', n(f'app=old&from={urllib.parse.unquote(old)}') == 1)


def check_refusals(c, web):
    for query, name in (('limit=0', 'limit'), ('limit=1001', 'limit'), ('limit=ten', 'limit'), ('status=6xx', 'status'), ('status=-1', 'status'),
                        ('from=yesterday', 'from'), ('from=2026-02-30T00:00:00Z', 'from'), ('to=2026-01-01', 'to'),
                        ('from=2026-11-21T05:00:00Z&to=2026-11-21T04:00:00Z', 'from'), ('cursor=abc', 'cursor'), ('cursor=1-2', 'cursor'),
                        ('q=%ff%fe', 'q'), ('q=a%00b', 'q'), ('q=' + 'x' * 201, 'q'), ('app=', 'app'), ('q=a&q=b', 'q'), ('offset=10', 'offset'),
                        ('from=infinity', 'from'), ("from=2026-11-21T05:00:00Z'", 'from')):
        status, answer = web.json('/api/v1/requests?' + query)
        e = answer.get('error', {})
        c.ok(f'{query[:40]} is refused by name', status == 400 and e.get('code') == 'bad_parameter' and name in e.get('message', ''), answer)
    c.ok('series needs a metric', 'metric' in web.json('/api/v1/series')[1]['error']['message'])
    c.ok('too many steps are refused', web.json('/api/v1/series?metric=a&step=1&from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z')[0] == 400)
    c.ok('an id of nothing is refused', web.json('/api/v1/requests/xyz')[0] == 400)
    many = '&'.join(f'app=a{i}' for i in range(100))
    c.ok('a hundred parameters are refused', web.json('/api/v1/requests?' + many)[0] == 400)


def check_injection(c, db, web):
    for text in ("'; drop table request; --", "' or '1'='1", '$1', '\\', '%', '{"$ne":1}', "x'||pg_sleep(5)||'", '0; select 1', '\u202e\x1b[2J'):
        for name in ('node', 'app', 'route', 'region', 'reason', 'q'):
            began = time.monotonic()
            status, page = web.json(f'/api/v1/requests?{name}={urllib.parse.quote(text)}')
            quiet = status == 200 and (page['requests'] == [] or name == 'q') and time.monotonic() - began < 4.5  # it does not sleep
            c.ok(f'{name}={text!r} is only a text', quiet, page)
        status, page = web.json(f'/api/v1/series?metric={urllib.parse.quote(text)}&node={urllib.parse.quote(text)}')
        c.ok(f'series of {text!r} is empty', status == 200 and page['series'] == [], page)
    c.ok('every row is still there', int(db.sql('select count(*) from request')) == 9)


def check_gone(c, web):
    status, answer = web.json('/api/v1/requests/%x-%016x' % (int((time.time() - 60) * 1e6), 77))
    c.ok('an unknown request is 404', status == 404 and answer['error']['code'] == 'not_found', answer)
    old = time.time() - 40 * 86400
    status, answer = web.json('/api/v1/requests/%x-%016x' % (int(old * 1e6), 77))
    day = time.strftime('%Y-%m-%d', time.gmtime(old + 31 * 86400))
    c.ok('an old one aged out, on which day, and why', status == 410 and day in answer['error']['message'] and '30 days' in answer['error']['message'], answer)
    status, answer = web.json('/api/v1/requests/%x-%016x' % (int((time.time() - 5 * 86400) * 1e6), 77))
    c.ok('one whose day was dropped early aged out too', status == 410, answer)


def check_paging(c, db, web):
    db.sql("insert into request select r.* from (select * from request where app = 'twin' limit 1) t,"
           " lateral (select t.ts, t.node_id, 5000 + i, t.stored, 'page', t.comm, t.pid, t.tid, t.remote, t.remote_port, t.local, t.local_port,"
           " t.method, t.path, t.route, t.flags, t.status, t.request_us, t.queue_us, t.upstream_us, t.bytes_in, t.bytes_out, t.normal_us,"
           " t.limit_us, t.retrans, t.srtt_us, t.rcv_ooo, t.reason_id, t.params, t.upstreams from generate_series(1, 1000) i) r")
    for limit in (1000, 333, 100, 50):
        ids = pages(web, 'requests', 'app=page', limit)
        c.ok(f'1,000 rows of one time come once each by {limit}', len(ids) == 1000 and len(set(ids)) == 1000, len(ids))
        c.ok('newest first', ids == sorted(ids, reverse=True))
    status, page = web.json('/api/v1/requests?app=page&limit=1000')
    c.ok('the last page has no next', page['next'] is None)
    c.ok('coverage counts what is stored', page['coverage']['stored'] >= 1000, page['coverage'])


def check_labels(c, db, web):
    db.sql("""
        insert into layout values (9, 'cgroup', '{cpu}', '{s}', '{1}');
        insert into entity values (11, 31, 'cgroup', '/a', '{"path":"/a","container":"abc1","runtime":"docker"}'),
            (11, 32, 'cgroup', '/b', '{"path":"/b","container":"abd1","runtime":"crio"}'), (11, 33, 'cgroup', '/c', '{"path":"/c","job":"7"}');
        insert into sample select now() - interval '1 s', 11, e, 9, array[e] from generate_series(31, 33) e""")

    def found(query):
        return [s['entity'] for s in web.json('/api/v1/series?metric=cpu&node=web-1&' + query)[1]['series']]
    c.ok('series of a kind', found('kind=cgroup') == ['/a', '/b', '/c'] and found('kind=disk') == [], found('kind=cgroup'))
    c.ok('the largest of them come first', found('top=2') == ['/c', '/b'], found('top=2'))
    for query, want in (('label=container=abc1', ['/a']), ('label=container=ab*', ['/a', '/b']), ('label=container', ['/a', '/b']),
                        ('label=!container', ['/c']), ('label=container&label=!runtime=crio', ['/a']), ('label=container=ab*&label=runtime=crio', ['/b']),
                        ('label=path=/c', ['/c']), ('label=job=', []), ('label=job=8', []), ('label=%25=*', [])):
        c.ok(f'{query} finds {want}', found(query) == want, found(query))
    labels = web.json('/api/v1/series?metric=cpu&entity=/a')[1]['series'][0]['labels']
    c.ok('a series has its labels', labels == {'kind': 'cgroup', 'path': '/a', 'container': 'abc1', 'runtime': 'docker'}, labels)


def check_numbers(c, db, web):
    db.sql('''
        insert into layout values (7, 'coverage', '{requests_seen,rows_withheld,ring_full,rows}', '{r,r,r,r}', '{1,1,1,1}'),
            (8, 'disk', '{disk_io_time,disk_free}', '{ms,bytes}', '{1,0}');
        insert into entity values (11, 1, 'coverage', ''), (11, 2, 'disk', 'sda');
        insert into sample select now() - i * interval '1 s', 11, 1, 7, array[100, 2, 1, 3] from generate_series(1, 10) i;
        insert into sample select timestamptz '2100-01-01' , 11, 2, 8, array[1, 1] where false;
        insert into sample select date_trunc('minute', now()) - interval '5 min' + i * interval '10 s', 11, 2, 8,
            array[10, case i when 0 then float8 'NaN' else 4 + i end] from generate_series(0, 5) i;
        insert into red_key values (11, 1, 'nginx', '/a', ':80', 0);
        insert into red select now() - interval '20 s', 11, 1, 2, 100, 100000, 9, '{0,90,0,10}' ;
        insert into red select now() - interval '10 s', 11, 1, 2, 100, 100000, 10, '{100}';
        insert into source values (11, 'request', 1, '', now()), (11, 'proc', 0, 'no /proc', now());
        insert into unread select now(), 11, 'nginx', 'tls', 3 from generate_series(1, 2);
        insert into gap values (now(), 11, 1, 1, 5, 9), (now(), 11, 1, 2, 1, 99);''')
    status, page = web.json('/api/v1/requests?limit=1&node=web-1')
    want = {'seen': 1000, 'withheld': 20, 'lost': 10, 'lostBatches': 5}
    c.ok('coverage adds up', all(page['coverage'][k] == v for k, v in want.items()), page['coverage'])
    status, a = web.json('/api/v1/series?metric=disk_io_time&node=web-1&entity=sda&step=60')
    s = (a['series'] or [{}])[0]
    c.ok('counters are summed per step', len(a['series']) == 1 and [p[1] for p in s['points']] == [60] and s['unit'] == 'ms', a)
    status, a = web.json('/api/v1/series?metric=disk_free&step=60')
    c.ok('gauges are averaged, what is not a number left out', a['series'][0]['points'][0][1] == 7, a)
    status, a = web.json('/api/v1/series?metric=disk_*&node=web-1&entity=sda&step=60')
    c.ok('a metric that ends in * stands for all that begin so', [(s['metric'], s['unit'], [p[1] for p in s['points']]) for s in a['series']]
         == [('disk_free', 'bytes', [7]), ('disk_io_time', 'ms', [60])], a)
    check_labels(c, db, web)
    c.ok('but one elsewhere is none', web.json('/api/v1/series?metric=disk_*e')[1]['series'] == [])
    status, a = web.json('/api/v1/red?app=nginx')
    r = (a['red'] or [{}])[0]
    # slots: 190 in (512, 1024] us, 10 in (2048, 4096] us
    c.ok('red is summed', (len(a['red']), r['count'], r['sumTime'], r['role'], r['statusClass'], r['peer']) == (1, 200, 200, 'server', 2, ':80'), a)
    c.ok('percentiles lie in their slot', 0.512 < r['p50'] < 1.024 and 2.048 < r['p99'] < 4.096, r)
    status, a = web.json('/api/v1/nodes')
    n = next(n for n in a['nodes'] if n['name'] == 'web-1')
    c.ok('a node has the state of each of its sources', [(s['name'], s['state'], s['why']) for s in n['sources']] == [('proc', 'off', 'no /proc'), ('request', 'attached', '')], n)
    c.ok('and its coverage of the hour', n['coverage'].get('requests_seen') == 1000, n)
    c.ok('and what it could not read', n['unread'] == [{'app': 'nginx', 'kind': 'tls', 'count': 6}], n)
    c.ok('a region filters nodes', [n['name'] for n in web.json('/api/v1/nodes?region=away')[1]['nodes']] == ['db-1'])


def check_extremes(c, db, web):
    top = 2 ** 63 - 1
    db.sql(f"""insert into request select now(), 11, {top}, now(), 'edge', '', {2 ** 31 - 1}, 1, null, 0, null, 0, '', '', '', {2 ** 31 - 1}, 32767,
        {top}, {top}, {top}, {top}, {top}, {top}, {top}, {2 ** 31 - 1}, {2 ** 31 - 1}, 0, 9999, '{{"ms": 1e999}}',
        '[{{"addr":"","startUs":{top},"connectUs":{top},"responseUs":{top},"status":65535,"error":"","retrans":{2 ** 32 - 1},"srttUs":0,"flags":0}}]';
        insert into sample select now(), 11, 1, 7, array[float8 '1e308', 'Infinity', '-Infinity', 'NaN'] from generate_series(1, 9);
        insert into sample select now(), 11, 2, 8, array[float8 '1e308', '-1e308'] from generate_series(1, 9);
        insert into red select now(), 11, 1, 5, {top}, {top}, 32000, array_fill({2 ** 31 - 1}, array[40]) from generate_series(1, 9)""")
    status, page = web.json('/api/v1/requests?app=edge')
    r = (page.get('requests') or [{}])[0]
    c.ok('the largest numbers hide no row', status == 200 and r.get('totalTime') == round(2 * top / 1000, 3) and page['coverage'] is not None, page)
    c.ok('an address that is not known is null', r.get('remoteAddr') is None and 'remoteAddr' in r)
    c.ok('a reason that is not known says its number', '9999' in r['reason']['text']['en'], r['reason'])
    one = web.json('/api/v1/requests/' + r['id'])[1]
    c.ok('its id leads to it', one == dict(r, evidence=[], calls=one['calls'], calledBy=one['calledBy'], ids=one['ids']))
    for path in ('nodes', 'red', 'series?metric=disk_free', 'series?metric=disk_io_time'):
        c.ok(f'nor break {path}', web.json('/api/v1/' + path)[0] == 200, web.json('/api/v1/' + path))


def check_slow(c, db, web):
    unlock = db.locked('gap')
    began = time.monotonic()
    status, page = web.json('/api/v1/requests?limit=1')
    c.ok('rows do not wait for a coverage that takes long', status == 200 and page['coverage'] is None and len(page['requests']) == 1, page)
    c.ok('until the database gives it up', time.monotonic() - began < 4.5)
    unlock()
    c.ok('later it is there', web.json('/api/v1/requests?limit=1')[1]['coverage']['stored'] > 0)
    unlock = db.locked('request')
    began = time.monotonic()
    status, answer = web.json('/api/v1/requests/1-0000000000000001')
    c.ok('a query of more than 5 s is given up', status == 503 and answer['error']['code'] == 'too_slow' and 4.5 < time.monotonic() - began < 10, answer)
    unlock()


def check_rights(c, db):
    with open(f'{TOP}/docs/install.md', encoding='utf-8') as f:
        db.sql(re.search(r"psql -d seismo -c '([^']+)'", f.read())[1], 'postgres')
    tables = db.sql("select string_agg(oid::regclass::text, ' ') from pg_class where relkind in ('r', 'p')"
                    " and relnamespace = 'public'::regnamespace").split()
    c.ok('there are tables to hide', len(tables) > 10)
    for t in tables:
        c.ok(f'the web role cannot read {t}', db.refuses(f'select 1 from public.{t} limit 1'))
    for v in db.sql("select string_agg(oid::regclass::text, ' ') from pg_class where relkind = 'v' and relnamespace = 'api'::regnamespace").split():
        c.ok(f'the web role reads {v}', db.sql(f'select count(*) >= 0 from {v}', 'seismo_web') == 't')
        c.ok(f'but a stranger does not read {v}', db.refuses(f'select 1 from {v}', 'stranger'))
    for text in ('delete from api.request', 'update api.oldest set ts = now()', 'create table api.x (i int)', 'create table public.x (i int)',
                 'select lo_create(0)', 'select lo_creat(-1)', "select lo_from_bytea(0, '')", 'select ensure_partitions(1, 1)', 'select drop_old(0)', 'drop view api.request', 'select grant_web()'):
        c.ok(f'the web role may not: {text}', db.refuses(text))


def check_listen(c, web):
    for where, says in ((f'127.0.0.1:{web.port}', 'in use'), ('0.0.0.0:0', 'other machines'), ('[::]:0', 'other machines'),
                        ('10.0.0.1:80', 'other machines'), ('8080', 'host:port'), ('127.0.0.1:99999', 'host:port')):
        w = Web('dbname=none', where)
        rc = w.close()
        c.ok(f'listening on {where} is refused in one sentence', rc == 1 and says in w.said and w.said.count('\n') == 1, w.said)
    w = Web('host=/nonexistent dbname=none', '[::1]:0')
    c.ok('the IPv6 loopback is fine', w.port > 0 and w.close() == 0)


def fill(db):
    db.sql(ROWS)
    ups = ('[{"addr":"10.0.0.2:80","startUs":0,"connectUs":0,"responseUs":0,"status":0,"error":"connection refused","retrans":0,"srttUs":0,"flags":2},'
           '{"addr":"10.0.0.1:80","startUs":10,"connectUs":0,"responseUs":80000,"status":200,"error":"","retrans":1,"srttUs":5,"flags":1}]')
    db.sql(request(1, path='/it"em\\/\u202e<script>', route='/shape', status=0, remote='2001:db8::7', ups=ups, flags=17,
                   params='{"addr": "{ms}", "ms": 12.5236, "total_ms": 90}')
           + request(2, node=12) + request(3, app='api', path='/users/7', route='/users/:id', status=404, reason=3)
           + request(4, app='api', path='/users/8', route='/users/:id', status=500, reason=3)
           + request(5, app='quote', path="/it's", reason=3) + request(6, app='far', remote='10.9.9.9')
           + request(7, app='old', ts="now() - interval '90 min'") + request(8, app='twin') + request(9))


def check(c, db, web):
    status, health = web.json('/healthz')
    c.ok('healthz names its parts', health == {'status': 'ok', 'version': 'test', 'parts': {'web': 'ok', 'database': 'ok'}}, health)
    check_headers(c, web)
    check_host(c, web)
    check_methods(c, web)
    check_assets(c, web)
    check_description(c, web)
    check_shape(c, web)
    check_filters(c, web)
    check_refusals(c, web)
    check_injection(c, db, web)
    check_gone(c, web)
    check_paging(c, db, web)
    check_numbers(c, db, web)
    check_extremes(c, db, web)
    check_slow(c, db, web)
    check_rights(c, db)
    check_listen(c, web)
    metrics = web.ask('/metrics')[2].decode()
    c.ok('metrics are there', 'seismo_web_requests_total' in metrics and 'seismo_frames_total' in metrics)


if __name__ == '__main__':
    sys.exit(check_api(fill, check))
