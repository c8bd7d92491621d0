#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tags: what a node is holds from a moment to another, and what happened is found by what its node was then."""
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.dont_write_bytecode = True
from webtest import BUILD, TOP, check_api  # noqa: E402

NOW = int(time.time())
WEEK = 7 * 86400
NODES = {'web-1': 11, 'web-2': 12, 'db-1': 13}
COLLECTOR = os.path.join(TOP, BUILD, 'seismo-collector')


def when(t):
    return time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(t))


def fill(db):
    """A request and an event of each node now and a week ago; until yesterday web-1 stood in rack a."""
    text = "insert into region values (1, 'home'); select ensure_partitions(8, 1); insert into reason values (1, 'app.error', '', '');"
    for name, node in NODES.items():
        text += f"insert into node (node_id, region_id, name, tags) values ({node}, 1, '{name}', '{{}}');"
        for i, t in enumerate((NOW - WEEK, NOW - 60)):
            text += (f"insert into request select to_timestamp({t}), {node}, {10 * node + i}, now(), 'shop', 'w', 1, 1, inet '10.0.0.1', 4000, inet '::1', 80, 'GET', '/', '/', 0,"
                     f" 500, 9, 5, 8, 1, 2, 3, 5, 0, 0, 0, 1, '{{}}', '[]';"
                     f"insert into event (ts, event_id, node_id, stored, us, error_us, kind, severity, pid, tid, comm, reason_id, params) values"
                     f" (to_timestamp({t}), {100 * node + i}, {node}, now(), 1, 0, 'oom.kill', 2, 1, 1, 'w', 1, '{{}}');")
    text += "insert into entity (node_id, entity_id, kind, name) values (13, 7, 'disk', 'sda');"
    text += f"select set_tag(11, 0, 'rack', 'a', to_timestamp({NOW - 2 * WEEK}), 'command'), set_tag(11, 0, 'rack', 'b', to_timestamp({NOW - 86400}), 'command'), set_tag(12, 0, 'rack', 'b', to_timestamp({NOW - 2 * WEEK}), 'command');"
    db.sql(text)


class Asked:
    def __init__(self, c, db, web):
        self.c, self.db, self.web = c, db, web

    def rows(self, what, query):
        """Names of the nodes of what is found, week by week: those of now behind those of then."""
        text = urllib.parse.urlencode([('from', when(NOW - WEEK - 3600)), ('to', when(NOW + 60)), *query])
        status, a = self.web.json(f'/api/v1/{what}?{text}')
        return [(r['node'], r['time'] > when(NOW - 86400)) for r in reversed(a[what])] if status == 200 else a

    def same(self, sentence, query, want):
        for what in ('requests', 'events'):
            got = self.rows(what, query)
            self.c.ok(f'{what}: {sentence}', sorted(got) == sorted(want), got)

    def run(self, *words, text=None):
        with tempfile.NamedTemporaryFile('w', suffix='.json') as f:
            if text is not None:
                f.write(text)
                f.flush()
                os.chmod(f.name, 0o644)
                words = ('inventory', f.name)
            done = subprocess.run([COLLECTOR, '--database', self.db.conninfo('seismo'), *(['--user', 'postgres'] if os.geteuid() == 0 else []), *words], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def check_filters(a):
    a.same('what happened in a rack is of those that stood there then', [('tag', 'rack=a')], [('web-1', False)])
    a.same('and of the other rack of those that stand there since', [('tag', 'rack=b')], [('web-1', True), ('web-2', False), ('web-2', True)])
    a.same('one of several will do', [('tag', 'rack=a'), ('tag', 'rack=b')], [('web-1', False), ('web-1', True), ('web-2', False), ('web-2', True)])
    a.same('what is not wanted is left out', [('tag', '!rack=b')], [('web-1', False), ('db-1', False), ('db-1', True)])
    a.same('those without a tag can be asked for', [('tag', '-')], [('db-1', False), ('db-1', True)])
    a.same('and left out', [('tag', '!-')], [('web-1', False), ('web-1', True), ('web-2', False), ('web-2', True)])
    a.same('a tag that nobody has finds nothing', [('tag', 'rack=c')], [])
    a.same('filters are joined', [('tag', 'rack=b'), ('node', 'web-2')], [('web-2', False), ('web-2', True)])
    f = a.web.json(f'/api/v1/requests/facets?from={when(NOW - WEEK - 3600)}')[1]['facets']['tag']
    a.c.ok('rows are counted by what their node was then', f == [{'value': 'rack=b', 'count': 3}, {'value': '-', 'count': 2}, {'value': 'rack=a', 'count': 1}], f)
    g = a.web.json(f'/api/v1/requests/groups?from={when(NOW - WEEK - 3600)}&tag=rack=a')[1]
    a.c.ok('groups know the filter, too', sum(x['count'] for x in g['groups']) == 1, g)
    n = a.web.json('/api/v1/requests/count?' + urllib.parse.urlencode([('from', when(NOW - WEEK - 3600)), ('tag', '!rack=b')]))[1]
    a.c.ok('so does the count', n['count'] == 3, n)


def check_nodes(a):
    def names(q):
        return [n['name'] for n in a.web.json(f'/api/v1/nodes?{q}')[1]['nodes']]
    a.c.ok('nodes are found by what they are now', (names('tag=rack=b'), names('tag=rack=a'), names('tag=-')) == (['web-1', 'web-2'], [], ['db-1']))
    a.c.ok('each node is listed with its tags', [n['tags'] for n in a.web.json('/api/v1/nodes?tag=rack=b')[1]['nodes']] == [{'rack': 'b'}, {'rack': 'b'}])
    a.c.ok('what a node was at a moment can be asked', [a.web.json(f'/api/v1/tags?node=web-1&at={when(t)}')[1]['tagged'] for t in (NOW - 3 * WEEK, NOW - WEEK, NOW)] ==
           [[], [{'kind': 'node', 'entity': '', 'tags': {'rack': 'a'}}], [{'kind': 'node', 'entity': '', 'tags': {'rack': 'b'}}]])


def check_commands(a):
    r = a.run('node', 'tag', 'web-2', '--since', when(NOW - 3 * WEEK), 'rack=a', 'role=web')
    a.c.ok('a tag can begin in the past', r[0] == 0, r)
    a.same('and replaces what was said of the time since', [('tag', 'rack=a')], [('web-1', False), ('web-2', False), ('web-2', True)])
    for words, said in ((('web-2', '--since', when(NOW + 3600), 'rack=z'), 'cannot begin in the future'), (('web-2', '--since', 'soon', 'rack=z'), 'soon'), (('nobody', 'rack=z'), 'there is no node nobody'),
                        (('web-2', 'rack'), 'is not tag=value'), (('web-2', 'a b=c'), 'tag')):
        r = a.run('node', 'tag', *words)
        a.c.ok(f'{" ".join(words)} is refused, and it is said why', r[0] != 0 and said in r[1], r)
    a.c.ok('what was refused changed nothing', a.db.sql("select count(*) from tag where value = 'z' or key = 'a b'") == '0')


def check_inventory(a):
    want = {'nodes': {'web-1': {'tags': {'az': 'eu-1a', 'rack': 'b'}}, 'db-1': {'tags': {'az': 'eu-1b'}, 'entities': {'disk/sda': {'array': 'san-1'}, 'disk/sdz': {'array': 'san-1'}}}, 'later': {'tags': {'az': 'x'}}}}
    r = a.run(text=json.dumps(want))
    a.c.ok('an inventory is applied, and each change is printed', r[0] == 0 and 'web-1 is az=eu-1a' in r[1] and 'db-1 disk/sda is array=san-1' in r[1], r)
    a.c.ok('unknown nodes and entities are printed', 'later is not known' in r[1] and 'db-1 has no disk/sdz' in r[1], r)
    r = a.run(text=json.dumps(want))
    a.c.ok('a tag that is set already is not printed again', r[0] == 0 and ' is az=' not in r[1] and 'no more' not in r[1], r)
    t = a.web.json('/api/v1/tags?node=db-1')[1]['tagged']
    a.c.ok('an entity has tags of its own', t == [{'kind': 'node', 'entity': '', 'tags': {'az': 'eu-1b'}}, {'kind': 'disk', 'entity': 'sda', 'tags': {'array': 'san-1'}}], t)
    del want['nodes']['db-1'], want['nodes']['later']
    r = a.run(text=json.dumps(want))
    a.c.ok('what it says no more is over', r[0] == 0 and 'db-1 is no more az=eu-1b' in r[1] and 'db-1 disk/sda is no more array=san-1' in r[1], r)
    a.c.ok('what a command said stays', a.web.json('/api/v1/tags?node=web-2')[1]['tagged'][0]['tags'] == {'rack': 'a', 'role': 'web'})
    for text, said in (('{"nodes": {"web-1": ', 'json'), ('[]', 'nodes'), ('{"nodes":{"web-1":{"tags":[1]}}}', 'web-1'), ('', 'empty'), ('\0', 'not text'),
                       (json.dumps({'nodes': {'web-1': {'tags': {'k': 'v' * 200}}}}), 'tag')):
        r = a.run(text=text)
        a.c.ok(f'{text[:30]!r} is refused, and it is said why', r[0] != 0 and said in r[1], r)
    a.c.ok('and changes nothing', a.web.json('/api/v1/tags?node=web-1')[1]['tagged'][0]['tags'] == {'az': 'eu-1a', 'rack': 'b'})
    a.c.ok('the web cannot tag', a.db.refuses("select set_tag(11, 0, 'a', 'b', now(), 'x')") and a.db.refuses("insert into tag values (1)"))


def check(c, db, web):
    a = Asked(c, db, web)
    check_filters(a)
    check_nodes(a)
    check_commands(a)
    check_inventory(a)


if __name__ == '__main__':
    sys.exit(check_api(fill, check))
