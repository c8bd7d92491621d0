# SPDX-License-Identifier: Apache-2.0
"""split.py WEB DIR - the rows of split.sh against what the servers measured: a line for each server and act, with how many
rows, culprits named, reasons right, the median share of the truth in percent, how many sums right, and of how many."""
import json
import re
import statistics
import sys
import urllib.request

web, place = sys.argv[1:]

# act: the part, the right reasons, the truth in ms of what the server says, what a parameter must look like
ACTS = {
    'sleep': ('sleep', ('sleep',), lambda r: 60, None),
    'burn': ('cpu', ('cpu.own',), lambda r: r['cpu'] / 1e3, None),
    'later': ('cpu', ('cpu.own',), lambda r: 150, None),
    'after': ('cpu', ('cpu.own',), lambda r: 150, None),
    'held': ('cpu', ('cpu.own',), lambda r: 150, None),
    'due': ('sleep', ('sleep',), lambda r: 60, None),
    'fsync': ('io', ('io.block',), lambda r: (r['wall'] - r['cpu'] - r['runq']) / 1e3, ('file', r'/files/ledger\.dat$')),
    'lock': ('lock', ('lock',), lambda r: (r['us'] - r['runq']) / 1e3, ('who', r'\[\d+\]$')),
    'up': ('upstream', ('up.slow',), lambda r: 60, ('addr', r'^127\.0\.0\.1:\d+$')),
    'hog': ('runqueue', ('cpu.wait',), lambda r: r['runq'] / 1e3, ('who', r'^(?!server|node).*\[\d+\]$')),
    'stop': ('queue', ('queue.app',), lambda r: r['away'], None),
}


def ask(path):
    with urllib.request.urlopen(web + path) as r:
        return json.load(r)


def rows():
    cursor = ''
    while cursor is not None:
        page = ask('/api/v1/requests?limit=1000' + (f'&cursor={cursor}' if cursor else ''))
        yield from page['requests']
        cursor = page.get('next')


def truth():
    found = {}
    for kind in ('threaded', 'forking', 'node', 'up'):
        with open(f'{place}/{kind}.log') as f:
            for line in f:
                r = json.loads(line)
                found[r['path'] if kind != 'up' else 'up:' + r['path']] = r
    with open(f'{place}/client.log') as f:
        for line in f:
            path, sent, answered = line.split()
            found.setdefault(path, {})['away'] = (float(answered) - float(sent)) * 1e3
    return found


def is_right(row, ms, codes):
    """Where a busy machine took about as much of its time as what it was asked for (ms), that, or nothing, is the reason."""
    about = ms < 0.6 * row['totalTime']
    return row['reason']['code'] in codes or (about and row['reason']['code'] in ('cpu.wait', 'cpu.own', 'queue.app', 'unknown'))


def add(groups, row, done):
    m = re.fullmatch(r'/([a-z]+)-([a-z]+)/\d+', row['path'])
    if not m or m[2] not in ACTS:
        return
    part, codes, ms_of, culprit = ACTS[m[2]]
    if m[1] == 'nginx' and row['app'] != 'nginx':
        return  # its upstream's own row
    shares = {s['code']: s['ms'] for s in row['shares']}
    g = groups.setdefault((m[1], m[2]), {'n': 0, 'right': 0, 'named': 0, 'sums': 0, 'percent': []})
    g['n'] += 1
    r = done.get(row['path'], {})
    if m[2] != 'stop' and m[1] != 'nginx' and 'wall' not in r:
        return  # the client gave up, and the server has no line for it yet
    ms = ms_of(r)
    right = is_right(row, ms, codes)
    g['right'] += right
    g['sums'] += abs(sum(shares.values()) - row['totalTime']) < 0.0005
    value = str(row['reason']['params'].get(culprit[0])) if culprit else ''
    named = not culprit or row['reason']['code'] not in codes or bool(re.search(culprit[1], value))
    g['named'] += named
    g['percent'].append(100 * shares.get(part, 0) / ms)
    if not right or not named:
        print(row['path'], row['totalTime'], row['reason']['code'], row['reason']['params'], shares, 'truth', ms, file=sys.stderr)


groups, done = {}, truth()
for row in rows():
    add(groups, row, done)
for (kind, act), g in sorted(groups.items()):
    print(kind, act, g['n'], g['named'], g['right'], round(statistics.median(g['percent'])), g['sums'], g['n'])
