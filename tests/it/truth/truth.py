# SPDX-License-Identifier: Apache-2.0
"""truth.py READS TMP - every line of schema/def/metrics.def against what /proc or /sys say, or against another suite.

READS (tests/tools/reads.c) opens the sources of the probe and reads one on demand; right before and right after
the same is read from the kernel's files (truths.py). A gauge must lie within what these readings say, a counter's step
between the least and the most that it can have moved; meanwhile truth_load.py moves them. What has no such truth stands
in truth_elsewhere.py with who proves it, and what stands nowhere fails. Run by truth.sh, in a network of its own.
"""
import collections
import fnmatch
import glob
import math
import os
import re
import sys
import time

sys.path.insert(0, "tests/lib")
import reads  # noqa: E402
import truth_elsewhere  # noqa: E402
import truth_load  # noqa: E402
import truths  # noqa: E402

ROUNDS = 10
Metric = collections.namedtuple("Metric", "layout id name kind")
Row = collections.namedtuple("Row", "before reported after")
passed = failed = 0
# What the load moves for certain: a test of a counter that stands still proves little.
MOVES = """node cpu_user_seconds_total context_switches_total intr_total forks_total vmstat_oom_kill vmstat_pgfault
vmstat_pgmajfault vmstat_pgpgout netstat_Tcp_ActiveOpens netstat_Tcp_PassiveOpens netstat_Tcp_AttemptFails netstat_Tcp_EstabResets
netstat_Tcp_InSegs netstat_Tcp_OutSegs netstat_Tcp_RetransSegs netstat_Tcp_InErrs netstat_Tcp_OutRsts netstat_TcpExt_TCPSynRetrans
netstat_TcpExt_TCPTimeouts netstat_TcpExt_ListenOverflows netstat_TcpExt_ListenDrops netstat_Udp_InErrors netstat_Udp_RcvbufErrors
softirqs_timer_total softirqs_net_rx_total softirqs_rcu_total softnet_processed_total
net network_receive_bytes_total network_receive_packets_total network_transmit_bytes_total network_transmit_packets_total
disk disk_writes_completed_total disk_written_bytes_total disk_reads_completed_total disk_read_bytes_total
cgroup container_cpu_usage_seconds_total container_cpu_user_seconds_total container_cpu_cfs_periods_total
container_cpu_cfs_throttled_periods_total container_cpu_cfs_throttled_seconds_total container_memory_pgfault_total
container_memory_failcnt container_oom_events_total
cgroupio task_read_bytes_total task_write_bytes_total task_cancelled_write_bytes_total task_rchar_bytes_total task_wchar_bytes_total
task_read_calls_total task_write_calls_total
programio task_read_bytes_total task_write_bytes_total task_wchar_bytes_total
process process_cpu_seconds_total
cost source_reads_total source_program_runs_total source_program_seconds_total
klog kernel_log_user_total
oom oom_killed_processes_total"""


def ok(sentence, good, seen=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {sentence}" + (f": {seen}" if seen != "" else ""))


def metrics():
    layout, found = None, []
    for line in open("schema/def/metrics.def", encoding="ascii"):
        if m := re.match(r"LAYOUT\((\w+), (\w+),", line):
            layout = m[2]
        elif m := re.match(r'METRIC\((\w+), (\w+), "(\w+)", "[^"]*", (\w+)\)', line):
            found.append(Metric(layout, f"{m[1]}_{m[2]}", m[3], m[4]))
    return found


def folded(reported):
    total = {}
    for values in reported.values():
        for n, v in values.items():
            total[n] = total.get(n, math.nan) if math.isnan(v) else v + (0 if math.isnan(total.get(n, math.nan)) else total[n])
    return {"": total}


def mounts():
    """Of each controller of version 1, and of version 2 by the name ""."""
    found = {}
    for line in open("/proc/self/mounts", encoding="utf-8"):
        _, where, kind, options = line.split()[:4]
        if kind == "cgroup2":
            found.setdefault("", where)
        for c in options.split(",") if kind == "cgroup" else ():
            if c in ("cpu", "cpuacct", "memory", "blkio", "pids"):
                found.setdefault(c, where)
    return found


class Series:
    """One metric of one entity over all rounds."""

    def __init__(self, truth, entity, metric, rounds):
        self.rows = [Row(b.get(entity, {}).get(metric.name), self.reported(truth, t, entity, metric), a.get(entity, {}).get(metric.name))
                     for b, t, a in rounds]
        self.slack = truth.slack.get(metric.name, 0)
        self.begin = 1  # the first row of a counter is what it counts from
        self.kept = [i for i, r in enumerate(self.rows) if r.reported is not None]

    @staticmethod
    def reported(truth, reported, entity, metric):
        if entity in reported:
            return reported[entity].get(metric.name)
        return 0.0 if truth.absent_is_0 else None

    def within(self, value, low, high):
        slack = self.slack + 1e-9 + 1e-6 * abs(value)
        return low - slack <= value <= high + slack

    def gauge(self):
        """Right in a quarter of the rows at least: it may have been somewhere else for a moment between two looks."""
        wrong, last = [], 0
        for i in self.kept:
            near = [v for r in self.rows[max(last - 1, 0):i + 2] for v in (r.before, r.after)]
            known, value, last = [v for v in near if v is not None], self.rows[i].reported, i
            if not (math.isnan(value) and None in near) and not (known and self.within(value, min(known), max(known))):
                wrong.append((value, min(known, default=None), max(known, default=None)))
        return None if len(wrong) <= len(self.kept) * 3 // 4 else wrong[-1]

    def counter(self):
        """Each step; but one may be unknown, as some counters of the kernel's go back at times. A step in which a disk joins
        or leaves what the kernel adds up has no truth: other suites make disks, and limit them."""
        wrong, unknown, judged = [], 0, 0
        for last, now in zip(self.kept, self.kept[1:]):
            was, row = self.rows[last], self.rows[now]
            if len({truths.parts(v) for v in (was.before, was.after, row.before, row.after)}) > 1:
                continue
            judged += 1
            if None in (was.before, was.after, row.before, row.after):
                wrong += [] if math.isnan(row.reported) or row.reported == 0 else [(row.reported, None, None)]
            elif math.isnan(row.reported):
                unknown += 1
            elif not self.within(row.reported, row.before - was.after, row.after - was.before):
                wrong.append((row.reported, row.before - was.after, row.after - was.before))
        if not judged and len(self.kept) > 1:
            return math.nan, "the same disks", "before and after a step, ever"
        return wrong[0] if wrong else (math.nan, unknown, "steps are unknown") if unknown > 1 else None

    def moved(self):
        return sum(self.rows[i].reported for i in self.kept[1:] if not math.isnan(self.rows[i].reported))


compared = set()  # of some entity, with a number


def judge_entity(truth, entity, of_layout, rounds, moved):
    there = all(entity in b and entity in a for b, _, a in rounds)
    ok(f"{truth.layout} of {entity or 'the node'} is reported", not there or truth.absent_is_0 or any(entity in t for _, t, _ in rounds))
    for m in of_layout if there else ():
        s = Series(truth, entity, m, rounds)
        if not any(m.name in b[entity] for b, _, _ in rounds):
            continue
        ok(f"{truth.layout}: {m.name} of {entity or 'the node'} is reported", s.kept)
        if any(r.before is not None for r in s.rows):
            compared.add(m)
        wrong = s.gauge() if m.kind == "GAUGE" else s.counter()
        ok(f"{truth.layout}: {m.name} of {entity or 'the node'} is that of the kernel", wrong is None,
           wrong and f"{wrong[0]:.10g}, not {wrong[1]} to {wrong[2]}")
        if m.kind == "COUNTER":
            moved[m.layout, m.name] += s.moved()


def judge(truth, of_layout, rounds, moved):
    if truth.fold:
        rounds = [(b, folded(t) if t else {}, a) for b, t, a in rounds]
    entities = {e for b, _, a in rounds for e in [*b, *a]}
    for e in sorted(entities):
        judge_entity(truth, e, of_layout, rounds, moved)
    if isinstance(truth, (truths.Disk, truths.Net)):
        strange = {e for _, t, _ in rounds for e in t} - entities
        ok(f"{truth.layout}: nothing is reported that is not there", not strange, strange)


def elsewhere(metric):
    """Who else proves it: that suite is there and speaks of it."""
    for pattern, file, word in truth_elsewhere.PROVED:
        if fnmatch.fnmatchcase(metric.id, pattern):
            files = glob.glob("tests/it/*/" + file) + glob.glob("tests/unit/**/" + file, recursive=True)
            ok(f"{metric.id}: one {file} is there, and {word} in it", len(files) == 1 and word in truths.text(files[0]), files)
            return
    ok(f"{metric.id} ({metric.name}) is compared with /proc or /sys (truths.py), or truth_elsewhere.py says who proves it",
       any(fnmatch.fnmatchcase(metric.id, pattern) for pattern, _ in truth_elsewhere.UNPROVED))


def look(truth_of, sources, kept):
    for source in dict.fromkeys(t.source for t in truth_of if t.source not in sources.off):
        ours = [t for t in truth_of if t.source == source]
        before = [t.read() for t in ours]
        reported = sources.ask(source)
        for t, b, a in zip(ours, before, [t.read() for t in ours]):
            kept[t].append((b, reported.get(t.layout, {}), a))


def main():
    program, tmp = sys.argv[1:]
    all_of = metrics()
    ok("the table has metrics", len(all_of) > 100, len(all_of))
    path, network = f"/seismo-truth.{os.getpid()}", truth_load.Network()
    worker, sleepers = truth_load.Worker(mounts(), path, f"{tmp}/disk"), truth_load.Sleepers(3)
    try:
        klog, sources = truths.Klog(), reads.Reads(program)
        pid = sources.process.pid
        truth_of = [truths.Node(f"{tmp}/sys"), truths.Disk(), truths.Net(f"{tmp}/sys"), truths.Cgroup(mounts(), "/", path),
                    truths.TaskIo("cgroupio", path, worker.pid), truths.TaskIo("programio", worker.name, worker.pid), truths.Process(pid),
                    truths.Cost(pid, sources.asked), klog, truths.Oom(), truths.Tasks()]
        lacking = {name: why for name, why in sources.off.items() if not why.startswith(("this machine has no ", "not asked for: "))}
        ok("every source is on, but for hardware that is not there, and what nobody asked for", not lacking, lacking)
        for t in truth_of:
            t.names = [m.name for m in all_of if m.layout == t.layout]
        kept = collections.defaultdict(list)
        network.overflow()
        began = time.monotonic()
        for i in range(ROUNDS):
            look(truth_of, sources, kept)
            truth_load.node(f"{tmp}/disk")
            network.do()
            worker.do(b"o" if i == 3 else b".")
            truth_load.put("/dev/kmsg", f"seismo-truth: line {i}")
            # time: readings at this rate
            time.sleep(max(0, began + (i + 1) * 0.4 - time.monotonic()))
        ok("the reader ends well", sources.end() == 0)
    finally:
        worker.end()
        sleepers.end()
    moved = collections.Counter()
    for t in truth_of:
        judge(t, [m for m in all_of if m.layout == t.layout], kept[t], moved)
    for line in MOVES.replace("\n", " ").split():
        if line in {t.layout for t in truth_of}:
            layout = line
        else:
            ok(f"{layout}: {line} moved meanwhile", moved[layout, line] > 0)
    for m in all_of:
        if m not in compared:
            elsewhere(m)
    counters = [m for m in compared if m.kind == "COUNTER"]
    print(f"{len(all_of)} metrics: {len(compared)} compared with the kernel's files; of those {len(counters)} are counters, of which "
          f"{sum(moved[m.layout, m.name] > 0 for m in counters)} moved")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
