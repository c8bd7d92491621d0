# SPDX-License-Identifier: Apache-2.0
"""rows.py HOST:PORT - asks the API and reads from PostgreSQL's log how long each query took there (see rows.sh)."""
import glob
import http.client
import itertools
import os
import re
import statistics
import subprocess
import sys
import time
import urllib.parse

NAMES = ('node', 'app', 'route', 'status', 'reason')
RARE = {'node': 'rare-node', 'app': 'rare-app', 'route': '/rare/:x', 'status': '418', 'reason': 'bench.rare'}
FREQUENT = {'node': 'web-0', 'app': 'app-1', 'status': '500', 'reason': 'app.error'}  # what the rare rows have besides
TIMES, SAMPLES = int(os.environ.get('TIMES', 5)), int(os.environ.get('SAMPLES', 15))


def sql(text):
    out = subprocess.run(os.environ['PSQL'].split() + ['-c', text], check=True, capture_output=True, text=True).stdout
    return [line.split('|') for line in out.split('\n') if line]


class Log:
    """Of each statement PostgreSQL says how long it was parsed, planned (bind) and executed."""

    def __init__(self):
        self.path = max(glob.glob(os.environ['LOGS'] + '/*.log'), key=os.path.getmtime)
        self.at = os.path.getsize(self.path)

    def take(self, begin):
        """(all, planning) in ms of the last statement that begins so."""
        for _ in range(100):
            with open(self.path, encoding='utf-8', errors='replace') as f:
                f.seek(self.at)
                text = f.read()
            found = re.findall(r'duration: ([0-9.]+) ms  (parse|bind|execute) <unnamed>: ' + begin, text)
            if found and found[-1][1] == 'execute' or 'canceling statement' in text:
                break
            time.sleep(0.02)
        self.at = os.path.getsize(self.path)
        if not found or found[-1][1] != 'execute':
            return 5000.0, 0.0  # given up
        return sum(float(ms) for ms, _ in found[-3:]), sum(float(ms) for ms, what in found[-3:] if what != 'execute')


class Bench:
    def __init__(self, where):
        self.where, self.log = where, Log()
        self.pids = []
        # The last day that has rows: they may be of another day's run.
        self.since, self.until = sql("select to_char(max(ts) at time zone 'UTC' - d, 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') from request, (values (interval '1 day'), (interval '-5 min')) v(d) group by d order by d desc")
        self.since, self.until = self.since[0], self.until[0]

    def processor_ms(self):
        """Of all the web server's sessions, so that it also says something where others keep the machine busy."""
        total = 0
        for pid in self.pids:
            with open(f'/proc/{pid}/schedstat', encoding='utf-8') as f:
                total += int(f.read().split()[0])
        return total / 1e6

    def ask(self, what, values, begin='with page'):
        query = urllib.parse.urlencode({'from': self.since, 'to': self.until, **values})
        before = self.processor_ms()
        c = http.client.HTTPConnection(self.where, timeout=30)
        c.request('GET', f'/api/v1/requests{what}?{query}')
        r = c.getresponse()
        r.read()
        c.close()
        return self.log.take(begin) + (self.processor_ms() - before,)

    def row(self, name, asked, begin='with page', what=''):
        for values in asked[:2]:
            self.ask(what, values, begin)  # the sessions' own caches
        self.pids = [r[0] for r in sql("select pid from pg_stat_activity where usename = 'seismo_web'")]
        took = [self.ask(what, values, begin) for values in asked]
        whole = [t[0] for t in took]
        print(f'| {name} | {statistics.median(whole):.1f} | {statistics.median(t[1] for t in took):.1f} | {max(whole):.1f} | {statistics.median(t[2] for t in took):.1f} |', flush=True)

    def head(self, title):
        print(f'\n| {title} | p50, ms | of it planning | slowest | processor, whole answer, p50 |\n|---|---|---|---|---|')


def pages(b):
    rows = [dict(zip(NAMES, r)) for r in sql(
        f"select node, app, route, status, reason from api.request where ts > '{b.since}' and request_id % 1009 = 0 order by md5(id) limit {SAMPLES}")]
    b.head(f'newest 100 rows of 24 h by (values of {SAMPLES} rows drawn at random)')
    b.row('nothing', [{}] * TIMES)
    for names in [(n,) for n in NAMES] + list(itertools.combinations(NAMES, 2)):
        b.row(' and '.join(names), [{n: r[n] for n in names} for r in rows])
    b.head('by a value with 3 matches')
    for name in NAMES:
        b.row(name, [{name: RARE[name]}] * TIMES)
    for name in NAMES:
        b.row(f'{name} and each of the others', [{name: RARE[name], other: value} for other, value in FREQUENT.items() if other != name] * 2)
    b.row('two frequent values that meet 3 times: node and app', [{'node': 'web-0', 'app': 'app-15'}] * TIMES)
    b.row('two frequent values that never meet: app and route', [{'app': 'app-1', 'route': '/v1/app2/item/:x'}] * TIMES)
    b.row('a status class that nothing has', [{'status': '1xx'}] * TIMES)


def texts(b):
    paths = [r[0] for r in sql(f"select path from request where ts > '{b.since}' and request_id % 1009 = 0 order by md5(path) limit {SAMPLES}")]
    b.head('newest 100 rows of 24 h by text')
    b.row('the last part of a path, one match', [{'q': p.rsplit('/', 1)[1]} for p in paths])
    b.row('six of its digits', [{'q': p.rsplit('/', 1)[1][3:9]} for p in paths])
    b.row('a word with 3 matches', [{'q': 'needle'}] * TIMES)
    b.row('a word that is nowhere', [{'q': 'nowhere-to-be-found'}] * TIMES)
    b.row('a word of a tenth of the rows', [{'q': '/search/'}] * TIMES)
    b.row('a client, `10.0.x.y:`', [{'q': f'10.0.{i * 7 % 190}.{i * 37 % 256}:'} for i in range(TIMES)])
    b.row('a client, `remote=`', [{'remote': f'10.0.{i * 7 % 190}.{i * 37 % 256}'} for i in range(TIMES)])
    b.row('an upstream, `upstream=`', [{'upstream': f'10.201.{i % 30}.{i % 20}'} for i in range(TIMES)])


def counts(b):
    b.head('counts over 24 h')
    b.row('`/count`, everything', [{}] * TIMES, 'with k as', '/count')
    b.row('`/count`, a value with 3 matches', [{'app': RARE['app']}] * TIMES, 'with k as', '/count')
    for what in ('histogram', 'groups', 'facets'):
        b.row(f'`/{what}`, everything (the newest 100,000)', [{}] * TIMES, 'with most', '/' + what)
        b.row(f'`/{what}`, a value with 3 matches', [{'app': RARE['app']}] * TIMES, 'with most', '/' + what)


def main():
    n, size = sql("select count(*), pg_size_pretty(sum(pg_total_relation_size(i.inhrelid))) from request, (select 0) x, pg_inherits i where false union all"
                  " select (select count(*) from request), pg_size_pretty((select sum(pg_total_relation_size(inhrelid)) from pg_inherits where inhparent = 'request'::regclass))")[-1]
    with open('/proc/cpuinfo', encoding='utf-8') as f:
        cpu = re.search(r'model name\s*: (.*)', f.read())[1]
    print(f'### The newest page among {int(n):,} abnormal requests, {time.strftime("%Y-%m-%d", time.gmtime())}\n')
    print(f'Linux {os.uname().release}, {os.cpu_count()} x {cpu}, PostgreSQL {sql("show server_version")[0][0].split()[0]} as `make run` starts it; {size} with indexes. Load average {os.getloadavg()[0]:.1f}.')
    print('Command: `tests/bench/rows.sh`. What PostgreSQL logs for the statement of a page: parsing, planning and executing it, bodies included.')
    b = Bench(sys.argv[1])
    pages(b)
    texts(b)
    counts(b)


main()
