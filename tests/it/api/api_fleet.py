#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The fleet: each node's score in four classes, the worst first, and by what; ten thousand of them page by page."""
import sys
import urllib.parse

sys.dont_write_bytecode = True
from webtest import check_api  # noqa: E402

CAUSE = '{"code":"%s","what":%s,"value":%s,"unknown":[]}'
MANY = 10000


def causes(**of):
    every = {name: of.get(name, ('noRequests', 'null', 'null')) for name in ('saturation', 'load', 'latency', 'error')}
    return '{' + ','.join(f'"{name}":' + CAUSE % what for name, what in every.items()) + '}'


def fill(db):
    """web-1 fails, web-2 is slow, db-1 waits for its disk and has no requests; db-2 is silent, old is gone, new has no score yet."""
    text = "insert into region values (1, 'home'), (2, 'away');"
    nodes = [('web-1', 1, '{"role":"web"}', 'now()', (5, 40, 10, 90), causes(saturation=('cpu.pressure', 'null', '5'), error=('failed', '"shop"', '45'))),
             ('web-2', 2, '{"role":"web","rack":"a"}', 'now()', (20, 60, 70, 0), causes(latency=('excess', '"shop"', '233'))),
             ('db-1', 1, '{}', 'now()', (95, 99, None, None), causes(saturation=('io.pressure', 'null', '95'), load=('disk.busy', '"sda"', '99'))),
             ('db-2', 1, '{}', "now() - interval '10 minutes'", (1, 1, 1, 1), causes()),
             ('old', 2, '{}', "now() - interval '3 days'", (1, 1, 1, 1), causes())]
    for i, (name, region, tags, seen, score, why) in enumerate(nodes):
        text += f"insert into node (node_id, region_id, name, tags, last_seen) values ({i + 1}, {region}, '{name}', '{tags}', {seen});"
        text += f"insert into node_score values ({i + 1}, {seen}, {', '.join('null' if s is None else str(s) for s in score)}, '{why}');"
    text += "insert into node (node_id, region_id, name) values (6, 1, 'new');"
    text += "insert into source values (3, 'request', 0, 'no BTF', now());"
    text += "insert into red_key values (1, 1, 'shop', '/', ':80', 0), (2, 2, 'shop', '/', ':80', 0), (3, 3, 'shop', '/', '10.0.0.1:80', 1), (3, 4, 'postgres', '/q', ':5432', 0);"
    db.sql(text)


class Asked:
    def __init__(self, c, db, web):
        self.c, self.db, self.web = c, db, web

    def fleet(self, *query):
        return self.web.json('/api/v1/fleet?' + urllib.parse.urlencode(query))[1]

    def names(self, *query):
        return [n['name'] for n in self.fleet(*query)['nodes']]


def check_order(a):
    ok = a.c.ok
    ok('the worst is first, and by name where it is alike', a.names() == ['db-2', 'db-1', 'web-1', 'web-2', 'new', 'old'], a.names())
    for by, first in (('saturation', 'db-1'), ('load', 'db-1'), ('latency', 'web-2'), ('error', 'db-2'), ('name', 'db-1')):
        ok(f'by {by} it begins with {first}', a.names(('by', by))[0] == first, a.names(('by', by)))
    ok('what is not known comes last', a.names(('by', 'latency')) == ['web-2', 'web-1', 'db-2', 'db-1', 'new', 'old'], a.names(('by', 'latency')))
    status, refused = a.web.json('/api/v1/fleet?by=colour')
    ok('another order is refused, and it is said which there are', status == 400 and 'by must be worst, saturation' in refused['error']['message'], refused)


def check_why(a):
    ok = a.c.ok
    f = a.fleet()
    n = {x['name']: x for x in f['nodes']}
    ok('each class has its worst cause', n['db-1']['causes']['load'] == {'code': 'disk.busy', 'what': 'sda', 'value': 99, 'unknown': []}, n['db-1'])
    ok('what is not known is null and no nought', [n['db-1'][k] for k in ('worst', 'saturation', 'load', 'latency', 'error')] == [99, 95, 99, None, None], n['db-1'])
    ok('a probe that sees no requests says so, and not that there are none', n['db-1']['causes']['latency']['code'] == 'requestsNotSeen' and n['web-1']['causes']['latency']['code'] == 'noRequests', n['db-1']['causes'])
    ok('a silent node is an error, and all else is not known', [n['db-2'][k] for k in ('silent', 'worst', 'saturation', 'load', 'latency', 'error')] == [True, 100, None, None, None, 100] and n['db-2']['causes']['error']['code'] == 'silent', n['db-2'])
    ok('for a day', n['old']['silent'] and n['old']['worst'] is None, n['old'])
    ok('a node without a score says that nothing was measured', n['new']['worst'] is None and n['new']['causes']['load']['code'] == 'notMeasured', n['new'])
    ok('they are counted', (f['total'], f['silent'], f['unknown'], f['bad'], f['next']) == (6, 2, 2, {'any': 4, 'saturation': 1, 'load': 2, 'latency': 1, 'error': 2}, None), f)


def check_filters(a):
    ok = a.c.ok
    for query, want in (((('region', 'away'),), ['web-2', 'old']), ((('region', '!away'),), ['db-2', 'db-1', 'web-1', 'new']), ((('tag', 'role=web'),), ['web-1', 'web-2']),
                        ((('tag', 'rack=a'), ('tag', '-')), ['db-2', 'db-1', 'web-2', 'new', 'old']), ((('tag', '!-'),), ['web-1', 'web-2']), ((('app', 'shop'),), ['web-1', 'web-2']),
                        ((('app', '!shop'), ('region', 'home')), ['db-2', 'db-1', 'new']), ((('q', 'B-1'),), ['db-1', 'web-1']), ((('app', 'nobody'),), [])):
        ok(f'{query} finds {want}', a.names(*query) == want, a.names(*query))
    v = a.web.json('/api/v1/fleet/values')[1]['facets']
    ok('each value that can be chosen is listed with the number of its nodes', v == {'region': [{'value': 'home', 'count': 4}, {'value': 'away', 'count': 2}], 'app': [{'value': 'shop', 'count': 2}, {'value': 'postgres', 'count': 1}],
        'tag': [{'value': '-', 'count': 4}, {'value': 'role=web', 'count': 2}, {'value': 'rack=a', 'count': 1}]}, v)
    ok('what is counted is what fits', a.fleet(('tag', 'role=web'))['bad']['any'] == 2)


def check_many(a):
    a.db.sql(f"insert into node (node_id, region_id, name, last_seen) select 1000 + i, 1, 'n-' || lpad(i::text, 5, '0'), now() + interval '10 minutes' from generate_series(1, {MANY}) i;"
             f"insert into node_score select 1000 + i, now(), i % 90, 1, 1, 1, '{causes()}' from generate_series(1, {MANY}) i; analyze node, node_score")
    seen, skip = [], 0
    while skip is not None:
        f = a.fleet(('q', 'n-'), ('limit', 1000), ('skip', skip))
        seen += [n['name'] for n in f['nodes']]
        skip = f['next']
    a.c.ok('ten thousand come page by page, each once', len(seen) == MANY and len(set(seen)) == MANY and f['total'] == MANY, (len(seen), len(set(seen))))
    a.c.ok('in one order over all pages', seen == sorted(seen, key=lambda n: (-max(int(n[2:]) % 90, 1), n)))


def check(c, db, web):
    a = Asked(c, db, web)
    check_order(a)
    check_why(a)
    check_filters(a)
    check_many(a)
    c.ok('the console cannot write scores', db.refuses('insert into node_score values (1)') and db.refuses('select * from node_score'))


if __name__ == '__main__':
    sys.exit(check_api(fill, check))
