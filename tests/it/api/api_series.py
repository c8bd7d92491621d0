#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples in steps: rates, averages, least and most, gaps and histograms, equal to what one works out by hand from the stored samples."""
import json
import struct
import sys
import time
import urllib.parse

sys.dont_write_bytecode = True
from webtest import check_api  # noqa: E402

BEGIN = int(time.time()) // 3600 * 3600 - 7200
SPAN = 3600
FORM = '%Y-%m-%dT%H:%M:%SZ'
SILENT = range(1200, 1500)  # seconds in which nothing came
RESET = 600  # the counter went back: its value is not known at this tick
EDGES = ['16', '32', '64', 'more']
LAYOUTS = {
    7: ('node', ['load1', 'switches_total'], ['threads', 'switches'], [0, 1]),
    8: ('disk', ['disk_read_bytes_total', 'disk_io_now'], ['bytes', 'requests'], [1, 0]),
    9: ('diskio', [f'disk_read_latency_us_{e}' for e in EDGES] + ['disk_errors_total'], ['requests'] * 5, [1] * 5),
    10: ('drop', ['skb_drops_total'], ['packets'], [1]),
    11: ('node', ['oom_killed_processes_total'], ['processes'], [1]),
}
DISKS = 12


def when(begin=BEGIN, end=BEGIN + SPAN):
    return 'from=%s&to=%s' % tuple(time.strftime(FORM, time.gmtime(t)) for t in (begin, end))


def ticks():
    """Every two seconds and a little: (seconds since BEGIN, number of the tick). The first minute is before BEGIN."""
    for i in range(-30, SPAN // 2):
        at = i * 2 + (i % 7) / 100
        if int(at) not in SILENT:
            yield at, i


def load(i):
    return (i % 50) / 4 + (0.1 if i % 9 == 0 else 0)  # 0.1 is no float4


def switches(at, i):
    return None if i * 2 == RESET or at - SILENT.stop in (0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06) else 100 + i % 13


def bucket(i, k):
    return (i + k) % 5 if k < 3 else 0


def sample(at, entity, layout, values):
    return f"(to_timestamp({BEGIN + at:.3f}), 11, {entity}, {layout}, array[{','.join('float8 ' + repr('NaN') if v is None else repr(float(v)) for v in values)}])"


def raw(at, layout, entities, values):
    """As the collector stores them, and as one of before did: a float4 where that is exact, a zero is null."""
    head = f"(to_timestamp({BEGIN + at:.3f}), 11, {layout}, array{entities}::bigint[]"
    if int(at) // 20 % 2:
        return head + f", null, null, raw_bytes(array[{','.join('float8 ' + repr('NaN') if v is None else repr(float(v)) for v in values)}]))"
    single = [v is None or struct.unpack('f', struct.pack('f', v))[0] == v for v in values]
    text = lambda v: "'NaN'" if v is None else repr(float(v)) if v else 'null'  # noqa: E731
    a = ','.join(text(v) if s else 'null' for v, s in zip(values, single))
    b = ','.join('null' if s else text(v) for v, s in zip(values, single))
    return head + f", array[{a}]::float4[], {'null' if all(single) else f'array[{b}]'}::float8[], null)"


def rows():
    for at, i in ticks():
        if i % 3:
            yield sample(at, 1, 7, [load(i), switches(at, i)])
        if i % 10 == 0:  # of the disks every ten seconds
            for d in range(DISKS):
                yield sample(at, 100 + d, 8, [1000 * (d + 1), d])
        yield sample(at, 200, 9, [bucket(i, k) for k in range(4)] + [0])
    for at in (100, 102, 3000):
        yield sample(at, 300, 10, [60])
        yield sample(at, 1, 11, [6])


def raw_rows():
    """What the others are stored as: several entities of a layout in one row."""
    for at, i in ticks():
        if i % 3 == 0:
            yield raw(at, 7, [1], [load(i), switches(at, i)])
        if i % 10 == 5:
            yield raw(at, 8, [100 + d for d in range(DISKS)], [v for d in range(DISKS) for v in (1000 * (d + 1), d)])


def fill(db):
    quoted = lambda names: ','.join(f"'{n}'" for n in names)  # noqa: E731
    text = "insert into region values (1, 'home'); insert into node (node_id, region_id, name) values (11, 1, 'web-1'), (12, 1, 'web-2'); insert into ingest_mark (node_id, epoch, stream, seq) values (11, 1, 2, 1), (12, 1, 2, 1);select ensure_partitions(1, 1); select ensure_hours(4, 1);\n"
    for layout, (kind, names, units, kinds) in LAYOUTS.items():
        text += f"insert into layout values ({layout}, '{kind}', array[{quoted(names)}], array[{quoted(units)}], '{{{','.join(map(str, kinds))}}}');\n"
    text += "insert into entity (node_id, entity_id, kind, name) values (11, 1, 'node', ''), (12, 1, 'node', ''), (11, 200, 'diskio', 'sd0'), (11, 300, 'drop', 'NO_SOCKET');\n"
    text += ''.join(f"insert into entity (node_id, entity_id, kind, name, labels) values (11, {100 + d}, 'disk', 'sd{d}', '{json.dumps({'rack': 'r1'} if d == 3 else {})}');\n" for d in range(DISKS))
    with open('tests/it/collector/raw.sql', encoding='utf-8') as f:
        text += f.read()
    db.sql(text + 'insert into sample values ' + ',\n'.join(rows()) + ';insert into sample_raw values ' + ',\n'.join(raw_rows()) + ';')


def near(a, b):
    return a is b if a is None or b is None else abs(a - b) <= 1e-8 * max(1, abs(b))


def same(seen, want):
    return len(seen) == len(want) and all(near(a, b) for a, b in zip(seen, want))


def steps_of(step, of):
    """What lies in each step: lists of (seconds, value)."""
    out = [[] for _ in range(SPAN // step)]
    for at, i in ticks():
        if at >= 0:
            out[int(at // step)].append((at, of(at, i)))
    return out


def rates(step):
    """As docs/reference/api.md says it."""
    before = [at for at, i in ticks() if at < 0][-1]
    for found in steps_of(step, switches):
        known = [v for _, v in found if v is not None]
        if known and len(known) == len(found):
            yield sum(known) / (found[-1][0] - before)
        else:
            yield sum(known) / ((found[-1][0] - found[0][0]) / (len(found) - 1) * len(known)) if known and len(found) > 1 else None
        before = found[-1][0] if found else before


def ask(web, query, status=200):
    got = web.json('/api/v1/series/columns?' + query)
    return got[1] if got[0] == status else {'series': [], 'error': {'message': ''}, **got[1], 'status': got[0]}


def check_values(c, web):
    for step in (6, 10, 60, 600):
        a = ask(web, f'{when()}&node=web-1&metric=load1,switches_total&step={step}')
        c.ok(f'by {step} s the range is whole steps', (a.get('step'), a.get('from'), a.get('to')) ==
             (step, time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(BEGIN)), time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(BEGIN + SPAN))), str(a)[:200])
        one = {s['metric']: s for s in a['series']}
        c.ok('a series for each metric', sorted(one) == ['load1', 'switches_total'], list(one))
        loads = [[v for _, v in found] for found in steps_of(step, lambda at, i: load(i))]
        for name, of in (('values', lambda v: sum(v) / len(v)), ('min', min), ('max', max)):
            c.ok(f'by {step} s the {name} of a gauge are those of its samples, null where there are none',
                 same(one['load1'].get(name, []), [of(v) if v else None for v in loads]), one['load1'].get(name, [])[:12])
        c.ok(f'by {step} s a counter is what was added by the time it was added in', same(one['switches_total']['values'], list(rates(step))),
             [(n, a, b) for n, (a, b) in enumerate(zip(one['switches_total']['values'], rates(step))) if not near(a, b)][:3])
        c.ok('no rate is above its most or below its least', all(v is None or low - 1e-6 <= v <= high + 1e-6 for v, low, high in
             zip(*(one['switches_total'][k] for k in ('values', 'min', 'max')))))
        c.ok('kind and unit are given', [(s['kind'], s['unit'], s['entity'], s['labels']) for s in (one['load1'], one['switches_total'])] ==
             [('gauge', 'threads', '', {'kind': 'node'}), ('rate', 'switches', '', {'kind': 'node'})], one)
    silent = ask(web, f'{when()}&node=web-1&metric=load1&step=60')['series'][0]['values']
    c.ok('a node that was silent is a gap, not a line', [n for n, v in enumerate(silent) if v is None] == list(range(20, 25)), silent)


def check_entities(c, web):
    a = ask(web, f'{when()}&node=web-1&metric=disk_read_bytes_total&step=60')
    c.ok('of many entities the eight that reached the most', [s['entity'] for s in a['series']] == [f'sd{d}' for d in range(11, 3, -1)], [s['entity'] for s in a['series']])
    c.ok('and how many there are', a['cut'] == [{'metric': 'disk_read_bytes_total', 'kind': 'disk', 'shown': 8, 'total': DISKS}], a.get('cut'))
    c.ok('a rate is by second', all(abs(v - 1200) < 3 for v in a['series'][0]['values'][2:4]), a['series'][0]['values'][:5])
    a = ask(web, f'{when()}&node=web-1&metric=disk_*&kind=disk&entity=sd3&step=600&top=1')
    c.ok('one kind and one entity', [(s['metric'], s['entity']) for s in a['series']] == [('disk_io_now', 'sd3'), ('disk_read_bytes_total', 'sd3')] and a['cut'] == [], a)
    a = ask(web, f'{when()}&node=web-1&metric=skb_drops_total&step=60')
    c.ok('a metric that is sent only when it changes is by the whole step', same([v for v in a['series'][0]['values'] if v is not None], [2, 1]) and a['series'][0]['onlyChanges'] is True, a)
    a = ask(web, f'{when()}&node=web-1&metric=oom_killed_processes_total&step=60')
    c.ok('also where that is known by the metric', same([v for v in a['series'][0]['values'] if v is not None], [0.2, 0.1]) and a['series'][0]['onlyChanges'] is True, a)
    names = web.json('/api/v1/series/names?node=web-1')[1]['kinds']
    c.ok('the metrics and entities of a node are listed by kind', [(k['kind'], len(k['metrics']), len(k['entities']), k['total']) for k in names] ==
         [('disk', 2, 12, 12), ('diskio', 5, 1, 1), ('drop', 1, 1, 1), ('node', 3, 1, 1)], names)
    c.ok('with the labels of those that have some', [k['labels'] for k in names] == [{'sd3': {'rack': 'r1'}}, {}, {}, {}], names)
    c.ok('of a node alone', [k['kind'] for k in web.json('/api/v1/series/names?node=web-2')[1]['kinds']] == ['node'])


def check_histograms(c, web):
    for step in (30, 600):
        a = ask(web, f'{when()}&node=web-1&metric=disk_read_latency_us_*&step={step}')
        h = (a['series'] or [{}])[0]
        c.ok('metrics whose names end in numbers are one histogram with its edges', len(a['series']) == 1 and
             (h['kind'], h['edges'], h['edgeUnit'], h['entity'], h['metric']) == ('histogram', [16, 32, 64, None], 'us', 'sd0', 'disk_read_latency_us_*'), a)
        want = [[sum(v[k] for _, v in found) for k in range(4)] if found else None for found in steps_of(step, lambda at, i: [bucket(i, k) for k in range(4)])]
        c.ok(f'by {step} s its buckets count what was stored, null where nothing was', h.get('buckets') == want, h.get('buckets', [])[:3])
    a = ask(web, f'{when()}&node=web-1&metric=disk_*&step=600&kind=diskio')
    c.ok('names of which one ends otherwise are lines', sorted(s['metric'] for s in a['series']) == sorted(LAYOUTS[9][1]) and {s['kind'] for s in a['series']} == {'rate'}, a)


def check_steps(c, web):
    for span, step in ((60, 2), (1200, 2), (1202, 4), (3600, 6), (86400, 300), (30 * 86400, 7200)):
        a = ask(web, f'{when(BEGIN + SPAN - span, BEGIN + SPAN)}&node=web-1&metric=load1')
        c.ok(f'of {span} s there are 600 steps at most', a.get('step') == step and all(len(s['values']) <= 601 for s in a['series']), a.get('step'))
    a = ask(web, f'{when(BEGIN + 61, BEGIN + 3599)}&node=web-1&metric=load1&step=60')
    c.ok('a range that begins within a step has that step', a['from'].endswith(':01:00.000Z') and len(a['series'][0]['values']) == 59, a['from'])
    a = ask(web, 'node=web-1&metric=load1')
    c.ok('the last hour is what is meant', a['step'] == 10 and a['series'] == [], a)


def check_refusals(c, web):
    for query, name in (('node=web-1', 'metric'), ('metric=load1', 'node'), ('metric=&node=web-1', 'metric'), ('metric=a,,b&node=web-1', 'metric'), ('metric=a,&node=web-1', 'metric'),
                        ('metric=' + ','.join(f'm{i}' for i in range(65)) + '&node=a', '1 to 64'), ('metric=' + 'x' * 201 + '&node=a', 'metric'),
                        ('metric=a&node=a&node=b', 'node'), ('metric=a&node=a&step=0', 'step'), ('metric=a&node=a&top=0', 'top'), ('metric=a&node=a&top=201', 'top'),
                        (when() + '&metric=a&node=a&step=1', 'step'), ('metric=a&node=a&what=1', 'what'), ('metric=a&node=a&from=x', 'from'), ('metric=%ff&node=a', 'metric')):
        a = ask(web, query, 400)
        c.ok(f'{query[:60]} is refused by name', 'status' not in a and name in a['error']['message'], a)
    a = web.json('/api/v1/series/names')
    c.ok('names are of a node', a[0] == 400 and 'node' in a[1]['error']['message'], a)
    for text in ("'; drop table sample; --", '{"a"}', '\\', "' or '1'='1", '$1', '*', '%', '!load1', '_*'):
        part = urllib.parse.quote(text)
        for query in (f'node=web-1&metric={part}&kind={part}', f'node={part}&metric=load1', f'node=web-1&metric=load1&entity={part}'):
            a = ask(web, f'{when()}&{query}&step=600')
            c.ok(f'{text!r} is only a text', a['series'] == [] and 'status' not in a, a)


def check_plain(c, web):
    """The older form, which adds up: several metrics there, too."""
    a = web.json(f'/api/v1/series?{when()}&metric=load1,disk_io_now&node=web-1&step=3600&kind=disk')[1]['series']
    c.ok('several metrics, of one kind', {s['metric'] for s in a} == {'disk_io_now'} and len(a) == DISKS, a)
    a = web.json(f'/api/v1/series?{when()}&metric=switches_total&node=web-1&step=3600')[1]['series']
    want = sum(v for found in steps_of(3600, switches) for _, v in found if v is not None)
    c.ok('a counter is still what was added', len(a) == 1 and near(a[0]['points'][0][1], want) and a[0]['kind'] == 'counter', a)


def check_edges(c, db, web):
    top = 1e289
    db.sql(f"insert into sample select to_timestamp({BEGIN + 3000}) + i * interval '2 s', 12, 1, 7, array[float8 '{top}', '{top}'] from generate_series(0, 9) i;"
           f"insert into sample select to_timestamp({BEGIN + 3100}) + i * interval '2 s', 12, 1, 7, array[float8 'Infinity', '-Infinity'] from generate_series(0, 9) i;"
           f"insert into sample select to_timestamp({BEGIN + 3200}), 12, 1, 7, array[-1, 5] from generate_series(0, 9) i")
    a = ask(web, f'{when()}&node=web-2&metric=load1,switches_total&step=100')
    one = {s['metric']: s['values'] for s in a['series']}
    c.ok('the largest numbers break nothing, what is none is null', near(one['load1'][30] / top, 1) and one['load1'][31] is None and one['load1'][32] == -1, a)
    c.ok('nor do ticks at one time', one['switches_total'][31] is None and 'status' not in a, a)
    unlock = db.locked('sample')
    began = time.monotonic()
    status, a = web.json(f'/api/v1/series/columns?{when()}&node=web-1&metric=load1')
    c.ok('what takes more than 5 s is given up', status == 503 and a['error']['code'] == 'too_slow' and time.monotonic() - began < 10, a)
    unlock()


def check(c, db, web):
    check_values(c, web)
    check_entities(c, web)
    check_histograms(c, web)
    check_steps(c, web)
    check_refusals(c, web)
    check_plain(c, web)
    check_edges(c, db, web)


if __name__ == '__main__':
    sys.exit(check_api(fill, check))
