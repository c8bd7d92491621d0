#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Coverage: what was lost, on which node and since when; what was not read, of which app; and how many rows there are."""
import sys
import time
import urllib.parse

sys.dont_write_bytecode = True
from webtest import check_api  # noqa: E402

BEGIN = int(time.time()) // 60 * 60 - 1200


def at(second):
    return time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(second))


def fill(db):
    db.sql(f'''
        insert into region values (1, 'home'), (2, 'away');
        insert into node (node_id, region_id, name, version) values (11, 1, 'web-1', '0.1'), (12, 2, 'web-2', '0.1');
        select ensure_partitions(2, 1);
        insert into layout values (7, 'coverage', '{{requests_seen,rows,ring_full,conn_full,client_calls,unread,rows_withheld}}',
                '{{requests,requests,requests,connections,calls,connections,requests}}', '{{1,1,1,1,1,1,1}}'),
            (8, 'coverage', '{{uring_sockets}}', '{{sockets}}', '{{1}}'), (9, 'disk', '{{ring_full}}', '{{requests}}', '{{1}}');
        insert into entity values (11, 1, 'coverage', ''), (12, 1, 'coverage', ''), (11, 2, 'disk', 'sda');
        insert into sample select to_timestamp({BEGIN}) + i * interval '10 s', 11, 1, 7,
            array[100, 5, case when i between 3 and 5 then 7 else 0 end, 0, 40, 9, 0] from generate_series(0, 9) i;
        insert into sample select to_timestamp({BEGIN}) + i * interval '10 s', 12, 1, 7, array[1, 0, 0, 2, 0, 0, 3] from generate_series(0, 1) i;
        insert into sample select to_timestamp({BEGIN}), 12, 1, 8, array[4];
        insert into sample select to_timestamp({BEGIN}), 11, 2, 9, array[1000];
        insert into unread select to_timestamp({BEGIN}) + i * interval '1 min', n, 'nginx', 'tls', 3 from generate_series(0, 1) i, unnest(array[11, 12]) n;
        insert into name_refused values (12, to_timestamp({BEGIN})::date, 'cgroups', 5, to_timestamp({BEGIN + 20}), to_timestamp({BEGIN + 30})),
            (12, to_timestamp({BEGIN})::date, 'programs', 3, to_timestamp({BEGIN + 10}), to_timestamp({BEGIN + 35})),
            (12, to_timestamp({BEGIN})::date - 1, 'programs', 9, to_timestamp({BEGIN - 90000}), to_timestamp({BEGIN - 86400}));
        insert into unread values (to_timestamp({BEGIN}), 11, 'envoy', 'http2', 13), (to_timestamp({BEGIN - 7200}), 11, 'old', 'tls', 99)''')


def check_losses(c, web, range_):
    status, a = web.json(f'/api/v1/coverage?{range_}')
    cover = a.get('coverage') or {}
    c.ok('what was seen adds up', status == 200 and (cover['seen'], cover['withheld'], cover['lost']) == (1002, 6, 21), a)
    want = [{'node': 'web-1', 'name': 'ring_full', 'unit': 'requests', 'count': 21, 'first': at(BEGIN + 30), 'last': at(BEGIN + 50)},
            {'node': 'web-2', 'name': 'names_refused', 'unit': 'names', 'count': 8, 'first': at(BEGIN + 10), 'last': at(BEGIN + 35)},
            {'node': 'web-2', 'name': 'rows_withheld', 'unit': 'requests', 'count': 6, 'first': at(BEGIN), 'last': at(BEGIN + 10)},
            {'node': 'web-2', 'name': 'conn_full', 'unit': 'connections', 'count': 4, 'first': at(BEGIN), 'last': at(BEGIN + 10)},
            {'node': 'web-2', 'name': 'uring_sockets', 'unit': 'sockets', 'count': 4, 'first': at(BEGIN), 'last': at(BEGIN)}]
    c.ok('each loss has its node, from when to when, also one that no console knows', cover['losses'] == want, cover['losses'])
    c.ok('it is the same beside the requests', web.json(f'/api/v1/requests?{range_}')[1]['coverage'] == cover)
    cover = web.json(f'/api/v1/coverage?{range_}&node=web-1')[1]['coverage']
    c.ok('a node narrows it', [x['name'] for x in cover['losses']] == ['ring_full'] and cover['seen'] == 1000, cover)
    cover = web.json(f'/api/v1/coverage?{range_}&region=!home')[1]['coverage']
    c.ok('a region does', len(cover['losses']) == 4 and cover['seen'] == 2, cover)
    later = urllib.parse.urlencode({'from': at(BEGIN + 40), 'to': at(BEGIN + 50)})
    cover = web.json(f'/api/v1/coverage?{later}')[1]['coverage']
    c.ok('a range does', cover['losses'] == [{**want[0], 'count': 7, 'first': at(BEGIN + 40), 'last': at(BEGIN + 40)}], cover)
    cover = web.json('/api/v1/coverage?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z')[1]['coverage']
    none = {'seen': 0, 'stored': 0, 'storedExact': True, 'withheld': 0, 'lost': 0, 'lostBatches': 0, 'losses': [], 'unread': []}
    c.ok('of nothing it is zero', cover == none, cover)
    c.ok('a filter that it does not have is refused', web.json('/api/v1/coverage?app=nginx')[0] == 400)


def check_unread(c, web, range_):
    unread = web.json(f'/api/v1/coverage?{range_}')[1]['coverage']['unread']
    want = [{'app': 'envoy', 'kind': 'http2', 'count': 13, 'nodes': ['web-1'], 'last': at(BEGIN)},
            {'app': 'nginx', 'kind': 'tls', 'count': 12, 'nodes': ['web-1', 'web-2'], 'last': at(BEGIN + 60)}]
    c.ok('what was not read is counted by app and kind, in the range', unread == want, unread)


def check_stored(c, db, web, range_):
    def fill(first, last):
        db.sql(f"insert into request select to_timestamp({BEGIN}), 11, i, now(), 'a', '', 1, 1, null, 0, null, 0, 'GET', '/', '/', 0, 500, 1, 0, null, 0, 0,"
               f" 0, 0, 0, 0, 0, 0, '{{}}', '[]' from generate_series({first}, {last}) i")

    fill(1, 10000)
    cover = web.json(f'/api/v1/coverage?{range_}')[1]['coverage']
    c.ok('ten thousand rows are counted', (cover['stored'], cover['storedExact']) == (10000, True), cover)
    fill(10001, 10002)
    cover = web.json(f'/api/v1/coverage?{range_}')[1]['coverage']
    c.ok('more are not, and it says so', (cover['stored'], cover['storedExact']) == (10001, False), cover)
    db.sql(f"insert into sample select to_timestamp({BEGIN}), 11, 1, 7, array[0, 55555, 0, 0, 0, 0, 0]")
    cover = web.json(f'/api/v1/coverage?{range_}')[1]['coverage']
    c.ok('what the probes sent stands for them', (cover['stored'], cover['storedExact']) == (55605, False), cover)


def check(c, db, web):
    range_ = urllib.parse.urlencode({'from': at(BEGIN), 'to': at(BEGIN + 600)})
    check_losses(c, web, range_)
    check_unread(c, web, range_)
    check_stored(c, db, web, range_)


if __name__ == '__main__':
    sys.exit(check_api(fill, check))
