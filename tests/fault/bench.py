# SPDX-License-Identifier: Apache-2.0
"""bench.py - the fault bench: each cause into each server, what the API says of the requests, and
what was really done to them. Run by run.sh, which starts the stack; tests/fault/RESULTS.md says what came out.

  CELLS="threaded/fsync node/*"  only these     N=110  abnormal requests wanted of each
"""
import datetime
import fnmatch
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import causes
import hosts
import judge
import report
import servers
import truth

WARM = 115  # a route is known after a hundred
STALL_MS = 30


EXTRA = {"none": causes.NoFault, "losses": causes.ManyLost}


class Rig:
    """What all cells share."""

    def __init__(self, build, dir, web):
        self.build, self.dir, self.web = build, dir, web
        self.cpu, self.other_cpu = os.cpu_count() - 1, 0
        self.hosts = hosts.Hosts()

    def client(self, requests, n):
        here = os.path.dirname(os.path.abspath(__file__))

        def place():
            self.hosts.cgroups.join("others")
            os.sched_setaffinity(0, {self.other_cpu})
        command = [sys.executable, here + "/client.py", hosts.NAMES["client"], "%s:%d" % (hosts.SERVER, servers.PORT), str(n)]
        p = subprocess.run(command, input="".join(json.dumps(r) + "\n" for r in requests), capture_output=True,
                           text=True, preexec_fn=place, timeout=300)
        if p.returncode:
            raise RuntimeError("client: " + p.stderr)
        return [json.loads(line) for line in p.stdout.splitlines()]

    def ask(self, path, **query):
        url = "http://%s%s?%s" % (self.web, path, urllib.parse.urlencode(query))
        with urllib.request.urlopen(url, timeout=10) as r:
            return json.load(r)

    def rows(self, prefix, since):
        """All rows of a prefix of paths, each with its evidence."""
        found, cursor = [], {}
        while True:
            page = self.ask("/api/v1/requests", q=prefix, limit=1000, **{"from": since}, **cursor)
            found += page["requests"]
            if not page["next"]:
                break
            cursor = {"cursor": page["next"]}
        return [self.ask("/api/v1/requests/" + r["id"]) for r in found if r["path"].startswith(prefix)]


class Cell:
    def __init__(self, rig, kind, name):
        self.rig, self.kind, self.name = rig, kind, name
        self.cause = (causes.CAUSES.get(name) or EXTRA[name])(kind)
        self.prefix = "/%s-%s/" % (kind, name)
        self.made = 0

    def request(self, spec, at, tag):
        self.made += 1
        r = dict({"mode": "plain", "at": at, "tag": tag}, **spec)
        r["path"] = "%s%d" % (self.prefix, self.made)
        if "cold" in r:
            r["cold"] = [self.rig.dir + "/" + f for f in r["cold"]]
        if self.cause.clients == 1 and (self.kind in ("nginx", "node") or self.name == "none"):
            r["watch"] = self.server.workers()
        if self.name == "quota":
            r["quota"] = self.rig.hosts.cgroups.quota_file()
        return r

    def plan(self, n, rate, make, tag):
        return [self.request(make(), i / rate, tag) for i in range(n)]

    def run(self, n):
        """The verdicts over the abnormal ones, and what does not belong into them."""
        since = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.upstream = servers.Server("upstream", self.rig)
        self.server = servers.Server(self.kind, self.rig, self.cause.backlog)
        try:
            self.warm()
            with self.cause.fault(self.rig, self.server) as fault:
                sent = self.inject(n, fault)
            self.truths = truth.find(self.cause, self.server, self.upstream, fault, sent)
            self.fault = fault
        finally:
            self.server.stop()
            self.upstream.stop()
        time.sleep(1.5)
        return self.judged(self.rig.rows(self.prefix, since))

    def warm(self):
        """Until a route is known as it is: one that met a stall of the machine just then is left for another."""
        for place in "abcd":
            self.prefix = "/%s-%s-%s/" % (self.kind, self.name, place)
            sent = self.rig.client(self.plan(WARM, self.cause.warm_rate, self.cause.plain, "warm"), min(4, self.cause.clients))
            took = sorted((s["end"] - s.get("sent", s["end"])) / 1e6 for s in sent)
            self.usual_ms = took[len(took) // 2]
            if took[-3] < self.usual_ms + STALL_MS:
                return

    def inject(self, n, fault):
        """So many that are made abnormal, among others that are well; of those that only chance hits, as many as it takes."""
        if not hasattr(fault, "windows") or not self.cause.by_chance:
            plan = self.plan(int(n * 1.1), self.cause.rate, self.cause.faulty, "fault")
            if self.cause.faulty.__func__ is not self.cause.plain.__func__:
                for i in range(0, len(plan), 4):
                    plan.insert(i * 5 // 4, self.request(self.cause.plain(), plan[i * 5 // 4]["at"], "warm"))
            return self.rig.client(plan, self.cause.clients)
        sent, hit = [], 0
        while hit < n * 1.1 and len(sent) < n * 30:
            batch = self.rig.client(self.plan(n, self.cause.rate, self.cause.faulty, "fault"), self.cause.clients)
            sent += batch
            hit += sum(truth.hit(s, fault.windows) for s in batch)
        return sent

    def judged(self, rows):
        verdicts, seen = [], {}
        for row in rows:
            seen.setdefault(row["path"], []).append(row)
        self.other = [r for p, rs in seen.items() for r in rs if p not in self.truths or not self.truths[p].faulty]
        self.twice = sum(len(rs) > 1 for rs in seen.values())
        self.missed = 0
        for path, t in self.truths.items():
            if not t.faulty or (t.ms < judge.EXCESS_MS and not self.cause.fails):
                continue
            if path not in seen:
                self.missed += 1
                continue
            names = causes.names_of(self.cause, self.server, t.record)
            verdicts.append(judge.Verdict(t, seen[path][0], self.cause, names, self.usual_ms))
        return verdicts


def wanted():
    """(name, kind) of the cells to run, in the order that CELLS names them."""
    all_cells, found = [(name, kind) for name in causes.CAUSES for kind in servers.KINDS], []
    for pattern in os.environ.get("CELLS", "").split() or ["*"]:
        found += [c for c in all_cells if c not in found and fnmatch.fnmatch("%s/%s" % (c[1], c[0]), pattern)]
    return found


def run_cell(rig, kind, name, n, out):
    start = time.monotonic()
    cell = Cell(rig, kind, name)
    if kind in cell.cause.never:
        result = {"never": cell.cause.never[kind]}
    else:
        verdicts = cell.run(n)
        result = judge.summary(verdicts)
        result.update(missed=cell.missed, other=len(cell.other), twice=cell.twice, seconds=round(time.monotonic() - start, 1))
        with open("%s/%s-%s.truth" % (out, kind, name), "w") as f:
            f.write(json.dumps({"usual_ms": cell.usual_ms}) + "\n")
            for t in cell.truths.values():
                f.write(json.dumps({"path": t.path, "ms": t.ms, "client_ms": t.client_ms, "sent": t.sent, "server": t.record}) + "\n")
        with open("%s/%s-%s.rows" % (out, kind, name), "w") as f:
            for v in verdicts:
                f.write(json.dumps({"truth_ms": v.truth_ms, "want": v.want, "right": v.right, "aside": v.aside, "named": v.named,
                                    "injected": v.injected, "truth": cell.truths[v.path].record, "row": v.row}) + "\n")
            for r in cell.other:
                f.write(json.dumps({"want": None, "row": r}) + "\n")
    with open("%s/%s-%s.json" % (out, kind, name), "w") as f:
        json.dump(result, f)
    print("%-9s %-14s %s" % (kind, name, report.line(result)), flush=True)
    return result


def main():
    build, dir, web = sys.argv[1:4]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of every finally
    out = build + "/fault/out"
    if not os.environ.get("CELLS"):
        shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out, exist_ok=True)
    n = int(os.environ.get("N", "110"))
    rig = Rig(build, dir, web)
    servers.make_files(dir)
    failed = 0
    for name, kind in wanted():
        try:
            run_cell(rig, kind, name, n, out)
        except (RuntimeError, OSError, subprocess.SubprocessError) as e:
            failed += 1
            print("%-9s %-14s did not run: %s" % (kind, name, e), flush=True)
    print()
    print(report.matrix(out))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
