#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the time went, evidence, events and parts over the API: what is not known, what is out of bounds, filters, pages."""
import sys
import time
import urllib.parse

sys.dont_write_bytecode = True
from api import ROWS, request  # noqa: E402
from webtest import check_api, pages  # noqa: E402

TOP = 2 ** 63 - 1
UPDATE = 'told'  # the API's name for the number of a report of an event, from 1
MORE = '''
insert into part values (1, 0, 'queue', 'arrived, not yet read', 'q'), (3, 2, 'cpu', 'on a CPU', 'c'), (6, 1, 'io', 'block I/O', 'i');
insert into reason values (7, 'net.loss', 'lost', 'lost'), (22, 'lock', 'lock', 'lock'), (27, 'io.slow', '{comm}: {ms}', '{comm}');
insert into checks values (5, '["net.loss"]', '[{"code":"lock","why":"no \\"futex\\" <here>"}]', now()), (6, '[]', '[]', now());
insert into stack values (77, '{do_fsync+0x1a,main+0x2}', 3, now()), (78, '{}', 0, now());
'''


def event(n, ts="now() - interval '1 minute'", node=11, kind='io.slow', severity=2, us=250000, reason=27, params='{"comm": "c", "ms": 1}'):
    return (f"insert into event values ({ts}, {node}, {n}, now(), '{kind}', {severity}, 7, 8, 'py', {us}, 100000, {reason}, '{params}');\n")


def block(owner, place, ts='now()', start=1500, us=900, part=6, what='/a', stack='77'):
    return f"insert into evidence values ({ts}, 11, {owner}, {place}, {start}, {us}, {part}, 7, 8, 'c', 'fsync', '{what}', '', {stack});\n"


def check_request(c, db, web):
    at = "timestamptz '" + db.sql("select now() - interval '2 minutes'") + "'"
    db.sql(request(101, at, app='whole') + request(102, at, app='odd') + request(103, at, app='first', flags=64, params='{"first_ms": 60.5}')
           + request(104, at, app='nofirst', flags=64) + request(105, at, app='plain')
           + "update request set shares = '{1,5,1,6,90000,30,3,1,0}', checks_id = 5, losses = '{0,3,2,1,5,9}' where app = 'whole';"
           + f"update request set shares = '{{200,{TOP},{TOP},3,0,7}}', checks_id = 6, losses = '{{9,99,2147483647}}', normal_us = 0 where app = 'odd';"
           + "update request set checks_id = 4711 where app = 'plain';"
           + block(101, 1, at, us=10, part=3, stack='78', what='<b>"x"\\') + block(101, 0, at)
           + block(101, 2, at, start=-TOP, us=TOP, part=255, stack='null') + block(101, 3, at, start=TOP, stack='4711'))
    rows = {r['app']: r for r in web.json('/api/v1/requests?limit=1000')[1]['requests']}
    r = rows['whole']
    c.ok('parts come as they are stored, with their normal', r['shares'] == [
        {'code': 'queue', 'ms': 0.005, 'normal': 0.001}, {'code': 'io', 'ms': 90, 'normal': 0.03}, {'code': 'cpu', 'ms': 0.001, 'normal': 0}], r['shares'])
    c.ok('they add up', abs(sum(s['ms'] for s in r['shares']) - r['totalTime']) < 1e-9, r['totalTime'])
    c.ok('checked are codes', r['checked'] == ['net.loss'], r['checked'])
    c.ok('unchecked have their why', r['unchecked'] == [{'code': 'lock', 'why': 'no "futex" <here>'}], r)
    c.ok('losses have side and kind', r['losses'] == [{'side': 'client', 'kind': 'slow-start', 'count': 2}, {'side': 'upstream', 'kind': 'tlp', 'count': 9}], r)
    o = rows['odd']
    c.ok('a part of a later version has its number, and no normal is null', o['shares'] == [
        {'code': 'part200', 'ms': round(TOP / 1000, 3), 'normal': None}, {'code': 'cpu', 'ms': 0, 'normal': None}], o['shares'])
    c.ok('a side and a kind that are not known are null', o['losses'] == [{'side': None, 'kind': None, 'count': 2147483647}], o)
    c.ok('nothing checked is empty', o['checked'] == [] and o['unchecked'] == [])
    c.ok('a list of checks that is gone hides no row', rows['plain']['checked'] == [] and rows['plain']['shares'] == [])
    c.ok('what was judged by its first byte is times normal by it', rows['first']['timesNormal'] == 2.0, rows['first'])
    c.ok('and null where that is not known', rows['nofirst']['timesNormal'] is None, rows['nofirst'])
    status, one = web.json('/api/v1/requests/' + r['id'])
    e = one.pop('evidence')
    c.ok('one request is that of the list, and evidence', status == 200 and one == dict(r, calls=one['calls'], calledBy=one['calledBy'], ids=one['ids']), one)
    c.ok('evidence is in order', [b['ms'] for b in e[:2]] == [0.9, 0.01] and len(e) == 4, e)
    c.ok('with its stack and how it was taken', (e[0]['stack'], e[0]['stackFlags']) == (['do_fsync+0x1a', 'main+0x2'], ['cut', 'user']), e[0])
    c.ok('an empty stack is one', e[1]['stack'] == [] and e[1]['part'] == 'cpu' and e[1]['what'] == '<b>"x"\\', e[1])
    c.ok('its time is after the request began', e[0]['startTime'] == 1.5 and e[0]['time'] >= r['time'], e[0])
    c.ok('the most absurd block hides none', e[2]['part'] == 'part255' and e[2]['stack'] is None and len(e[2]['time']) == 24, e[2])
    c.ok('a stack that is not there is null', e[3]['stack'] is None and e[3]['stackFlags'] == [], e[3])
    status, one = web.json('/api/v1/requests/' + rows['plain']['id'])
    c.ok('none is an empty list', one['evidence'] == [])
    db.sql('drop table evidence_' + time.strftime('%Y%m%d', time.gmtime(time.time() - 2 * 86400)))
    old = db.sql("select api.id_text(ts, 9) from (select date_trunc('day', now()) - interval '30 hours' as ts) t")
    db.sql(request(9, "date_trunc('day', now()) - interval '30 hours'", app='aged'))
    c.ok('of a day without evidence it is null', web.json('/api/v1/requests/' + old)[1].get('evidence', 0) is None)
    line = web.ask('/api/v1/requests.ndjson?app=whole')[2].decode().strip()
    c.ok('files have the parts, too', '"shares":[{"code":"queue","ms":0.005,"normal":0.001}' in line and 'evidence' not in line, line)


def check_events(c, db, web):
    at = "timestamptz '" + db.sql("select now() - interval '3 minutes'") + "'"
    db.sql(event(1, at) + block(1, 0, at) + event(2, node=12, kind='disk.full', severity=3) + event(3, kind='<x>"', severity=9, reason=4711)
           + event(4, node=99) + event(5, "now() - interval '2 hours'") + event(6, at, kind='absurd', us=TOP, params='{"ms": 1e999}'))
    status, page = web.json('/api/v1/events')
    c.ok('the last hour, newest first', status == 200 and len(page['events']) == 5 and page['next'] is None
         and [e['id'] for e in page['events']] == sorted((e['id'] for e in page['events']), reverse=True), page)
    e = next(e for e in page['events'] if e['kind'] == 'io.slow' and e['evidence'])
    want = {'goingOn': False, 'endSeen': True, UPDATE: None, 'region': 'home', 'node': 'web-1', 'severity': 'warning', 'pid': 7, 'tid': 8, 'comm': 'py', 'ms': 250, 'errorMs': 100,
            'params': {'comm': 'c', 'ms': 1}, 'diagnosis': '/events/' + e['id'],
            'reason': {'code': 'io.slow', 'params': {'comm': 'c', 'ms': 1}, 'text': {'en': 'c: 1', 'zh': 'c'}}}
    for key, value in want.items():
        c.ok(f'{key} is as stored', e.get(key) == value, e.get(key))
    c.ok('end is time and duration', e['end'] > e['time'] and len(e['end']) == 24, e)
    c.ok('evidence is there, with its stack', (e['evidence'][0]['part'], e['evidence'][0]['stack'][0]) == ('io', 'do_fsync+0x1a'), e['evidence'])
    c.ok('its id leads to it', web.json('/api/v1/events/' + e['id']) == (200, e))
    odd = next(e for e in page['events'] if e['kind'] == '<x>"')
    c.ok('what is not known is null, or said to be', odd['severity'] is None and '4711' in odd['reason']['text']['en'] and odd['evidence'] == [], odd)
    for query, n in (('kind=io.slow', 2), ('kind=!io.slow', 3), ('kind=disk.full&kind=absurd', 2), ('kind=io.slow&severity=warning', 2), ('kind=io.slow&severity=!warning', 0), ('severity=absurd', 0), ('node=db-1', 1), ('region=away', 1),
                     ('region=home&kind=io.slow', 1), ('node=!web-1', 2), ("kind='", 0), ('from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z', 0)):
        status, page = web.json('/api/v1/events?' + query)
        c.ok(f'{query} finds {n}', status == 200 and len(page['events']) == n, page)
    for query, name in (('limit=0', 'limit'), ('cursor=x', 'cursor'), ('app=x', 'app'), ('kind=', 'kind')):
        status, answer = web.json('/api/v1/events?' + query)
        c.ok(f'{query} is refused by name', status == 400 and name in answer['error']['message'], answer)
    db.sql(f"insert into event select {at}, 11, 1000 + i, now(), 'page', 1, 1, 1, '', 1, 0, 0, '{{}}' from generate_series(1, 500) i")
    for limit in (1000, 500, 99):
        ids = pages(web, 'events', 'kind=page', limit)
        c.ok(f'500 of one time come once each by {limit}', len(ids) == 500 and len(set(ids)) == 500 and ids == sorted(ids, reverse=True), len(ids))
    status, answer = web.json('/api/v1/events/%x-%016x' % (int((time.time() - 60) * 1e6), 77))
    c.ok('an unknown event is 404', status == 404 and 'event' in answer['error']['message'], answer)
    status, answer = web.json('/api/v1/events/%x-%016x' % (int((time.time() - 40 * 86400) * 1e6), 77))
    c.ok('an old one aged out', status == 410 and answer['error']['message'].startswith('This event aged out'), answer)
    for text in ("'; drop table event; --", '$1', '\\', '{"$ne":1}', "x'||pg_sleep(5)||'"):
        status, page = web.json('/api/v1/events?kind=' + urllib.parse.quote(text))
        c.ok(f'kind={text!r} is only a text', status == 200 and page['events'] == [], page)


def report(n, update, going_on, ts, us=1000, epoch=8, stored='now()'):
    return (f"insert into event values ({ts}, 11, {n}, {stored}, 'lasting', 2, 7, 8, 'py', {us}, 0, 27, '{{}}', {update}, {going_on}, {epoch}, {n}000 + {update});\n"
            + block(n * 1000 + update, 0, ts, us=update * 1000))


def check_lasting(c, db, web):
    at = "timestamptz '" + db.sql("select now() - interval '2 minutes'") + "'"
    alive = "insert into ingest_mark values (11, {}, 1, 1, 0, {}) on conflict (node_id, epoch, stream) do update set updated = excluded.updated;"
    one = lambda: web.json('/api/v1/events?kind=lasting')[1]['events']  # noqa: E731
    db.sql("delete from ingest_mark where node_id = 11; " + alive.format(8, 'now()') + report(7001, 1, 1, at) + report(7001, 2, 1, at, 30000000))
    e = one()[0]
    c.ok('an ongoing event is there once, as last reported', len(one()) == 1 and (e['goingOn'], e['endSeen'], e[UPDATE], e['ms']) == (True, False, 2, 30000), e)
    c.ok('with the evidence of the last report', [b['ms'] for b in e['evidence']] == [2], e['evidence'])
    c.ok('its time is its begin, its end that of the last report', e['end'] > e['time'], e)
    db.sql(alive.format(8, "now() - interval '2 minutes'"))
    c.ok('of a node that is silent it does not go on, and its end was not seen', (one()[0]['goingOn'], one()[0]['endSeen']) == (False, False), one())
    db.sql(alive.format(8, 'now()') + alive.format(9, 'now()'))
    db.sql("update event set stored = now() - interval '10 s' where kind = 'lasting'")
    c.ok('nor when another process has followed the one that reported it', (one()[0]['goingOn'], one()[0]['endSeen']) == (False, False), one())
    db.sql("delete from ingest_mark where epoch = 9; update event set stored = now() - interval '16 minutes' where kind = 'lasting'")
    c.ok('nor when no report of it came for long', (one()[0]['goingOn'], one()[0]['endSeen']) == (False, False), one())
    db.sql(report(7001, 3, 0, at, 31000000))
    c.ok('when it is over that is said', (len(one()), one()[0]['goingOn'], one()[0]['endSeen'], one()[0]['ms']) == (1, False, True, 31000), one())
    c.ok('and its id is the same', one()[0]['id'] == e['id'] and web.json('/api/v1/events/' + e['id'])[1][UPDATE] == 3, one())
    db.sql(f"insert into event select {at}, 11, 9000 + i / 3, now(), 'many', 1, 1, 1, '', 1, 0, 0, '{{}}', 1 + i % 3 from generate_series(0, 899) i")
    for limit in (1000, 99):
        ids = pages(web, 'events', 'kind=many', limit)
        c.ok(f'300 of three reports come once each by {limit}', len(ids) == 300 and len(set(ids)) == 300, len(ids))


def fill(db):
    db.sql(ROWS + MORE)


def check(c, db, web):
    check_request(c, db, web)
    check_events(c, db, web)
    check_lasting(c, db, web)
    status, answer = web.json('/api/v1/parts')
    c.ok('parts are in the order of the bar', [p['code'] for p in answer['parts']] == ['queue', 'io', 'cpu'], answer)
    c.ok('with their texts', answer['parts'][1] == {'code': 'io', 'en': 'block I/O', 'zh': 'i'}, answer)
    c.ok('parts have no parameter', web.json('/api/v1/parts?x=1')[0] == 400)


if __name__ == '__main__':
    sys.exit(check_api(fill, check))
