#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The converters of traces: what they write of OpenTelemetry's and of Jaeger's JSON, what they skip and refuse, and that
seismo-replay reads it. The traces are made here, so their requests and calls are known."""
import copy
import csv
import json
import os
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
REPLAY = os.path.join(TOP, os.environ.get('B', 'build'), 'seismo-replay')
T0 = 1_700_000_000_000_000_000
MS = 1_000_000
passed = failed = 0

# name: parent, kind, host, begin and end in ms, route, status
SPANS = {
    'a1': ('', 'server', 'front', 0, 300, '/buy', 200),
    'a2': ('a1', 'internal', 'front', 5, 290, 'handler', None),
    'a3': ('a2', 'client', 'front', 10, 110, 'GET /stock', 200),
    'a4': ('a2', 'client', 'front', 60, 160, 'GET /price', 500),  # overlaps a3: 150 ms in calls
    'a5': ('a3', 'server', 'stock', 12, 108, '/stock', 200),
    'a6': ('a4', 'server', 'price', 62, 158, '/price', 500),
    'a7': ('a5', 'client', 'stock', 20, 100, 'SELECT', None),  # of a database that records nothing
    'a8': ('a5', 'client', 'stock', 21, 99, 'nobody', None),
}
REQUESTS = {('front', '', '/buy', 300000, 150000, 200), ('stock', 'front', '/stock', 96000, 80000, 200), ('price', 'front', '/price', 96000, 0, 500)}
CALLS = {('front', 'stock', 100000, 200), ('front', 'price', 100000, 500), ('stock', 'db-1', 80000, 200)}


def ok(sentence, true, more=''):
    global passed, failed
    passed, failed = passed + bool(true), failed + (not true)
    if not true:
        print(f'FAIL {sentence} {more}')


def otlp():
    def span(id_, s):
        parent, kind, _, begin, end, name, status = s
        attributes = [{'key': 'db.name', 'value': {'stringValue': 'db-1'}}] if id_ == 'a7' else []
        if status:
            attributes.append({'key': 'http.response.status_code', 'value': {'intValue': str(status)}})
        return {'traceId': 't', 'spanId': id_, 'parentSpanId': parent, 'name': name, 'attributes': attributes,
                'kind': {'server': 2, 'client': 'SPAN_KIND_CLIENT', 'internal': 1}[kind],
                'startTimeUnixNano': str(T0 + begin * MS), 'endTimeUnixNano': str(T0 + end * MS)}
    hosts = sorted({s[2] for s in SPANS.values()})
    return {'resourceSpans': [{'resource': {'attributes': [{'key': 'service.name', 'value': {'stringValue': h}}]},
                               'scopeSpans': [{'spans': [span(i, s) for i, s in SPANS.items() if s[2] == h]}]} for h in hosts]}


def jaeger():
    def span(id_, s):
        parent, kind, host, begin, end, name, status = s
        tags = [{'key': 'span.kind', 'type': 'string', 'value': kind}]
        tags += [{'key': 'peer.service', 'value': 'db-1'}] if id_ == 'a7' else []
        tags += [{'key': 'http.status_code', 'type': 'int64', 'value': status}] if status else []
        return {'traceID': 't', 'spanID': id_, 'operationName': name, 'processID': host, 'tags': tags,
                'references': [{'refType': 'CHILD_OF', 'traceID': 't', 'spanID': parent}] if parent else [],
                'startTime': T0 // 1000 + begin * 1000, 'duration': (end - begin) * 1000}
    return {'data': [{'traceID': 't', 'spans': [span(i, s) for i, s in SPANS.items()],
                      'processes': {h: {'serviceName': 'x', 'tags': [{'key': 'hostname', 'value': h}]} for h in {s[2] for s in SPANS.values()}}}]}


def convert(script, text, *more):
    """Exit status, standard error, requests, calls"""
    path = os.path.join(directory, 'in.json')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    out = [os.path.join(directory, f) for f in ('requests.csv', 'calls.csv')]
    for f in out:
        if os.path.exists(f):
            os.unlink(f)
    r = subprocess.run([sys.executable, os.path.join(TOP, 'replay/convert', script), '--requests', out[0], '--calls', out[1], *more, path],
                       capture_output=True, text=True)
    rows = []
    for f in out:
        with open(f, encoding='utf-8') if os.path.exists(f) else open(os.devnull) as lines:
            rows.append(list(csv.DictReader(lines)))
    return r.returncode, r.stderr, rows[0], rows[1]


def requests_of(rows):
    return {(r['host'], r['client_host'], r['operation'], int(r['request_us']), int(r['upstream_us']), int(r['status'])) for r in rows}


def calls_of(rows):
    return {(r['caller_host'], r['callee_host'], int(r['caller_us']), int(r['status'])) for r in rows}


def check_good(script, document):
    text = json.dumps(document)
    status, said, requests, calls = convert(script, text)
    ok(f'{script}: each server span is a request, with the time in its calls', requests_of(requests) == REQUESTS, requests)
    ok(f'{script}: each client span whose callee is known is a call', calls_of(calls) == CALLS, calls)
    ok(f'{script}: a call that names nobody is counted', 'skipped: 1 spans that call nobody' in said, said)
    ok(f'{script}: times are nanoseconds', min(int(r['start_ns']) for r in requests) == T0)
    files = ['--requests', os.path.join(directory, 'requests.csv'), '--calls', os.path.join(directory, 'calls.csv')]
    r = subprocess.run([REPLAY, '--check', *files], capture_output=True, text=True)
    ok(f'{script}: seismo-replay reads it', r.stdout.startswith('6 requests, calls and events\n'), r.stderr)
    ok(f'{script}: and every call belongs to one request', '3: 3 belong to one request' in r.stdout, r.stdout)
    ok(f'{script}: several documents, one a line, are one recording', requests_of(convert(script, '\n'.join([text, '', text]))[2]) == REQUESTS)


def check_bad(script, document):
    for what, text in (('no JSON', 'x{'), ('a list', '[1]'), ('another JSON', '{"a": 1}'), ('nothing', ''),
                       ('spans of another shape', json.dumps(document).replace('"spans": [', '"spans": [5, '))):
        status, said, _, _ = convert(script, text)
        ok(f'{script}: {what} is refused in one line that names the file', status == 1 and len(said.splitlines()) == 1 and 'in.json' in said
           or what == 'nothing' and 'no span' in said, said)


def check_odd():
    document = otlp()
    spans = document['resourceSpans'][0]['scopeSpans'][0]['spans']
    odd = copy.deepcopy(spans[0])
    for i, change in enumerate(({'startTimeUnixNano': '5'}, {'endTimeUnixNano': str(T0 - 1)}, {'startTimeUnixNano': str(10**30)},
                                {'endTimeUnixNano': str(T0 + 10**18)}, {'parentSpanId': f'odd{4}'})):
        spans.append({**odd, 'spanId': f'odd{i}', **change})
    spans.append({**odd, 'spanId': 'odd4'})
    status, said, requests, _ = convert('otlp.py', json.dumps(document))
    ok('times that cannot be are counted by their cause', all(f'skipped: {n} spans {cause}' in said for n, cause in (
        (2, 'that begin at no time'), (1, 'that end before'), (1, 'longer than a day'), (1, 'that were recorded twice'))), said)
    ok('a span that is its own parent does not stop it', status == 0)
    name = 'a "b", c\nd\0' + 'ä' * 200
    document = otlp()
    document['resourceSpans'][0]['scopeSpans'][0]['spans'][0]['name'] = name
    _, _, requests, _ = convert('otlp.py', json.dumps(document))
    r = subprocess.run([REPLAY, '--check', '--requests', os.path.join(directory, 'requests.csv')], capture_output=True, text=True)
    ok('a name with quotes, lines and 400 bytes is read', r.returncode == 0 and any(r['operation'].startswith('a "b", c d') for r in requests), r.stderr)
    _, _, requests, _ = convert('jaeger.py', json.dumps(jaeger()), '--host', 'nothing', '--host', 'service.name')
    ok('--host says which attribute names the host', {r['host'] for r in requests} == {'x'})


with tempfile.TemporaryDirectory() as directory:
    for script, document in (('otlp.py', otlp()), ('jaeger.py', jaeger())):
        check_good(script, document)
        check_bad(script, document)
    check_odd()
print(f'{passed} passed, {failed} failed')
sys.exit(failed > 0)
