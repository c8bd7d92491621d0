#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RED in steps: counts, errors, percentiles and slots per series, equal to what one adds up by hand from the stored rows."""
import sys
import time
import urllib.parse

sys.dont_write_bytecode = True
from webtest import check_api  # noqa: E402

BEGIN = int(time.time()) // 3600 * 3600 - 7200
SPAN = 3600
FORM = '%Y-%m-%dT%H:%M:%SZ'


def when(begin=BEGIN, end=BEGIN + SPAN):
    return 'from=%s&to=%s' % tuple(time.strftime(FORM, time.gmtime(t)) for t in (begin, end))


def at(second):
    return time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(second))


KEYS = [(11, 1, 'nginx', '/a', ':80', 0), (11, 2, 'nginx', '/a', '10.0.0.1:80', 1), (11, 3, 'api', '/b', ':81', 0), (12, 4, 'nginx', '/a', ':80', 0)]


def rows():
    """(seconds, node, key, status class, n, lo, slots): every ten seconds, with holes between the slots and in time."""
    for i in range(360):
        for node, key, *_ in KEYS:
            for status in (2, 4, 5, 0):
                if (i * 7 + key * 3 + status) % 4 or i // 60 == key:
                    continue
                lo = (i * key + status) % 9 + 3
                slots = [(i + j * 5 + status) % 4 for j in range(1 + i % 5)]
                slots[0] += 1
                yield BEGIN + i * 10, node, key, status, sum(slots), lo, slots


def fill(db):
    text = "insert into region values (1, 'home'), (2, 'away'); insert into node (node_id, region_id, name) values (11, 1, 'web-1'), (12, 2, 'web-2');\n"
    text += 'select ensure_partitions(1, 1);\n'
    text += ''.join(f"insert into red_key values ({n}, {k}, '{a}', '{r}', '{p}', {role});\n" for n, k, a, r, p, role in KEYS)
    text += ''.join(f"insert into red values (to_timestamp({ts}), {node}, {key}, {status}, {n}, {n * 1000}, {lo}, '{{{','.join(map(str, b))}}}');\n"
                    for ts, node, key, status, n, lo, b in rows())
    for role, route, peer in ((2, 'route', 'peer'), (3, "''", "'10.0.0.9'")): # the same requests reported again: no sum counts them twice
        text += (f"insert into red_key select node_id, key_id + {role}000, app, {route}, {peer}, {role} from red_key where role = 0;\n"
                 f"insert into red select ts, node_id, key_id + {role}000, status_class, n, sum_us, lo, b, 1000, n from red join red_key using (node_id, key_id) where role = 0;\n")
    db.sql(text)


def quantile(slots, q):
    """The value at rank q, each slot being evenly filled."""
    whole, upto = sum(slots.values()), 0
    for slot in sorted(slots):
        upto += slots[slot]
        if upto >= q * whole:
            low = 2 ** (slot - 1) if slot else 0
            return (low + (2 ** slot - low) * max(0, q * whole - (upto - slots[slot])) / slots[slot]) / 1000
    return None


def by_hand(step, keep=lambda key: True):
    out = {}
    for ts, node, key, status, n, lo, b in rows():
        if keep(key):
            p = out.setdefault(key, {}).setdefault(ts // step * step, {'classes': {}, 'slots': {}})
            p['classes'][str(status)] = p['classes'].get(str(status), 0) + n
            for i, c in enumerate(b):
                if c:
                    p['slots'][lo + i] = p['slots'].get(lo + i, 0) + c
    return out


def near(a, b):
    return abs(a - b) <= 0.001


def same_point(p, want):
    slots = {p['slots']['lo'] + i: c for i, c in enumerate(p['slots']['b']) if c}
    return (p['statusClasses'] == want['classes'] and p['count'] == sum(want['classes'].values()) and slots == want['slots']
            and p['errors'] == want['classes'].get('5', 0) + want['classes'].get('0', 0) and p['slots']['b'][0] > 0 and p['slots']['b'][-1] > 0
            and near(p['p50'], quantile(slots, 0.5)) and near(p['p99'], quantile(slots, 0.99)))


def check_steps(c, web):
    names = {(('web-1' if n == 11 else 'web-2'), a, r, p, 'client' if role else 'server'): k for n, k, a, r, p, role in KEYS}
    for step in (10, 60, 600, 3600):
        status, page = web.json(f'/api/v1/red?{when()}&step={step}')
        want = by_hand(step)
        c.ok(f'by {step} s there is a series for each key', status == 200 and page['total'] == len(page['series']) == len(KEYS) and page['step'] == step, page)
        c.ok('the busiest first', [s['count'] for s in page['series']] == sorted((s['count'] for s in page['series']), reverse=True))
        for s in page['series']:
            key = names[s['node'], s['app'], s['route'], s['peer'], s['role']]
            c.ok(f'by {step} s key {key} has the times that have requests', [p['time'] for p in s['points']] == [at(t) for t in sorted(want[key])], s['points'][:2])
            bad = [(p, w) for p, (_, w) in zip(s['points'], sorted(want[key].items())) if not same_point(p, w)]
            c.ok(f'by {step} s key {key} counts what was stored', not bad, bad[:1])
            c.ok('a series counts its points', s['count'] == sum(p['count'] for p in s['points']))


def check_filters(c, web):
    for query, keys in (('node=web-2', [4]), ('region=away', [4]), ('app=api', [3]), ('app=!api&node=web-1', [1, 2]), ('route=/a&route=/b', [1, 2, 3, 4]),
                        ('route=!/a', [3]), ('app=nobody', [])):
        page = web.json(f'/api/v1/red?{when()}&step=600&{query}')[1]
        want = by_hand(600, lambda k: k in keys)
        c.ok(f'{query} keeps {len(keys)} series', sum(s['count'] for s in page['series']) == sum(sum(p['classes'].values()) for k in want.values() for p in k.values())
             and len(page['series']) == len(keys), page)
        plain = web.json(f'/api/v1/red?{when()}&{query}')[1]
        c.ok(f'{query}: without a step it is the sum of the same', sum(r['count'] for r in plain['red']) == sum(s['count'] for s in page['series']) and list(plain) == ['red'], plain)
    whole = [r for r in web.json(f'/api/v1/red?{when()}&app=api')[1]['red'] if r['statusClass'] == 2][0]
    slots = {}
    for _, _, key, status, n, lo, b in rows():
        if key == 3 and status == 2:
            for i, v in enumerate(b):
                slots[lo + i] = slots.get(lo + i, 0) + v
    slots = {k: v for k, v in slots.items() if v}
    c.ok('without a step the percentiles are by status class', near(whole['p50'], quantile(slots, 0.5)) and near(whole['p99'], quantile(slots, 0.99)), whole)


def check_apps(c, web):
    page = web.json(f'/api/v1/red?{when()}&step=600&by=app')[1]
    series = web.json(f'/api/v1/red?{when()}&step=600')[1]['series']
    keys = {(a, 'client' if role else 'server') for _, _, a, _, _, role in KEYS}
    c.ok('by app there is a series for each app and role', page['total'] == len(page['series']) and {(s['app'], s['role']) for s in page['series']} == keys, page)
    for s in page['series']:
        parts = [x for x in series if (x['app'], x['role']) == (s['app'], s['role'])]
        nodes = {x['node'] for x in parts}
        c.ok(f'{s["app"]} as {s["role"]} has no route and no peer, and counts its nodes', s['route'] is None and s['peer'] is None and s['nodes'] == len(nodes)
             and s['node'] == (None if len(nodes) > 1 else min(nodes)), s)
        want = {}
        for p in (p for x in parts for p in x['points']):
            one = want.setdefault(p['time'], {'classes': {}, 'slots': {}})
            for k, n in p['statusClasses'].items():
                one['classes'][k] = one['classes'].get(k, 0) + n
            for i, n in enumerate(p['slots']['b']):
                if n:
                    one['slots'][p['slots']['lo'] + i] = one['slots'].get(p['slots']['lo'] + i, 0) + n
        c.ok('each of its points is the sum of theirs', [p['time'] for p in s['points']] == sorted(want) and all(same_point(p, want[p['time']]) for p in s['points']), s['points'][:1])
    c.ok('without it a series names its node', all(s['nodes'] == 1 and s['node'] for s in series), series[:1])


def check_limits(c, db, web):
    for query, name in (('step=0', 'step'), ('step=x', 'step'), ('step=86401', 'step'), (when(BEGIN, BEGIN + 3600) + '&step=7', 'step'), ('step=60&step=60', 'step'), ('step=60&by=node', 'by'),
                        ('step=60&status=5xx', 'status'), ('route=', 'route'), ('from=x', 'from')):
        status, a = web.json('/api/v1/red?' + query)
        c.ok(f'{query} is refused by name', status == 400 and name in a['error']['message'], a)
    c.ok('five hundred steps are fine', web.json(f'/api/v1/red?{when(BEGIN, BEGIN + 5000)}&step=10')[0] == 200)
    empty = web.json('/api/v1/red?from=2001-01-01T00:00:00Z&to=2001-01-02T00:00:00Z&step=3600')[1]
    c.ok('an empty range has no series', empty == {'step': 3600, 'total': 0, 'series': []}, empty)
    for text in ("'; drop table red; --", '{"a"}', '\\', "' or '1'='1", '$1'):
        for name in ('region', 'node', 'app', 'route'):
            page = web.json(f'/api/v1/red?{when()}&step=60&{name}={urllib.parse.quote(text)}')
            c.ok(f'{name}={text!r} is only a text', page[0] == 200 and page[1]['series'] == [], page)
    db.sql(f"insert into red_key select 11, 100 + i, 'many', '/m/' || i, ':1', 0 from generate_series(1, 80) i;"
           f"insert into red select to_timestamp({BEGIN}) + t * interval '1 min', 11, 100 + i, 2, i, i, 5, '{{1,2,3}}' from generate_series(1, 80) i, generate_series(0, 59) t")
    page = web.json(f'/api/v1/red?{when()}&step=60&app=many')[1]
    by_app = web.json(f'/api/v1/red?{when()}&step=60&app=many&by=app')[1]
    c.ok('as an app they are one', by_app['total'] == 1 and by_app['series'][0]['count'] == 60 * sum(range(81)), by_app['total'])
    c.ok('of eighty series the fifty busiest, and total says so', page['total'] == 80 and [s['route'] for s in page['series']] == [f'/m/{i}' for i in range(80, 30, -1)], page['total'])
    top = 2 ** 63 - 1
    db.sql(f"""insert into red_key values (12, 999, 'edge', '', '', 0);
        insert into red select to_timestamp({BEGIN}), 12, 999, 5, {top}, {top}, 32000, array_fill({2 ** 31 - 1}, array[40]) from generate_series(1, 9);
        insert into red select to_timestamp({BEGIN + 60}), 12, 999, 5, 0, 0, 0, '{{}}'""")
    status, page = web.json(f'/api/v1/red?{when()}&step=60&app=edge')
    points = (page.get('series') or [{'points': []}])[0]['points']
    c.ok('the largest numbers break nothing', status == 200 and points[0]['count'] == 9 * top and points[0]['slots'] is None and points[0]['p50'] is None, page)
    c.ok('nor does nothing', points[1]['count'] == 0 and points[1]['slots'] is None, points)
    unlock = db.locked('red')
    began = time.monotonic()
    status, a = web.json(f'/api/v1/red?{when()}&step=60')
    c.ok('what takes more than 5 s is given up', status == 503 and a['error']['code'] == 'too_slow' and time.monotonic() - began < 10, a)
    unlock()


def check(c, db, web):
    check_steps(c, web)
    check_filters(c, web)
    check_apps(c, web)
    check_limits(c, db, web)


if __name__ == '__main__':
    sys.exit(check_api(fill, check))
