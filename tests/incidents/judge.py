#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""judge.py DIR FAULTS MIN ALL - what run.sh got of each fault: which hosts its incidents name, and which those rules would that
need nothing but rows: chance, the most abnormal requests, the earliest one, and the sums of RED by hand."""
import collections
import csv
import json
import os
import sys

SLACK_US = 20_000_000  # counts are sent at most this late
COUNT_US = 10_000_000  # precision of an onset that is known from counts only
SAME_DURATION = ('return', 'exception')  # kinds of fault that need statuses, which spans do not carry


def lines(name):
    with open(os.path.join(sys.argv[1], name), encoding='utf-8') as f:
        for line in f:
            yield line.rstrip('\n').split('|')


def played():
    hosts, windows = {}, []
    with open(os.path.join(sys.argv[1], 'played'), encoding='utf-8') as f:
        for word in map(str.split, f):
            if word[0] == 'host':
                hosts[word[2]] = word[1]
            else:
                windows.append((word[1], int(word[2]), int(word[3])))
    return hosts, windows


class Sums:
    """Of RED rows: own and server by key, calls and served by pair of hosts."""

    def __init__(self):
        self.own = collections.defaultdict(lambda: [0, 0])
        self.call = collections.defaultdict(lambda: [0, 0])
        self.served = collections.defaultdict(lambda: [0, 0])

    def add(self, hosts, row):
        node, role, app, route, peer, n, us, excess, judged = row
        other = hosts.get(peer.rsplit(':', 1)[0] if role == 1 else peer)
        if role == 2:
            into, more = self.own[node, app, route], (excess, judged)
        elif role == 1 and other:
            into, more = self.call[node, other], (us, n)
        elif role == 3 and other:
            into, more = self.served[other, node], (us, n)
        else:
            return
        into[0] += more[0]
        into[1] += more[1]


def mean(pair):
    return pair[0] / pair[1] if pair[1] else 0


def by_hand(now, before):
    """Own excess over its usual; an edge by the mean of its calls less what was served, against before; one caller of many slow edges is to blame for all."""
    score, edges = collections.Counter(), collections.defaultdict(dict)
    for key, (excess, judged) in now.own.items():
        score[key[0]] += max(0, excess - judged * mean(before.own[key]))
    for edge, call in now.call.items():
        if before.call[edge][1]:
            way = mean(call) - mean(now.served[edge]) - mean(before.call[edge]) + mean(before.served[edge])
            edges[edge[0]][edge[1]] = way * call[1]
    for caller, way in edges.items():
        slow = [w for w in way.values() if w > 0]
        if len(way) >= 3 and len(slow) >= 0.6 * len(way) and max(slow) <= 0.8 * sum(slow):
            score[caller] += sum(slow)
        else:
            for callee, w in way.items():
                score[callee] += max(0, w)
    return [h for h, v in score.most_common() if v > 0]


def usual(windows, i):
    """The windows of the baseline before the i-th, up to half an hour."""
    out, left = [], 1800e6
    for name, begin, end in reversed(windows[:i]):
        if name == 'baseline' and left > 0:
            out.append((begin + SLACK_US, end))
            left -= end - begin
    return out


def micros(text):
    import datetime
    return datetime.datetime.fromisoformat(text.replace('Z', '+00:00')).timestamp() * 1e6


def named(candidates):
    """In the order in which the console shows them: where calls are not made, durations say little."""
    for ranking in ('calls', 'time'):
        found = [c['node'] or c['address'] for c in candidates if c['ranking'] == ranking]
        if found:
            return found
    return []


class Judge:
    def __init__(self):
        self.hosts, self.windows = played()
        self.red = sorted([int(float(r[0])), r[1], int(r[2]), r[3], r[4], r[5], *map(int, r[6:])] for r in lines('red'))
        self.rows = sorted((int(float(t)), node) for t, node in lines('rows'))
        with open(os.path.join(sys.argv[1], 'incidents'), encoding='utf-8') as f:
            self.incidents = [(micros(i['onset']), i) for i in json.load(f)['incidents']]
        with open(os.path.join(sys.argv[1], 'candidates'), encoding='utf-8') as f:
            self.candidates = json.load(f) or {}
        with open(os.path.join(sys.argv[1], 'asked'), encoding='utf-8') as f:
            self.asked = {name: named(json.loads(text)['candidates']) for name, text in (line.split(' ', 1) for line in f)}

    def sums(self, ranges):
        s = Sums()
        for begin, end in ranges:
            for row in self.red:
                if begin < row[0] <= end:
                    s.add(self.hosts, row[1:])
        return s

    def of_incidents(self, found):
        """Of the one with most of it; candidates are by the number of its id."""
        if not found:
            return []
        best = max(found, key=lambda i: (i.get('first') or {}).get('own', 0) + (i.get('first') or {}).get('edge', 0))
        names = self.candidates.get(str(int(best['id'].rsplit('-', 1)[1], 16)))
        return names or [(best.get('first') or {}).get('node') or '']

    def fault(self, i):
        name, begin, end = self.windows[i]
        rows = [(t, n) for t, n in self.rows if begin <= t < end]
        first = {}
        for t, n in rows:
            first.setdefault(n, t)
        found = [x for t, x in self.incidents if begin - COUNT_US <= t < end and micros(x['opened']) > begin]
        return len(found), {
            'incidents': self.of_incidents(found),
            'asked': self.asked.get(name, []),
            'by hand': by_hand(self.sums([(begin, end + SLACK_US)]), self.sums(usual(self.windows, i))),
            'count': [n for n, _ in collections.Counter(n for _, n in rows).most_common()],
            'earliest': sorted(first, key=first.get),
        }


def share(results, rule, top):
    return sum(host in ranks[rule][:top] for host, _, _, ranks in results) / len(results) if results else 0


def tell_false(judge, t, i):
    before = [(name, t - end) for name, _, end in judge.windows if name != 'baseline' and end <= t]
    after, since = before[-1] if before else ('the begin', t - judge.windows[0][1])
    h = i['headline'] or {}
    print(f'without a fault, {since / 1e6:.0f} s after {after}, opened {(micros(i["opened"]) - t) / 1e6:.0f} s later: {i["text"]["en"]}; '
          f'{h.get("class")} of {h.get("app")} {h.get("route")}, {h.get("count")} by {h.get("excess")} ms')


def print_results(results, judge):
    for title, part in (('faults that change durations', [r for r in results if r[1] not in SAME_DURATION]), ('all faults', results)):
        print(f'{title}: {len(part)}')
        print('  rule        first  among three')
        for rule in ('incidents', 'asked', 'by hand', 'count', 'earliest'):
            print(f'  {rule:<11} {share(part, rule, 1):5.2f}  {share(part, rule, 3):5.2f}')
        n = len(set(judge.hosts.values()))
        print(f'  chance      {1 / n:5.2f}  {min(1, 3 / n):5.2f}')
    free = [(b, e) for name, b, e in judge.windows if name == 'baseline']
    false = [(t, i) for t, i in judge.incidents if any(b <= t < e - (COUNT_US if micros(i['opened']) > e else 0) for b, e in free)]
    for t, i in false:
        tell_false(judge, t, i)
    false = len(false)
    hours = sum(e - b for b, e in free) / 3.6e9
    print(f'incidents per fault {sum(r[2] for r in results) / len(results):.2f}; without a fault {false} in {hours:.1f} h, {false / hours:.2f} an hour')


def main():
    judge = Judge()
    with open(sys.argv[2], encoding='utf-8') as f:
        faults = {row['window']: row for row in csv.DictReader(f)}
    results = []
    for i, (name, _, _) in enumerate(judge.windows):
        if name not in faults:
            continue
        n, ranks = judge.fault(i)
        host, kind = faults[name]['host'], faults[name]['fault']
        results.append((host, kind, n, ranks))
        print(f'{name} {kind:<15} {host:<22} {n} incidents: {" ".join(ranks["incidents"][:3]) or "-"}; asked: {" ".join(ranks["asked"][:3])}; by hand: {" ".join(ranks["by hand"][:3])}')
    if not results:
        sys.exit('no fault was replayed')
    print_results(results, judge)
    slow = [r for r in results if r[1] not in SAME_DURATION]
    rule = os.environ.get('RULE', 'incidents')
    for part, wanted in ((slow, sys.argv[3]), (results, sys.argv[4])):
        for top, least in zip((1, 3), map(float, wanted.split(','))):
            if share(part, rule, top) < least:
                sys.exit(f'{rule}: {share(part, rule, top):.2f} among the first {top}, and {least} is wanted')


main()
