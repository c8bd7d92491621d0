# SPDX-License-Identifier: Apache-2.0
"""What trace.sh runs.

serve PORT NEXT ELSEWHERE: an application, a thread for each connection, each with connections of its own to whom it calls,
which it uses again. /x/N it asks of ELSEWHERE, all else of NEXT: /w/N by another path, /e/N by another, with the X-Request-Id
that it was asked with, and to fail at once, /q/N after 60 ms of its own, at once.

judge WEB NODE PREFIX MOST HOST...: of at most so many rows of NODE whose path begins so, each a trace: how many there are, how
many are whole (a row of each HOST, in order, all of the same number) and right, and how many have a row of another number.
"""
import http.client
import http.server
import json
import sys
import time
import urllib.parse
import urllib.request


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        self.to = {}

    def call(self, addr, path, headers):
        c = self.to.get(addr)
        if c is None:
            c = self.to[addr] = http.client.HTTPConnection(addr, timeout=20)
        c.request('GET', path, headers=headers)
        answer = c.getresponse()
        answer.read()
        return answer.status

    def do_GET(self):
        kind, number = self.path[:3], self.path.split('?')[0][3:]
        if kind == '/q/':
            time.sleep(0.06)  # time: how long its answer takes
        path = {'/w/': f'/stock/{number}?d=60', '/e/': f'/fail/{number}?s=500', '/q/': '/q/' + number}.get(kind, self.path)
        headers = {'X-Request-Id': self.headers['X-Request-Id']} if kind == '/e/' else {}
        status = self.call(sys.argv[4 if kind == '/x/' else 3], path, headers)
        self.wfile.write(b'HTTP/1.1 %d OK\r\nContent-Length: 2\r\n\r\nok' % status)

    def log_message(self, *_):
        pass


def get(web, path):
    with urllib.request.urlopen(f'http://{web}/api/v1/{path}', timeout=60) as answer:
        return json.load(answer)


def rows(web, node, prefix, most):
    q, found, cursor = urllib.parse.urlencode({'node': node, 'q': f'GET {prefix}', 'limit': 1000}), [], ''
    while cursor is not None:
        page = get(web, f'requests?{q}{cursor}')
        found += [r for r in page['requests'] if r['path'].startswith(prefix)]
        cursor = page['next'] and f'&cursor={page["next"]}'
    return found[::max(1, len(found) // most)][:most]


def number(path):
    return path.split('?')[0].rsplit('/', 1)[-1]


def judge(web, node, prefix, most, *hosts):
    whole = wrong = 0
    sampled = rows(web, node, prefix, int(most))
    for r in sampled:
        hops = get(web, f'requests/{r["id"]}/trace')['hops']
        known = [(h['node'], number(h['request'])) for h in hops if h['id']]
        good = known == [(host, number(r['path'])) for host in hosts]
        bad = any(n != number(r['path']) for _, n in known)
        whole += good
        wrong += bad
        if not good or bad:
            print(r['path'], [(h['node'], h['request'], h['silence']) for h in hops], file=sys.stderr)
    print(len(sampled), whole, wrong)


if sys.argv[1] == 'serve':
    server = http.server.ThreadingHTTPServer(('', int(sys.argv[2])), Handler)
    server.daemon_threads = True
    server.serve_forever()
else:
    judge(*sys.argv[2:])
