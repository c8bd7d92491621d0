#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Filters, facets, histogram, groups: each equal to a plain count in SQL, bounded, and deaf to what strangers write."""
import calendar
import itertools
import sys
import time
import urllib.parse

sys.dont_write_bytecode = True
from webtest import check_api  # noqa: E402

ROWS = 2500
BEGIN = int(time.time()) // 3600 * 3600 - 7200  # two hours, at the full hour, that lie behind us
WHEN = 'from=%s&to=%s' % tuple(time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(t)) for t in (BEGIN, BEGIN + 7200))

DIMENSIONS = '''
insert into region values (1, 'home'), (2, 'away');
insert into node (node_id, region_id, name, version) values (11, 1, 'web-1', '0.1'), (12, 1, 'web-2', '0.1'), (13, 2, 'db-1', '0.1');
insert into reason values (1, 'up.slow', 'Upstream {addr} took {ms} ms of {total_ms} ms', '上游 {addr}'), (3, 'up.error', '{addr} failed', '{addr}'),
	(6, 'app.error', '{app} failed', '{app}');
select ensure_partitions(1, 1);
'''
UPSTREAM = ('[{{"addr":"10.9.9.9:1","startUs":0,"connectUs":0,"responseUs":0,"status":0,"error":"refused","retrans":0,"srttUs":0,"flags":2}},'
            '{{"addr":"{}","startUs":1,"connectUs":0,"responseUs":8000,"status":200,"error":"","retrans":0,"srttUs":0,"flags":1}}]')


def insert(count, first, columns):
    """Rows whose columns are SQL over the number i; those that nobody names are plain."""
    c = {'ts': f'to_timestamp({BEGIN}) + i * 7200.0 / {count} * interval \'1 s\'', 'node': '11', 'app': "'nginx'", 'remote': "inet '10.1.0.1'", 'port': '4000',
         'path': "'/a'", 'route': "'/a'", 'status': '500', 'us': '90000', 'reason': '1', 'params': """jsonb '{"addr":"x","ms":1}'""", 'ups': "jsonb '[]'",
         'comm': "'worker'", **columns}
    return (f"insert into request select {c['ts']}, {c['node']}, {first} + i, now(), {c['app']}, {c['comm']}, 1, 1, {c['remote']}, {c['port']}, inet '::1', 80,"
            f" 'GET', {c['path']}, {c['route']}, 0, {c['status']}, {c['us']}, 5, 8000, 100, 200, 30000, 50000, 0, 0, 0, {c['reason']}, {c['params']}, {c['ups']}"
            f" from generate_series(0, {count - 1}) i;\n")


def fill(db):
    ups = ' '.join(f"when {i} then jsonb '{UPSTREAM.format(a)}'" for i, a in
                   enumerate(('10.0.0.1:80', '10.0.0.1:8080', '10.0.0.10:80', '[2001:db8::1]:80', 'unix:/run/a%_b', '10.0.0.2:80')))
    db.sql(DIMENSIONS + insert(ROWS, 1000, {
        'node': '11 + i * 7 % 3', 'app': "(array['nginx', 'api', 'a,\"b\"', '!odd', ''])[1 + i * 11 % 5]",
        'remote': "case i % 9 when 0 then null when 1 then inet '2001:db8::7' when 2 then inet '2001:db8::77' else inet '10.1.0.0' + i % 40 end",
        'port': '4000 + i % 3', 'path': "'/item/' || i % 50", 'route': "'/r/' || i % 31", 'status': '(array[500, 502, 404, 0, 499, 200])[1 + i * 13 % 6]',
        'us': '1000 * (i % 997)', 'reason': '(array[1, 3, 6])[1 + i / 7 % 3]', 'ups': f"case i % 7 {ups} else jsonb '[]' end"}))


# What a query asks, and the same in SQL, over the tables.
SAME = (
    ('region=!nobody', 'true'), ('region=home', "g.name = 'home'"), ('region=home&region=away', 'true'), ('region=!home', "g.name <> 'home'"),
    ('node=web-1&node=db-1', "n.name in ('web-1', 'db-1')"), ('node=!web-1&node=!db-1', "n.name = 'web-2'"), ('app=api', "r.app = 'api'"),
    ('app=nginx&app=api&node=web-2', "r.app in ('nginx', 'api') and n.name = 'web-2'"), ('app=a,%22b%22', "r.app = 'a,\"b\"'"), ('app=-', "r.app = ''"),
    ('app=!-', "r.app <> ''"), ('app=!!odd', "r.app <> '!odd'"), ('app=api&app=!api', 'false'), ('route=/r/7', "r.route = '/r/7'"),
    ('route=!/r/7&route=!/r/8', "r.route not in ('/r/7', '/r/8')"), ('status=5xx', 'r.status between 500 and 599'),
    ('status=5xx&status=0', '(r.status between 500 and 599 or r.status = 0)'), ('status=5xx&status=!502', 'r.status = 500'),
    ('status=!404&status=!4xx', 'r.status not between 400 and 499'), ('reason=up.slow', "c.code = 'up.slow'"), ('reason=!up.slow', "c.code <> 'up.slow'"),
    ('remote=10.1.0.3', "r.remote = '10.1.0.3'"), ('remote=10.1.0.3:4001', "r.remote = '10.1.0.3' and r.remote_port = 4001"),
    ('remote=10.1.0.3:400', 'false'), ('remote=10.1.0.', "r.remote <<= '10.1.0.0/24'"), ('remote=10.1.0.1&remote=10.1.0.3', "r.remote in ('10.1.0.1', '10.1.0.3')"),
    ('remote=!10.1.0.3', "r.remote is distinct from '10.1.0.3'"), ('remote=2001:db8::7', "r.remote = '2001:db8::7'"),
    ('remote=2001:DB8:0::7', "r.remote = '2001:db8::7'"), ('remote=[2001:db8::7]', "r.remote = '2001:db8::7'"),
    ('remote=[2001:db8::7]:4001', "r.remote = '2001:db8::7' and r.remote_port = 4001"), ('remote=2001:DB8:', "r.remote <<= '2001:db8::/32'"),
    ('remote=-', 'r.remote is null'), ('remote=!-', 'r.remote is not null'), ('remote=%25', 'false'), ('remote=_', 'false'), ('remote=10.1.0.%5C', 'false'),
    ('upstream=10.0.0.1', 'i % 7 in (0, 1)'), ('upstream=10.0.0.1:80', 'i % 7 = 0'), ('upstream=10.0.0.', 'i % 7 in (0, 1, 2, 5)'),
    ('upstream=10.9.9.9', 'false'), ('upstream=-', 'i % 7 = 6'), ('upstream=unix:', 'i % 7 = 4'), ('upstream=unix:/run/a%25_b', 'i % 7 = 4'),
    ('upstream=unix:/run/a_', 'false'), ('upstream=!10.0.0.1&upstream=!-', 'i % 7 in (2, 3, 4, 5)'), ('upstream=2001:db8::1', 'i % 7 = 3'),
    ('q=/item/7%20', "r.path = '/item/7'"), ('q=/item/7%20&status=!5xx&node=web-1', "r.path = '/item/7' and r.status not between 500 and 599 and n.name = 'web-1'"),
    ('node=nobody', 'false'))
TABLES = ("(select *, request_id - 1000 as i from request) r join node n using (node_id) join region g using (region_id) join reason c using (reason_id)"
          f" where r.ts >= to_timestamp({BEGIN}) and r.ts < to_timestamp({BEGIN + 7200})")
FACETS = {'region': 'g.name', 'node': 'n.name', 'app': "coalesce(nullif(r.app, ''), '-')", 'route': 'r.route', 'status': 'r.status::text', 'reason': 'c.code',
          'upstream': "coalesce(r.upstreams -> -1 ->> 'addr', '-')",
          'remote': "coalesce(case family(r.remote) when 4 then host(r.remote) else '[' || host(r.remote) || ']' end, '-')"}


def count(db, where):
    return int(db.sql(f'select count(*) from {TABLES} and {where}'))


def listed(web, query):
    n, cursor = 0, ''
    while True:
        status, page = web.json(f'/api/v1/requests?{WHEN}&{query}&limit=1000{cursor}')
        if status != 200:
            return page
        n += len(page['requests'])
        if not page['next']:
            return n
        cursor = '&cursor=' + page['next']


def check_same(c, db, web):
    for query, where in SAME:
        n, got = count(db, where), listed(web, query)
        c.ok(f'{query} lists what SQL counts', got == n, (got, n))
        f, h, g = (web.json(f'/api/v1/requests/{what}?{WHEN}&{query}{more}')[1] for what, more in
                   (('facets', ''), ('histogram', '&bins=7'), ('groups', '&limit=1000')))
        c.ok(f'{query}: facets have the same total', f.get('total') == n, f)
        c.ok(f'{query}: the bins add up to it', sum(v for b in h['bins'] for v in b['counts'].values()) == n == h['total'], h)
        c.ok(f'{query}: the groups add up to it', sum(g['count'] for g in g['groups']) == n or g['total'] > 1000, g.get('total'))
        c.ok(f'{query}: all of it was counted', f['exact'] and h['exact'] and g['exact'] and f['since'] == h['from'] == g['since'])


def facet(db, name, where):
    order = 'r.remote' if name == 'remote' else FACETS[name]  # addresses have the order of addresses
    text = db.sql(f'select {FACETS[name]}, count(*) from {TABLES} and {where} group by {order}, 1 order by 2 desc, {order} limit 20')
    return [{'value': line.rsplit('|', 1)[0], 'count': int(line.rsplit('|', 1)[1])} for line in text.split('\n') if line]


def check_facets(c, db, web):
    conditions = {'region': ('region=home', "g.name = 'home'"), 'app': ('app=api&app=nginx', "r.app in ('api', 'nginx')"),
                  'status': ('status=!404', 'r.status <> 404'), 'route': ('route=/r/1&route=/r/2&route=/r/13', "r.route in ('/r/1', '/r/2', '/r/13')"),
                  'upstream': ('upstream=10.0.0.', 'i % 7 in (0, 1, 2, 5)'), 'rest': ('q=item&remote=10.1', "r.remote << '10.1.0.0/16'")}
    page = web.json(f'/api/v1/requests/facets?{WHEN}&' + '&'.join(q for q, _ in conditions.values()))[1]
    for name in FACETS:
        where = ' and '.join(w for n, (_, w) in conditions.items() if n != name)
        c.ok(f'the facet {name} counts under all other filters', page['facets'][name] == facet(db, name, where), (page['facets'][name], facet(db, name, where)))
    page = web.json(f'/api/v1/requests/facets?{WHEN}')[1]
    for name in FACETS:
        c.ok(f'the facet {name} of everything is whole', page['facets'][name] == facet(db, name, 'true'), page['facets'][name])
        for f in page['facets'][name][:3]:
            n = web.json(f"/api/v1/requests/facets?{WHEN}&{name}={urllib.parse.quote(f['value'])}")[1]['total']
            c.ok(f"the {name} {f['value']!r} is a filter that finds its count", n == f['count'] or f['value'] == '!odd', (n, f))
    c.ok('twenty values at most', len(page['facets']['route']) == 20)


def check_histogram(c, db, web):
    h = web.json(f'/api/v1/requests/histogram?{WHEN}&app=api')[1]
    c.ok('sixty bins if nobody says', len(h['bins']) == 60 and h['binSeconds'] == 120, len(h['bins']))
    c.ok('the bins begin where the range does', h['bins'][0]['time'] == h['from'] and h['to'] > h['bins'][-1]['time'], h)
    want = {}
    for line in db.sql(f"select floor((extract(epoch from ts) - {BEGIN}) / 120)::int, c.code, count(*) from {TABLES} and r.app = 'api' group by 1, 2").split('\n'):
        i, code, n = line.split('|')
        want.setdefault(int(i), {})[code] = int(n)
    c.ok('each bin counts its time, by reason', [b['counts'] for b in h['bins']] == [want.get(i, {}) for i in range(60)], h)
    c.ok('reasons are named, the most frequent first', sorted(h['reasons']) == ['app.error', 'up.error', 'up.slow'], h['reasons'])
    one = web.json(f'/api/v1/requests/histogram?{WHEN}&bins=1')[1]
    c.ok('one bin holds everything', len(one['bins']) == 1 and sum(one['bins'][0]['counts'].values()) == ROWS, one)
    c.ok('two hundred are fine', len(web.json(f'/api/v1/requests/histogram?{WHEN}&bins=200')[1]['bins']) == 200)


def check_order(c, db, web):
    """Each order of groups is that of plain SQL; the usual time of some requests is not known."""
    db.sql('update request set normal_us = 0 where request_id % 7 = 0')
    failed, excess = 'count(*) filter (where r.status >= 500 or r.status = 0)', 'sum(case when r.normal_us > 0 then greatest(r.request_us + r.queue_us - r.normal_us, 0) else 0 end)'
    for sort, first in (('harm', f'{failed} desc, {excess} desc'), ('count', 'count(*) desc'), ('slowest', 'max(r.request_us + r.queue_us) desc')):
        want = db.sql(f"select n.name, r.app, r.route, c.code, {failed}, {excess} / 1000.0 from {TABLES} group by 1, 2, 3, 4 order by {first}, max(r.ts) desc limit 50").split('\n')
        got = web.json(f'/api/v1/requests/groups?{WHEN}&limit=50&sort={sort}')[1]['groups']
        plain = [tuple(w[:4]) + (int(w[4]), round(float(w[5]), 3)) for w in (line.split('|') for line in want)]
        c.ok(f'sorted by {sort} they are as in SQL', [(g['node'], g['app'], g['route'], g['reason']['code'], g['failed'], g['excess']) for g in got] == plain, (got[:2], plain[:2]))


def check_groups(c, db, web):
    page = web.json(f'/api/v1/requests/groups?{WHEN}&app=api&node=web-1&limit=1000')[1]
    want = db.sql("select n.name, r.app, r.route, c.code, count(*), percentile_disc(0.5) within group (order by r.request_us + 5) / 1000.0, max(r.request_us + 5) / 1000.0,"
                  f" max(r.ts) = max(max(r.ts)) over () from {TABLES} and r.app = 'api' and n.name = 'web-1' group by 1, 2, 3, 4 order by max(r.ts) desc").split('\n')
    got = [(g['node'], g['app'], g['route'], g['reason']['code'], g['count'], g['totalTimeP50'], g['totalTimeMax']) for g in page['groups']]
    plain = [tuple(w[:4]) + (int(w[4]), float(w[5]), float(w[6])) for w in (line.split('|') for line in want)]
    c.ok('groups are those of SQL, newest activity first', got == plain and page['total'] == len(plain) > 5, (got[:2], plain[:2]))
    c.ok('statuses add up to the count', all(sum(g['statuses'].values()) == g['count'] for g in page['groups']))
    c.ok('so do the twenty parts of the range', all(len(g['spark']) == 20 and sum(g['spark']) == g['count'] for g in page['groups']))
    g = page['groups'][0]
    newest = web.json('/api/v1/requests/' + g['newest'])[1]
    c.ok('the newest of a group is one of it, and its last', newest['time'] == g['last'] and newest['route'] == g['route'] and newest['reason'] == g['reason'], newest)
    c.ok('a group has its sentence', g['reason']['text']['en'] != '' and '{ms}' not in g['reason']['text']['en'], g['reason'])
    last = calendar.timegm(time.strptime(g['last'][:19], '%Y-%m-%dT%H:%M:%S'))
    c.ok('the spark ends where the last one is', [i for i, n in enumerate(g['spark']) if n][-1] == (last - BEGIN) // 360, g)
    check_order(c, db, web)
    short = web.json(f'/api/v1/requests/groups?{WHEN}&limit=3')[1]
    c.ok('limit cuts and total says so', len(short['groups']) == 3 and short['total'] > 3, short['total'])


def check_refusals(c, web):
    for what in ('requests', 'requests/facets', 'requests/histogram', 'requests/groups'):
        for query, name in (('status=!', 'status'), ('status=!6xx', 'status'), ('status=-', 'status'), ('app=!', 'app'), ('remote=', 'remote'),
                            ('upstream=' + 'x' * 201, 'upstream'), ('q=a&q=b', 'q'), ('from=now', 'from'), ('node=a%00', 'node'), ('node=!%ff', 'node'),
                            ('&'.join(f'route=/{i}' for i in range(11)), 'route'), ('sort=app', 'sort'), ('offset=1', 'offset')):
            status, a = web.json(f'/api/v1/{what}?{query}')
            e = a.get('error', {})
            c.ok(f'{what}?{query[:30]} is refused by name', status == 400 and e.get('code') == 'bad_parameter' and name in e['message'], a)
        ten = '&'.join(f'{name}={v}{i}' for name in ('region', 'node', 'app', 'route', 'reason', 'remote', 'upstream') for i in range(5) for v in ('a', '!a'))
        c.ok(f'{what} takes ten values of each filter', web.json(f'/api/v1/{what}?{WHEN}&{ten}')[0] == 200, web.json(f'/api/v1/{what}?{WHEN}&{ten}'))
    for query, name in (('histogram?bins=0', 'bins'), ('histogram?bins=201', 'bins'), ('histogram?bins=x', 'bins'), ('groups?limit=1001', 'limit'), ('groups?sort=app', 'sort'), ('facets?limit=1', 'limit')):
        status, a = web.json('/api/v1/requests/' + query)
        c.ok(f'{query} is refused by name', status == 400 and name in a['error']['message'], a)


def check_empty(c, web):
    for when in ('from=2001-01-01T00:00:00Z&to=2001-01-02T00:00:00Z', 'from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00.000001Z'):
        f, h, g = (web.json(f'/api/v1/requests/{what}?{when}')[1] for what in ('facets', 'histogram', 'groups'))
        c.ok('an empty range has empty facets', f['total'] == 0 and f['exact'] and all(v == [] for v in f['facets'].values()) and len(f['facets']) == 9, f)
        c.ok('and bins that count nothing', len(h['bins']) == 60 and all(b['counts'] == {} for b in h['bins']) and h['reasons'] == [] and h['total'] == 0, h)
        c.ok('and no groups', g['groups'] == [] and g['total'] == 0 and g['exact'], g)


def check_injection(c, db, web):
    before, turn = db.sql('select count(*) from request'), itertools.cycle(('facets', 'groups', 'histogram'))
    for text in ("'; drop table request; --", "' or '1'='1", '{"a","b"}', '"}', '\\', '\\"', '","', 'null', '$1', '%', '_%', "x'||pg_sleep(5)||'", '{}', '[1,2]', '\u202e\x1b'):
        for name in ('region', 'node', 'app', 'route', 'reason', 'remote', 'upstream'):
            for sign, rows in (('', 0), ('!', ROWS)):
                what = next(turn)  # each text, name and sign with one of three, so that each two meet
                status, a = web.json(f'/api/v1/requests/{what}?{WHEN}{"&limit=1" if what == "groups" else ""}&{name}={urllib.parse.quote(sign + text)}')
                n = a.get('total') if what != 'groups' else sum(g['count'] for g in a['groups'])
                c.ok(f'{what}?{name}={sign}{text!r} is only a text', status == 200 and (n == rows or what == 'groups' and (n > 0) == (rows > 0)), a)
    c.ok('every row is still there', db.sql('select count(*) from request') == before)


def check_bound(c, db, web):
    db.sql(insert(100000 - ROWS, 10 ** 6, {'app': "'many'"}) + 'analyze')
    f = web.json(f'/api/v1/requests/facets?{WHEN}')[1]
    c.ok('a hundred thousand rows are counted exactly', f['total'] == 100000 and f['exact'], f['total'])
    db.sql(insert(50, 2 * 10 ** 6, {'app': "'more'", 'ts': f"to_timestamp({BEGIN + 7199})"}))
    for what in ('facets', 'histogram', 'groups'):
        took = 9
        for _ in range(15):  # others are at work beside
            began = time.monotonic()
            a = web.json(f'/api/v1/requests/{what}?{WHEN}')[1]
            took = min(took, time.monotonic() - began)
            if took < 3:
                break
        n = a['total'] if what != 'groups' else sum(g['count'] for g in a['groups'])
        newest = db.sql(f"select to_char(min(ts) at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') from (select ts from request where ts >= to_timestamp({BEGIN})"
                        f" and ts < to_timestamp({BEGIN + 7200}) order by ts desc, request_id desc limit 100000) r")
        c.ok(f'{what}: of more the newest hundred thousand, and since when', a['exact'] is False and a['since'] == newest and (what == 'groups' or n == 100000), (n, a['since'], newest))
        c.ok(f'{what} takes less than three seconds of it', took < 3, took)
    c.ok('a filter counts within them', web.json(f'/api/v1/requests/facets?{WHEN}&app=more')[1]['total'] == 50)
    unlock = db.locked('request')
    began = time.monotonic()
    status, a = web.json(f'/api/v1/requests/groups?{WHEN}')
    c.ok('what takes more than 5 s is given up', status == 503 and a['error']['code'] == 'too_slow' and time.monotonic() - began < 10, a)
    unlock()


def check(c, db, web):
    web.patience = 8
    check_same(c, db, web)
    check_facets(c, db, web)
    check_histogram(c, db, web)
    check_groups(c, db, web)
    check_refusals(c, web)
    check_empty(c, web)
    check_injection(c, db, web)
    web.patience = 0
    check_bound(c, db, web)


if __name__ == '__main__':
    sys.exit(check_api(fill, check))
