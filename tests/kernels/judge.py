#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""judge.py REPORT off=SOURCE,... HOOKS=attached|counted|off... - is what tests/kernels/init reported what must be?
judge.py REPORT off=SOURCE,... without=psi - the same of a machine that lacks this.

nginx's own log is the witness: every line of it has one row that says the same. Prints what is not so, a line of
figures for each HOOKS, and "N passed, N failed".
"""
import collections
import glob
import os
import re
import statistics
import sys

Row = collections.namedtuple("Row", "start app remote local method path status us reason flags tries")
Try = collections.namedtuple("Try", "addr port start connect us status flags")
FRONT, BACK = (":8080", ":8081", ":8082"), ":8001"
passed = failed = 0


def ok(sentence, good, seen=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {sentence}" + (f": {seen}" if seen != "" else ""))


def sections(path):
    found = collections.defaultdict(list)
    name = "boot"
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f.read().splitlines():
            if line.startswith("== "):
                name = line[3:]
                found[name] = []
            else:
                found[name].append(line)
    return found


def row_of(fields):
    tries = [t.split(";") for t in fields[10].split()]
    numbers = [int(fields[i]) for i in (0, 6, 7)]
    return Row(numbers[0], fields[1], fields[2], fields[3], fields[4], fields[5], numbers[1], numbers[2], fields[8],
               int(fields[9]), [Try(t[0], *map(int, t[1:])) for t in tries])


class Received:
    """What the collector received from the probe."""

    def __init__(self, lines):
        self.sources, self.rows, self.bad = {}, [], []
        self.coverage, self.node, self.left_out = collections.Counter(), {}, collections.Counter()
        for line in lines:
            kind, *fields = line.split("\t")
            if kind == "source":
                self.sources[fields[0]] = (fields[1], fields[2])
            elif kind == "request":
                self.rows.append(row_of(fields))
            elif kind == "sample" and fields[0] == "coverage":
                self.coverage.update({k: float(v) for k, v in values(fields[2])})
            elif kind == "sample" and fields[0] == "source":
                self.left_out[fields[1]] += int(float(dict(values(fields[2]))["source_program_runs_missed_total"]))
            elif kind == "sample" and fields[0] == "node":
                self.node.update(values(fields[2]))  # several layouts are of the node
            elif kind in ("bad", "gap"):
                self.bad.append(line)


def values(text):
    return [pair.split("=") for pair in text.split()]


def log_lines(lines, prefix):
    log = {}
    for line in lines:
        path, method, status, remote, upstream, seconds, port = line.split("|")
        if path.startswith(prefix):
            log[path] = (method, int(status), remote, "" if upstream == "-" else upstream, float(seconds), int(port))
    return log


def assigned(front, back):
    """The calls that the backend answered, as (whose row has it, whose it was): the k-th on each connection."""
    asked, served = collections.defaultdict(list), collections.defaultdict(list)
    for r in front:
        for t in r.tries:
            if t.addr.endswith(BACK):
                asked[t.port].append((r.start + t.start * 1000, r.path))
    for r in back:
        served[int(r.remote.rsplit(":", 1)[1])].append((r.start, r.path))
    for port, calls in served.items():
        given = [path for _, path in sorted(asked.get(port, []))]
        for i, (_, path) in enumerate(sorted(calls)):
            yield given[i] if i < len(given) else None, path


def judge_nginx(hooks, log, rows):
    front = [r for r in rows if r.local.endswith(FRONT)]
    back = [r for r in rows if r.local.endswith(BACK) and not r.path.startswith(f"/{hooks}/direct/")]
    by_path = {r.path: r for r in front}
    off = []
    unequal = []
    for path, (method, status, remote, upstream, seconds, port) in log.items():
        r = by_path.get(path)
        if not r:
            continue
        if (method, status, remote, upstream) != (r.method, r.status, r.remote, ", ".join(t.addr for t in r.tries)):
            unequal.append((path, method, status, remote, upstream, r))
        off.append(abs(seconds * 1000 - r.us / 1000))
    missing = [path for path in log if path not in by_path]
    calls = list(assigned(front, back))
    right = sum(a == b for a, b in calls)
    wrong = sum(a is not None and a != b for a, b in calls)
    median = statistics.median(off) if off else 1e9
    print(f"{hooks}: lines {len(log)} rows {len(front)} missing {len(missing)} unequal {len(unequal)} "
          f"median_off_ms {median:.1f} calls {len(calls)} right {right} wrong {wrong}")
    ok(f"{hooks}: there was traffic", len(log) >= 100, len(log))
    ok(f"{hooks}: every line of the log has its row", not missing, missing[:3])
    ok(f"{hooks}: and only one", len(front) == len(by_path), len(front) - len(by_path))
    ok(f"{hooks}: no row of nginx without a line", set(by_path) <= set(log), sorted(set(by_path) - set(log))[:3])
    ok(f"{hooks}: method, path, status, remoteAddr and upstreamAddr are equal", not unequal, unequal[:2])
    # nginx takes its time from its event loop, and this machine is slow
    ok(f"{hooks}: request time is within 10 ms in the median", median <= 10, f"{median:.1f} ms")
    ok(f"{hooks}: no upstream call is given to a wrong request", wrong == 0, wrong)
    ok(f"{hooks}: at least 99 % of the calls have their request", right * 100 >= len(calls) * 99 > 0, f"{right}/{len(calls)}")
    for name, want in (("bad", (503, "up.error")), ("late", (504, "up.slow")), ("refused", (502, "up.connect")),
                       ("abort", (499, "client.abort"))):
        r = by_path.get(f"/{hooks}/{name}")
        ok(f"{hooks}: {name} is {want[0]} {want[1]}", r and (r.status, r.reason) == want, r)


def judge_traffic(hooks, report, received):
    answered = [int(re.search(r"answered (\d+)", s)[1]) for s in report[f"load {hooks}"] if s.startswith("sent")]
    direct = [r for r in received.rows if r.path.startswith(f"/{hooks}/direct/") and r.local.endswith(BACK)]
    good = {r.path for r in direct if r.status == 200 and r.method == "GET"}
    judge_nginx(hooks, log_lines(report["access"], f"/{hooks}/"), received.rows)
    ok(f"{hooks}: a server that nobody stands before has its rows too", len(answered) == 3 and len(good) >= answered[2] > 0,
       f"{len(good)} of {answered}")
    ok(f"{hooks}: each once", len(direct) == len({r.path for r in direct}))
    ok(f"{hooks}: no duration is longer than the test", all(r.us < 600e6 for r in received.rows))
    ok(f"{hooks}: the rows are as many as were counted", received.coverage["rows"] == len(received.rows),
       f"{received.coverage['rows']} and {len(received.rows)}")
    lost = {k: received.coverage[k] for k in ("rows_withheld", "ring_full", "conn_full", "calls_full", "batches_lost") if received.coverage[k]}
    ok(f"{hooks}: nothing was lost or withheld", not lost, lost)
    ok(f"{hooks}: no run of what sees requests was left out by the kernel", not received.left_out["request"], received.left_out["request"])
    others = {k: n for k, n in received.left_out.items() if n and k != "request"}
    if others:
        print(f"{hooks}: runs of others that the kernel left out: {others}")


def judge_hooks(hooks, want, report):
    received = Received(report[f"received {hooks}"])
    state, why = received.sources.get("request", ("none", ""))
    ok(f"{hooks}: the probe ends with status 0 on SIGTERM", report[f"end {hooks}"] == ["the probe ended with 0"], report[f"end {hooks}"])
    ok(f"{hooks}: every batch can be read and none is missing", received.sources and not received.bad, received.bad[:3])
    ok(f"{hooks}: proc is attached", received.sources.get("proc", ("",))[0] == "attached")
    ok(f"{hooks}: the node is measured", float(received.node.get("memory_MemTotal_bytes", "nan")) > 1e8)
    ok(f"{hooks}: request is {want}", state == want.replace("counted", "attached"), f"{state} {why}")
    if want == "counted" and received.left_out["request"]:
        print(f"{hooks}: {received.left_out['request']} runs were left out by the kernel, {len(received.rows)} rows")
        ok(f"{hooks}: it reports that runs were left out", any("skipped runs of a program of source request" in line for line in report[f"probe {hooks}"]))
    elif want != "off":
        judge_traffic(hooks, report, received)
    else:
        print(f"{hooks}: off: {why}")
        ok(f"{hooks}: it says what it needs", re.search(r"needs? ", why), why)
        ok(f"{hooks}: and reports no row", not received.rows, len(received.rows))


def version(text):
    return tuple(map(int, re.match(r"(\d+)\.(\d+)", text).groups()))


def sources():
    """Each line of the table, and the programs that are shipped."""
    with open("probe/core/sources.def", encoding="ascii") as f:
        ours = re.findall(r"^(?:SOURCE|HOT|ON_DEMAND)\((\w+)\)", f.read(), re.M)
    return ours + sorted("own." + os.path.basename(p)[:-5] for p in glob.glob("bpf/examples/*.conf"))


OF_HARDWARE = {"pmu", "rdma"}  # to lack it is no fault
ON_DEMAND = {"vfs", "dentries", "locks", "rdma"}  # nor of these, which nobody asks for
# What a host without it has not; every other source stays as it was.
LACKS = {"": set(), " sys": set(), " cgroup": {"cgroup"}, " psi": {"stalls", "runq"},
         " btf": set(sources()) - {"proc", "cgroup", "kmsg", "stalls", "places"}}
SAYS = r"needs? |no tracepoint|boot (one|with)|mount |does not (have|know|count|keep|say)|has no |not available|unavailable|no hardware|find valid kernel BTF"


def doctor_lines(report, section):
    return {s[5:30].strip(): (s[:3].strip(), s[32:]) for s in report[section]}


def judge_sources(report, section, without, off):
    """Each is on, or is to be off here and says why in a sentence that helps."""
    lines = doctor_lines(report, section)
    at = f"without{without}: " if without else ""
    want = off | LACKS[without]
    for name in sources():
        found, why = lines.get(name, ("none", ""))
        ok(f"{at}source {name} is {'off' if name in want else 'on'}", found == ("off" if name in want else "ok"), f"{found} {why}")
        if found == "off":
            ok(f"{at}source {name} says what is missing", re.search(SAYS, why), why)
    status = report[section.replace("doctor", "doctor-status", 1)]
    ok(f"{at}the doctor's status is that of the sources", status == ["1" if want - OF_HARDWARE - ON_DEMAND else "0"], status)
    print(f"{at}off: " + ("; ".join(f"{n} ({lines[n][1]})" for n in sources() if lines.get(n, ("",))[0] == "off") or "none"))


def judge_doctor(report, wanted, off):
    attached = next(iter(wanted.values())) != "off"
    lines = doctor_lines(report, "doctor")
    ok("the doctor says one line of each thing", lines and all(re.match(r"(ok |off)  [^ ].{24}  [^ ]", s) for s in report["doctor"]))
    ok("the doctor finds the kernel's BTF", lines.get("BTF", ("",))[0] == "ok")
    ok("the doctor says of requests what the probe does", lines.get("request", ("",))[0] == ("ok" if attached else "off"), lines.get("request"))
    for hooks in wanted.keys() & {"sockets", "syscalls"}:
        found = lines.get(f"hooks {hooks}", ("",))
        ok(f"the doctor says of hooks {hooks} what the probe does", found[0] == ("off" if wanted[hooks] == "off" else "ok"), found)
    late = [s for s in report["doctor"] if (need := re.search(r"needs (\d+\.\d+) or later", s))
            and version(need[1]) <= version(report["kernel"][0])]
    ok("what the doctor says that it needs is newer than this kernel", not late, late)
    print(f"doctor: request {' '.join(lines.get('request', ('?',)))}")
    judge_sources(report, "doctor", "", off)


def main():
    report = sections(sys.argv[1])
    off, *words = [a.split("=") for a in sys.argv[2:]]
    off, wanted = {n for n in off[1].split(",") if n and n != "-"}, dict(words)
    without = wanted.pop("without", None)
    print(f"kernel {' '.join(report['kernel'])}")
    if "done" not in report:
        at = list(report)[-1]
        print(f"FAIL it runs to its end: it stopped in {at} after {report[at][-1:]}\n0 passed, 1 failed")
        sys.exit(1)
    if without:
        judge_sources(report, "doctor", f" {without}", off)
        ok(f"the doctor says that there is no {without}", any(s.startswith("off") and "boot with psi=1" in s for s in report["doctor"]))
    else:
        judge_doctor(report, wanted, off)
        for lack in (" sys", " cgroup", " btf"):
            judge_sources(report, f"doctor{lack}", lack, off)
    for hooks, want in wanted.items():
        judge_hooks(hooks, want, report)
    alarms = [s for s in report["kernel-log"] if re.search(r"BUG|WARNING:|Oops|lockup|hung", s)]
    ok("the kernel has nothing to complain of", not alarms, alarms[:2])
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
