#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The profile: sums of a range by pair of stacks, beside another range, as JSON and as folded text, bounded."""
import sys
import time
import urllib.parse

sys.dont_write_bytecode = True
from webtest import check_api  # noqa: E402

BEGIN = int(time.time()) // 3600 * 3600 - 7200
FORM = '%Y-%m-%dT%H:%M:%SZ'


def when(begin=BEGIN, end=BEGIN + 600, prefix=''):
    return '&'.join(f'{prefix}{name}={time.strftime(FORM, time.gmtime(t))}' for name, t in (('from', begin), ('to', end)))


def fill(db):
    db.sql(f"""
        insert into region values (1, 'home');
        insert into node (node_id, region_id, name) values (11, 1, 'web-1'), (12, 1, 'web-2');
        select ensure_partitions(1, 1);
        insert into stack values (1, '{{burn;it (a),serve (a),main (a)}}', 2, now()), (2, '{{ext4_read,vfs_read}}', 0, now()),
            (3, '{{read (libc.so.6)}}', 3, now());
        insert into profile values
            (to_timestamp({BEGIN}), 11, 'a', 50000, '{{0,2}}', '{{1,3}}', '{{10,4}}'),
            (to_timestamp({BEGIN}), 11, 'a', 50000, '{{0}}', '{{1}}', '{{2}}'),
            (to_timestamp({BEGIN + 60}), 12, 'a', 100000, '{{0,0}}', '{{1,0}}', '{{1,3}}'),
            (to_timestamp({BEGIN + 60}), 12, 'b', 50000, '{{0}}', '{{99}}', '{{5}}'),
            (to_timestamp({BEGIN + 600}), 11, 'a', 50000, '{{0,2}}', '{{1,1}}', '{{8,1}}');""")


def stack(s):
    return (s['user'], s['kernel'], s['cut'], s['samples'], s['ms'])


def check_sums(c, web):
    a = web.json(f'/api/v1/profile?{when()}&app=a')[1]
    c.ok('samples of one pair add up over minutes and nodes, in CPU time', [stack(s) for s in a['stacks']] == [
        (['burn;it (a)', 'serve (a)', 'main (a)'], [], False, 13, 700),
        ([], [], False, 3, 300),
        (['read (libc.so.6)'], ['ext4_read', 'vfs_read'], True, 4, 200)], a['stacks'])
    c.ok('and all of them', (a['samples'], a['ms'], a['otherSamples'], a['baseMs']) == (20, 1200, 0, None), a)
    a = web.json(f'/api/v1/profile?{when()}&node=web-2')[1]
    c.ok('of one node only its own', (a['samples'], a['ms']) == (9, 650), a)
    c.ok('a stack that was never sent is unknown', [None] == [s['user'] for s in a['stacks'] if s['samples'] == 5], a['stacks'])
    a = web.json(f'/api/v1/profile?{when(BEGIN + 3600, BEGIN + 7200)}')[1]
    c.ok('of a time without samples nothing', a['samples'] == 0 and a['stacks'] == [], a)


def check_base(c, web):
    a = web.json(f"/api/v1/profile?{when(BEGIN + 600, BEGIN + 660)}&node=web-1&{when(prefix='base_')}")[1]
    got = {(tuple(s['user']), bool(s['kernel'])): (s['ms'], s['baseMs']) for s in a['stacks']}
    c.ok('beside the range stands the other one', got == {
        (('burn;it (a)', 'serve (a)', 'main (a)'), False): (400, 600), (('burn;it (a)', 'serve (a)', 'main (a)'), True): (50, 0),
        (('read (libc.so.6)',), True): (0, 200)}, got)
    c.ok('with its own sum', (a['ms'], a['baseMs'], a['baseSamples'], a['otherBaseMs']) == (450, 800, 16, 0), a)


def check_folded(c, web):
    status, headers, body = web.ask(f'/api/v1/profile.folded?{when()}&app=a')
    c.ok('as text each stack is a line, the outermost function first', body.decode().splitlines() == [
        'main (a);serve (a);burn:it (a) 13', 'read (libc.so.6);vfs_read_[k];ext4_read_[k] 4', '(unknown) 3'], body)
    c.ok('it is a file to be kept', status == 200 and headers['content-type'].startswith('text/plain') and 'seismo-profile-' in headers['content-disposition'], headers)


def check_limits(c, db, web):
    for bad in ('node=a&node=b', 'base_from=yesterday', 'route=/'):
        c.ok(f'{bad} is refused', web.json(f'/api/v1/profile?{when()}&{bad}')[0] == 400)
    for text in ("'; drop table profile; --", '%', 'a%'):
        a = web.json(f'/api/v1/profile?{when()}&app={urllib.parse.quote(text)}')
        c.ok(f'app={text!r} is only a text', a[0] == 200 and a[1]['stacks'] == [], a)
    db.sql(f"""insert into profile select to_timestamp({BEGIN}), 12, 'wide', 50000, array_fill(0::bigint, array[100]),
        array(select (i * 100 + k)::bigint + 1000 from generate_series(1, 100) k), array_fill(1, array[100]) from generate_series(1, 60) i""")
    a = web.json(f'/api/v1/profile?{when()}&app=wide')[1]
    c.ok('of six thousand stacks five thousand are listed, with the sum of the rest',
         (len(a['stacks']), a['samples'], a['otherSamples'], a['otherMs']) == (5000, 6000, 1000, 50000), (len(a['stacks']), a['samples'], a['otherSamples']))
    text = web.ask(f'/api/v1/profile.folded?{when()}&app=wide')[2].decode().splitlines()
    c.ok('also as text', text == ['(unknown) 5000', '(other) 1000'], text[:3])


def check(c, db, web):
    check_sums(c, web)
    check_base(c, web)
    check_folded(c, web)
    check_limits(c, db, web)


if __name__ == '__main__':
    sys.exit(check_api(fill, check))
