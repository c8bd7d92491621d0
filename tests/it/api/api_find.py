#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The newest page of a day among a hundred thousand rows: right, from that day's partitions only, and found, not searched for."""
import itertools
import json
import re
import sys
import time
import urllib.parse

sys.dont_write_bytecode = True
from webtest import check_api  # noqa: E402

ROWS, DAYS = 100000, 3
TODAY = int(time.time()) // 86400 * 86400
FROM, TO = TODAY - 86400, TODAY  # yesterday
WHEN = 'from=%s&to=%s' % tuple(time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(t)) for t in (FROM, TO))
COLUMNS = {'node': 'n.name', 'app': 'r.app', 'route': 'r.route', 'status': 'r.status', 'reason': 'c.code'}
UPSTREAM = '[{"addr":"%s","startUs":0,"connectUs":0,"responseUs":9,"status":502,"error":"","retrans":0,"srttUs":0,"flags":1}]'
# Three rows each, a tenth of yesterday apart, of a value that nothing else has; the last are of common values that never meet.
RARE = ({'node': '99'}, {'app': "'rare'"}, {'route': "'/rare'", 'path': "'/rare/NEEDLE%_1'"}, {'status': '418'}, {'reason': '6'},
        {'node': '10', 'app': "'app-15'"}, {'app': "'app-3'", 'status': '503'}, {'status': '404', 'reason': '1'}, {'upstream': '10.201.0.0:80'})


def insert(rows, columns):
    c = {'upstream': '10.201.3.4:8080', 'ts': f"to_timestamp({TODAY - (DAYS - 1) * 86400}) + i * {DAYS * 86400.0 / ROWS} * interval '1 s'", 'id': 'i', 'node': '10 + i % 1000 * i % 20', 'app': "'app-' || i % 1000 * i % 20 / 2",
         'route': "'/r/' || i * 7 % 100", 'path': "'/r/' || i * 7 % 100 || '/' || md5(i::text)", 'status': '(array[500, 500, 502, 404])[1 + i % 4]',
         'reason': "case i % 4 when 3 then 5 else (array[1, 3])[1 + i / 4 % 2] end", **columns}
    return (f"insert into request select {c['ts']}, {c['node']}, {c['id']}, now(), {c['app']}, 'worker', 1, 1, inet '10.0.0.0' + i % 5000, 4000, inet '::1', 80,"
            f" 'GET', {c['path']}, {c['route']}, 0, {c['status']}, 90000, 5, 8000, 100, 200, 30000, 50000, 0, 0, 0, {c['reason']}, '{{}}', '{UPSTREAM % c['upstream']}'"
            f' from generate_series({rows}) i;\n')


def fill(db):
    text = "insert into region values (1, 'home'); select ensure_partitions(2, 1);"
    text += "insert into node (node_id, region_id, name) select 10 + i, 1, 'web-' || i from generate_series(0, 19) i; insert into node (node_id, region_id, name) values (99, 1, 'rare');"
    text += "insert into reason values (1, 'up.slow', '', ''), (3, 'up.error', '', ''), (5, 'client.abort', '', ''), (6, 'app.error', '', '');"
    text += insert(f'0, {ROWS - 1}', {})
    for k, columns in enumerate(RARE):
        text += insert('1, 3', {'ts': f"to_timestamp({FROM + 500 * k}) + i * interval '7777 s'", 'id': f'{10 ** 6 * (k + 1)} + i', 'node': '10', 'app': "'app-0'", 'status': '500', 'reason': '1', **columns})
    db.sql(text + 'analyze;')
    for setting in ("session_preload_libraries = 'auto_explain'", 'auto_explain.log_min_duration = 0', 'auto_explain.log_analyze = on', 'auto_explain.log_timing = off',
                    "auto_explain.log_format = 'json'", 'auto_explain.log_nested_statements = on'):
        db.sql(f'alter role seismo_web set {setting}', 'postgres')


def expected(db, where, more=''):
    text = db.sql("select lpad(to_hex(r.request_id), 16, '0') from request r join node n using (node_id) join reason c using (reason_id)"
                  f' where r.ts >= to_timestamp({FROM}) and r.ts < to_timestamp({TO}) and {where} order by r.ts desc, r.request_id desc limit 250')
    return text.split('\n') if text else []


class Plans:
    """What the server did for each page since the last look."""

    def __init__(self, db):
        self.path, self.at = f'{db.dir}/log', 0

    def of_pages(self):
        with open(self.path, 'rb') as f:
            f.seek(self.at)
            added = f.read()
        self.at += len(added)
        text = added.decode()
        found = [json.loads(m) for m in re.findall(r'plan:\n(\t\{\n.*?\n\t\})\n', text + '\n', re.S)]
        return [p for p in found if p['Query Text'].startswith('with page') or 'unnest(times' in p['Query Text']]


def nodes(plan):
    yield plan
    for child in plan.get('Plans', []):
        yield from nodes(child)


def check_page(c, db, web, plans, query, where):
    want = expected(db, where)
    plans.of_pages()
    status, page = web.json(f'/api/v1/requests?{WHEN}&{query}')
    got = [r['id'].split('-')[1] for r in page.get('requests', [])]
    c.ok(f'{query}: the newest hundred', status == 200 and got == want[:100], (page if status != 200 else got[:3], want[:3]))
    made = plans.of_pages()
    c.ok(f'{query}: its plan is known, and those of its bodies and incidents', len(made) == (3 if got else 2), len(made))
    scans = [n for p in made for n in nodes(p['Plan']) if n.get('Relation Name', '').startswith('request_')]
    days = {n['Relation Name'] for n in scans if n['Actual Loops']}
    c.ok(f'{query}: only the partition of its day', days == {time.strftime('request_%Y%m%d', time.gmtime(FROM))}, days)
    looked = sum((n['Actual Rows'] + n.get('Rows Removed by Filter', 0) + n.get('Rows Removed by Index Recheck', 0)) * n['Actual Loops'] for n in scans)
    c.ok(f'{query}: not one row in ten of the day is looked at', looked < 3300, looked)
    while page.get('next') and len(got) < 250:
        page = web.json(f'/api/v1/requests?{WHEN}&{query}&cursor={page["next"]}')[1]
        got += [r['id'].split('-')[1] for r in page.get('requests', [])]
    c.ok(f'{query}: and the pages after it', got[:250] == want, (len(got), len(want)))


def check_pairs(c, db, web, plans):
    common = {'node': "'web-4'", 'app': "'app-2'", 'route': "'/r/8'", 'status': '500', 'reason': "'up.slow'"}
    rare = {'node': "'rare'", 'app': "'rare'", 'route': "'/rare'", 'status': '418', 'reason': "'app.error'"}
    beside = {'node': "'web-0'", 'app': "'app-0'", 'route': "'/r/7'", 'status': '500', 'reason': "'up.slow'"}  # what the rare ones have
    asked = [{name: values[name]} for name in COLUMNS for values in (common, rare)]
    asked += [{a: common[a], b: common[b]} for a, b in itertools.combinations(COLUMNS, 2)]
    asked += [{a: rare[a], b: beside[b]} for a, b in itertools.permutations(COLUMNS, 2)]
    asked += [{'node': "'web-0'", 'app': "'app-15'"}, {'app': "'app-3'", 'status': '503'}, {'status': '404', 'reason': "'up.slow'"}, {'node': "'web-4'", 'app': "'app-9'"}]
    for values in asked:
        query = '&'.join(f"{name}={urllib.parse.quote(v.strip(chr(39)))}" for name, v in values.items())
        check_page(c, db, web, plans, query, ' and '.join(f'{COLUMNS[name]} = {v}' for name, v in values.items()))


def check_texts(c, db, web, plans):
    hit = db.sql(f'select path from request where ts >= to_timestamp({FROM}) and path ~ \'/[0-9a-f]{{32}}$\' order by ts limit 1')[-32:]
    for text, where in ((hit, f"r.path like '%{hit}'"), (hit[5:14].upper(), f"r.path like '%{hit[5:14]}%'"), ('needle%_', "r.route = '/rare'"), ('needle__', 'false'),
                        ('GET /rare/', "r.route = '/rare'"), ('RARE', "n.name = 'rare' or r.app = 'rare' or r.route = '/rare'"), ('10.0.3.77:', "r.remote = '10.0.3.77'")):
        check_page(c, db, web, plans, 'q=' + urllib.parse.quote(text), f'({where})')


def check_addresses(c, db, web, plans):
    """Whose parts every address has, too."""
    up = "r.upstreams -> -1 ->> 'addr'"
    for query, where in (('remote=10.0.3.77', "r.remote = '10.0.3.77'"), ('remote=10.0.0.1', "r.remote = '10.0.0.1'"), ('remote=10.0.0.1:4000', "r.remote = '10.0.0.1'"),
                         ('remote=10.0.1', "host(r.remote) like '10.0.1%'"), ('remote=10.9', 'false'), ('remote=10.0.0.1&status=500', "r.remote = '10.0.0.1' and r.status = 500"),
                         ('upstream=10.201.0.0', f"{up} = '10.201.0.0:80'"), ('upstream=10.201.0.0:80', f"{up} = '10.201.0.0:80'"), ('upstream=10.201.0.0:81', 'false'),
                         ('upstream=10.201.3.4:8080', f"{up} = '10.201.3.4:8080'"), ('upstream=10.201.', 'true'), ('upstream=10.201.0.0:80&app=app-0', f"{up} = '10.201.0.0:80'")):
        check_page(c, db, web, plans, query, where)


def check_wide(c, web):
    """More than can be counted, of which three are asked for: what is found is counted, whatever lies between."""
    range_ = 'from=%s&to=%s' % tuple(time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(t)) for t in (TODAY - 2 * 86400, TODAY + 86400))
    h = web.json(f'/api/v1/requests/histogram?{range_}&status=418')[1]
    c.ok('three rows among more than a hundred thousand are counted, and the count is whole', h['total'] == 3 and h['exact'] and h['since'] == h['from'], h)
    g = web.json(f'/api/v1/requests/groups?{range_}&status=418')[1]
    c.ok('so are their groups', sum(x['count'] for x in g['groups']) == 3 and g['exact'], g)
    f = web.json(f'/api/v1/requests/facets?{range_}&status=418')[1]
    c.ok('facets count the newest hundred thousand under the other filters', not f['exact'] and sum(v['count'] for v in f['facets']['status']) == 100000, f['facets']['status'])
    h = web.json(f'/api/v1/requests/histogram?{range_}')[1]
    c.ok('of all, a hundred thousand are counted', h['total'] == 100000 and not h['exact'] and h['since'] > h['from'], (h['total'], h['since']))


def check_count(c, db, web):
    db.sql(f"""insert into red_key values (10, 1, 'app-0', '/r/1', ':80', 0), (10, 2, 'app-0', '/r/1', ':81', 1);
        insert into red select to_timestamp({FROM} + i * 60), 10, 1 + i % 2, case when i % 3 = 0 then 5 when i % 3 = 1 then 0 else 2 end, 100, 1, 0, '{{}}' from generate_series(0, 600) i""")
    for query, want in (('status=418', (3, False, 'rows')), ('node=nobody', (0, False, 'rows')), ('', (10000, True, 'rows')), ('status=500', (10000, True, 'rows')),
                        ('status=5xx', (10100, False, 'red')), ('status=5xx&status=0', (20100, False, 'red')), ('status=5xx&reason=!x', (10000, True, 'rows')),
                        ('status=5xx&status=404', (10000, True, 'rows')), ('status=5xx&status=!502', (10000, True, 'rows')), ('status=5xx&route=/r/8', None)):
        a = web.json(f'/api/v1/requests/count?{WHEN}&{query}')[1]
        want = want or (int(db.sql(f"select count(*) from request where ts >= to_timestamp({FROM}) and ts < to_timestamp({TO}) and route = '/r/8' and status >= 500")), False, 'rows')
        c.ok(f'{query or "everything"} is counted up to ten thousand, or as far as red knows', a == dict(zip(('count', 'more', 'source'), want)), (a, want))


def check_without_trigrams(c, db, web):
    db.sql('drop index request_by_text')
    a = web.json(f'/api/v1/requests?{WHEN}&q=needle')
    c.ok('without an index for texts they are still found', a[0] == 200 and len(a[1]['requests']) == 3, a)


def check(c, db, web):
    plans = Plans(db)
    check_pairs(c, db, web, plans)
    check_texts(c, db, web, plans)
    check_addresses(c, db, web, plans)
    check_wide(c, web)
    check_count(c, db, web)
    check_without_trigrams(c, db, web)


if __name__ == '__main__':
    sys.exit(check_api(fill, check))
