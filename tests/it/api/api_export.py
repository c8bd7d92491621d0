#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Export as CSV and NDJSON: the rows of the list, nothing a spreadsheet would run, and an end that says when there is more."""
import calendar
import csv
import io
import json
import re
import sys
import time

sys.dont_write_bytecode = True
from api_explore import BEGIN, ROWS, WHEN, count, fill, insert  # noqa: E402
from webtest import check_api  # noqa: E402

HEADER = ('id time end region node app pid comm remoteAddr upstreamAddr method path route status requestTime queueTime totalTime upstreamResponseTime normalTime'
          ' limitTime timesNormal bytesIn bytesOut upstreamTries retransmits flags reason reasonText diagnosis').split()
ODD = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '=HYPERLINK("http://e.example","x")', 'a,b', 'say "x"', 'two\nlines', "'=x", ' =x', '上游,=x', 'a\r\nb', '-']


OF_LISTS = ('remotePlace', 'upstreamPlace', 'incident')  # what is looked up of a page's rows, and of no file's


def listed(web, query):
    rows, cursor = [], ''
    while True:
        page = web.json(f'/api/v1/requests?{WHEN}&{query}&limit=1000{cursor}')[1]
        rows += [{k: v for k, v in r.items() if k not in OF_LISTS} for r in page['requests']]
        if not page['next']:
            return rows
        cursor = '&cursor=' + page['next']


def table(web, query):
    status, headers, body = web.ask(f'/api/v1/requests.csv?{WHEN}&{query}')
    return headers, body.decode(), list(csv.reader(io.StringIO(body.decode(), newline=''), strict=True))


def text(value):
    return '' if value is None else ' '.join(value) if isinstance(value, list) else str(value)


def same_number(cell, value):
    return (cell == '') == (value is None) and (value is None or float(cell) == value)


def check_rows(c, db, web):
    for query in ('app=nginx', 'status=5xx&status=!502&node=web-1', 'upstream=10.0.0.&reason=up.slow', 'route=!/r/1&route=!/r/2', 'q=/item/7%20'):
        rows = listed(web, query)
        status, headers, body = web.ask(f'/api/v1/requests.ndjson?{WHEN}&{query}')
        c.ok(f'{query}: the lines are the rows of the list', status == 200 and [json.loads(line) for line in body.decode().split('\n')[:-1]] == rows, len(rows))
        headers, raw, cells = table(web, query)
        c.ok(f'{query}: the table has a header and as many rows', cells[0] == HEADER and len(cells) == len(rows) + 1 and len(rows) > 10, len(cells))
        c.ok(f'{query}: every line ends as RFC 4180 wants', raw.count('\r\n') == len(cells) and raw.count('\n') == len(cells) and raw.endswith('\r\n'))
        for name in ('id', 'time', 'end', 'region', 'node', 'app', 'remoteAddr', 'upstreamAddr', 'method', 'path', 'route', 'flags', 'diagnosis'):
            i = HEADER.index(name)
            c.ok(f'{query}: the column {name} is that of the list', [r[i] for r in cells[1:]] == [text(r[name]) for r in rows], cells[1][i])
        for name in ('status', 'requestTime', 'totalTime', 'upstreamResponseTime', 'timesNormal', 'pid', 'bytesOut'):
            i = HEADER.index(name)
            c.ok(f'{query}: the numbers of {name} are those of the list', all(same_number(r[i], x[name]) for r, x in zip(cells[1:], rows)), cells[1][i])
        c.ok(f'{query}: reason and sentence too', all(r[26:28] == [x['reason']['code'], x['reason']['text']['en']] for r, x in zip(cells[1:], rows)), cells[1])
    c.ok('all of it is what SQL counts', len(table(web, '')[2]) - 1 == ROWS == count(db, 'true'))


def check_cells(c, db, web):
    for i, odd in enumerate(ODD):
        quoted = "E'" + odd.replace('\\', '\\\\').replace("'", "\\'").replace('\n', '\\n').replace('\r', '\\r').replace('\t', '\\t') + "'"
        db.sql(insert(1, 10 ** 6 + i, {'app': "'odd'", 'path': quoted, 'comm': quoted, 'route': quoted}))
    _, raw, cells = table(web, 'app=odd')
    c.ok('odd cells break no row', len(cells) == len(ODD) + 1 and all(len(r) == len(HEADER) for r in cells), len(cells))
    for name in ('path', 'comm', 'route'):
        got = sorted(r[HEADER.index(name)] for r in cells[1:])
        c.ok(f'what begins like a formula begins with an apostrophe in {name}', got == sorted(("'" if o[0] in '=+-@\t\r' else '') + o for o in ODD), got)
    c.ok('no cell begins a formula', not any(cell and cell[0] in '=+-@\t\r' for r in cells for cell in r))
    lines = web.ask(f'/api/v1/requests.ndjson?{WHEN}&app=odd')[2].decode().split('\n')[:-1]
    c.ok('in JSON every text is as it is', sorted(json.loads(line)['path'] for line in lines) == sorted(ODD), lines[:2])


def check_headers(c, web):
    for form, kind in (('csv', 'text/csv'), ('ndjson', 'application/x-ndjson')):
        path = f'/api/v1/requests.{form}?{WHEN}&app=api'
        status, h, body = web.ask(path)
        name = re.fullmatch(rf'attachment; filename="seismo-requests-(\d{{8}}T\d{{6}}Z)\.{form}"', h.get('content-disposition', ''))
        c.ok(f'{form} is a file with a date in its name', name and abs(time.time() - calendar.timegm(time.strptime(name[1], '%Y%m%dT%H%M%SZ'))) < 60, h)
        c.ok(f'{form} has its type, and is not sniffed or kept', h['content-type'].startswith(kind) and h['x-content-type-options'] == 'nosniff' and h['cache-control'] == 'no-store', h)
        c.ok(f'{form} that is whole says nothing of a cut', 'seismo-cut' not in h)
        status, head, none = web.ask(path, method='HEAD')
        c.ok(f'HEAD of {form} is the same without a body', status == 200 and none == b'' and head['content-length'] == str(len(body)), head)
        for query, param in (('status=x', 'status'), ('limit=10', 'limit'), ('cursor=1-2', 'cursor'), ('from=x', 'from')):
            status, h, body = web.ask(f'/api/v1/requests.{form}?{query}')
            c.ok(f'{form}?{query} is refused by name, as JSON', status == 400 and param in json.loads(body)['error']['message']
                 and h['content-type'].startswith('application/json') and 'content-disposition' not in h, body)
        empty = web.ask(f'/api/v1/requests.{form}?from=2001-01-01T00:00:00Z&to=2001-01-02T00:00:00Z')[2].decode()
        c.ok(f'nothing found is an empty {form}', empty == (','.join(HEADER) + '\r\n' if form == 'csv' else ''), empty)
    c.ok('another form is not there', web.ask('/api/v1/requests.xlsx')[0] == 404)


def check_cut(c, db, web):
    db.sql(insert(10000, 3 * 10 ** 6, {'ts': f"to_timestamp({BEGIN + 60}) + i * interval '0.5 s'", 'app': "'many'"}))
    headers, raw, cells = table(web, 'app=many')
    c.ok('ten thousand rows are whole', len(cells) == 10001 and 'seismo-cut' not in headers and cells[-1][5] == 'many', len(cells))
    db.sql(insert(1, 4 * 10 ** 6, {'ts': f'to_timestamp({BEGIN})', 'app': "'many'"}))
    oldest = json.loads(db.sql("select body from api.request where app = 'many' order by ts limit 1"))['id']
    began = time.monotonic()
    headers, raw, cells = table(web, 'app=many')
    c.ok('of one more the newest ten thousand, a last line and a header that say so',
         len(cells) == 10002 and cells[-1][0].startswith('Cut: ') and len(cells[-1]) == len(HEADER) and set(cells[-1][1:]) == {''} and headers.get('seismo-cut') == '10000', cells[-1])
    c.ok('the oldest is what is missing', oldest not in [r[0] for r in cells], oldest)
    status, h, body = web.ask(f'/api/v1/requests.ndjson?{WHEN}&app=many')
    lines = body.decode().split('\n')
    c.ok('so do the lines of JSON', len(lines) == 10002 and json.loads(lines[-2])['cut'] == 10000 and json.loads(lines[-3])['app'] == 'many' and h.get('seismo-cut') == '10000', lines[-2])
    c.ok('both in less than what one may take', time.monotonic() - began < 15, time.monotonic() - began)
    db.sql(insert(90000, 5 * 10 ** 6, {'app': "'bulk'"}))
    _, _, cells = table(web, '')
    c.ok('ten thousand of a hundred thousand come in time', len(cells) == 10002, cells)


def check(c, db, web):
    check_rows(c, db, web)
    check_cells(c, db, web)
    check_headers(c, web)
    check_cut(c, db, web)


if __name__ == '__main__':
    sys.exit(check_api(fill, check))
