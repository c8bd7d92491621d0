# SPDX-License-Identifier: Apache-2.0
"""cost.py ROUNDS WINDOW [whole] - how much longer a write to a disk takes while the kernel programs of a source, of what is always on, or of the
whole probe, are attached, by the clock; and what those of the whole probe take of it by the kernel's own figures: Markdown. They are attached for a
window of so many seconds and detached for the next, while one fio goes on: what it takes to begin, and how the machine drifts, are in neither. What
a source does in user space is not in it: that is on the other processor. whole: no source by itself, and only this machine's disk."""
import collections
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import rig

ROUNDS, WINDOW, WHOLE = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:] == ["whole"]
LOADS = {"4K psync": ("psync", "4k", "randwrite", 1), "4K io_uring": ("io_uring", "4k", "randwrite", 8), "4K io_uring, one at a time": ("io_uring", "4k", "randwrite", 1),
         "1M write": ("psync", "1m", "write", 1)}
GOAL = 1  # percent
OFTEN = ["nothing", "empty", "always", "all"]  # what is asked about more than once in a round
HOOKS = ["sched_switch", "sched_waking", "block_rq_complete", "hrtimer_expire_entry"]  # which a write passes; empty: with programs that do nothing
EXPEDITED = "/sys/kernel/rcu_expedited"
NOBODY = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"  # a key of no collector


def start(name, tmp):
    """On processor 0; fio is on 1. None: off here. Returns when its programs are attached."""
    if name != "all":
        tool = ["emptyhook", *HOOKS] if name == "empty" else ["alone", name]
        p = subprocess.Popen(["taskset", "-c", "0", f"{rig.BUILD}/tools/{tool[0]}", *tool[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return p if p.stdout.readline() == "ready\n" else None
    p = subprocess.Popen(["taskset", "-c", "0", f"{rig.BUILD}/seismo-probe", "--node", "bench", "--keys", f"{tmp}/keys", "--collector-key", NOBODY,
                          "--collector", "tcp://127.0.0.1:9"], stderr=subprocess.PIPE, text=True)
    for line in p.stderr:
        if "does not answer" in line:
            break
    time.sleep(13)  # until the kernel no longer counts for it (METER_COUNT_S): what is joined is apart until then
    return p


def end(p):
    if p:
        p.send_signal(signal.SIGTERM)
        p.wait()


def run(disk, load, seconds=1):
    engine, block, mode, depth = LOADS[load]
    return rig.fio(disk, engine, block, mode, iodepth=depth, time_based=1, runtime=f"{seconds}s", cpus_allowed=1, size=disk.bytes)["write"]


class Writer:
    """One fio on processor 1 that goes on until it is closed."""

    def __init__(self, disk, load):
        engine, block, mode, depth = LOADS[load]
        self.block = rig.MIB if block == "1m" else 4096
        self.window = WINDOW if block == "4k" else 3 * WINDOW
        args = rig.fio_args(disk, engine, block, mode, iodepth=depth, time_based=1, runtime="1h", cpus_allowed=1, size=disk.bytes)
        self.fio = subprocess.Popen([*args, "--thread"], stdout=subprocess.DEVNULL)  # in the process whose bytes are read
        while self.written() < 1000 * self.block:
            time.sleep(0.1)

    def written(self):
        with open(f"/proc/{self.fio.pid}/io", encoding="ascii") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("write_bytes"))

    def us(self):
        """Of one write, in the next window."""
        before, at = self.written(), time.monotonic()
        time.sleep(self.window)
        after, end = self.written(), time.monotonic()
        return (end - at) * 1e6 * self.block / max(after - before, self.block)  # a disk may rest for that long

    def close(self):
        self.fio.terminate()
        self.fio.wait()


class Programs:
    """Those of the sources and of the whole probe (all), which have ended by then: attached as asked, those of always together, too."""

    def __init__(self, names, always, tmp):
        found = {n: start(n, tmp) for n in names}
        asked = [(n, p.pid) for n, p in found.items() if p] + [("always", found[n].pid) for n in always if found[n]]
        self.tool = subprocess.Popen(["taskset", "-c", "0", f"{rig.BUILD}/tools/onoff", *(f"{n}={pid}" for n, pid in asked)],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.held = collections.Counter()
        for word in self.tool.stdout.readline().split()[1:]:
            name, k = word.split("=")
            self.held[name] += int(k)
        for p in found.values():
            end(p)

    def attach(self, name):
        self.tool.stdin.write(f"{name}\n")
        self.tool.stdin.flush()
        if self.tool.stdout.readline() != "done\n":
            sys.exit("the programs could not be attached")
        time.sleep(0.03)  # what the kernel does about it is over, where it makes haste (hastily()): a window after one with programs is as one before

    def close(self):
        self.tool.stdin.close()
        self.tool.wait()


def programs(p):
    """Of the process's kernel programs: {name: (runs, ns)}."""
    ids = set()
    for fd in os.listdir(f"/proc/{p.pid}/fdinfo"):
        with open(f"/proc/{p.pid}/fdinfo/{fd}", encoding="ascii") as f:
            ids |= {int(line.split()[1]) for line in f if line.startswith("prog_id:")}
    said = json.loads(subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, check=True).stdout)
    found = collections.defaultdict(lambda: (0, 0))
    for a in said:
        if a["id"] in ids:
            runs, ns = found[a["name"]]
            found[a["name"]] = runs + a.get("run_cnt", 0), ns + a.get("run_time_ns", 0)
    return found


def empty_ns():
    """What the kernel's figures say of a program that does nothing: their own cost, in each run."""
    pair = subprocess.Popen([f"{rig.BUILD}/tools/pingpong", "1", "200000"], stdout=subprocess.PIPE)
    return int(subprocess.run([f"{rig.BUILD}/tools/emptyhook"], stdin=pair.stdout, capture_output=True, check=True).stdout)


def counting(on):
    subprocess.run(["sysctl", "-q", f"kernel.bpf_stats_enabled={on}"], check=True)


def in_kernel(disks, tmp):
    """Of each load on each disk: what a request takes without the probe, and what the probe's programs take of it."""
    counting(1)
    p = None
    try:
        empty = empty_ns()
        print(f"\nBy the kernel's own figures, less the {empty} ns that they cost themselves in each run; what any hook costs, to get there and back, is not in it.\n")
        print("| disk | | us without the probe | runs | ns | of it, % | which, ns |")
        print("|---|---|---|---|---|---|---|")
        alone = {(name, load): 1e6 / run(disk, load)["iops"] for name, disk in disks.items() for load in LOADS}
        p = start("all", tmp)
        over = []
        for (name, load), took in alone.items():
            before = programs(p)
            n = run(disks[name], load)["total_ios"]
            after = programs(p)
            each = {a: ((runs - before[a][0]) / n, (ns - before[a][1] - (runs - before[a][0]) * empty) / n) for a, (runs, ns) in after.items()}
            runs, ns = (sum(v[i] for v in each.values()) for i in (0, 1))
            which = ", ".join(f"{a} {v[1]:.0f}" for a, v in sorted(each.items(), key=lambda v: -v[1][1])[:4])
            print(f"| {name} | {load} | {took:.2f} | {runs:.1f} | {ns:.0f} | {ns / took / 10:.2f} | {which} |")
            over += [f"{load} {name}"] if ns / took / 10 > GOAL else []
        print(f"\nMore than {GOAL} %, the goal of what is always on, takes the whole probe of: {', '.join(over) or 'nothing'}.")
    finally:
        counting(0)
        end(p)


@contextlib.contextmanager
def hastily():
    """The kernel waits for no grace period: to attach a source takes .7 ms in place of 4 to 32, and what it does about it is over sooner."""
    def write(what):
        with open(EXPEDITED, "w", encoding="ascii") as f:
            f.write(what)

    with open(EXPEDITED, encoding="ascii") as f:
        before = f.read()
    write("1")
    try:
        yield
    finally:
        write(before)


def beside(disk, load, programs_, names, often):
    """{name: [(us without, us with), ...]}: each between two windows without. What is in OFTEN: so many times in each round."""
    took = collections.defaultdict(list)
    order = [n for n in names if n not in OFTEN] + often * OFTEN
    writer = Writer(disk, load)
    try:
        before = writer.us()
        for i in range(ROUNDS):
            if i % 10 == 0:
                rig.say(f"{load}, round {i + 1} of {ROUNDS}")
            for name in random.sample(order, len(order)):
                programs_.attach(name)
                beside_it = writer.us()
                programs_.attach("-")
                after = writer.us()
                took[name].append(((before + after) / 2, beside_it))
                before = after
    finally:
        writer.close()
    return took


def interval(values):
    """Of the median, by resampling: 95 in 100 lie in it."""
    found = sorted(statistics.median(random.choices(values, k=len(values))) for _ in range(1000))
    return found[25], found[974]


def cell(pairs):
    more = [(b - a) * 100 / a for a, b in pairs]
    return "{:+.2f} ({:+.2f}..{:+.2f})".format(statistics.median(more), *interval(more))


def lines(where, took, programs_, names):
    """took: {load: what beside() says}."""
    alone = [statistics.median(a for a, _ in took[load]["nothing"]) for load in LOADS]
    print(f"| {where} | us of a write without them | | {' | '.join(f'{us:.1f}' for us in alone)} |")
    for name in names:
        which = {"nothing": "nothing, as often", "empty": "programs that do nothing, where a write passes",
                 "always": "**what is always on** (tiers 0 and 1)", "all": "**the whole probe**, with what is hot"}.get(name, name)
        print(f"| {where} | {which} | {programs_.held[name]} | {' | '.join(cell(took[load][name]) for load in LOADS)} |")


def main():
    listed = subprocess.run([f"{rig.BUILD}/tools/alone"], capture_output=True, text=True, check=True).stdout.splitlines()
    kind = dict(line.split() for line in listed)
    always = [n for n in kind if kind[n] == "always"]
    names = always if WHOLE else list(kind)
    memory, disk = rig.Disk(256), rig.File(256)
    programs_ = None
    try:
        with tempfile.TemporaryDirectory() as tmp:
            os.mkdir(f"{tmp}/keys")
            programs_ = Programs([*names, "empty", "all"], always, tmp)
            shown = [*(n for n in names if programs_.held[n] and not WHOLE), *OFTEN]
            print("Percent of a write, the median and where it lies in 95 of 100 resamplings.\n")
            print(f"| disk | attached | programs | {' | '.join(f'{load}, %' for load in LOADS)} |")
            print(f"|---|---|---|{'---|' * len(LOADS)}")
            with hastily():
                for where, which, often in (("in memory", memory, 5), ("of this machine", disk, 15))[WHOLE:]:
                    lines(where, {load: beside(which, load, programs_, shown, 1 if WHOLE else often) for load in LOADS}, programs_, shown)
            if not WHOLE:
                print(f"\nWith no program to attach so: {', '.join(n for n in names if not programs_.held[n])}.")
            in_kernel({"in memory": memory, "of this machine": disk}, tmp)
    finally:
        if programs_:
            programs_.close()
        memory.close()
        disk.close()


main()
