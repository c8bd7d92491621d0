# SPDX-License-Identifier: Apache-2.0
"""cost.py ROUNDS SECONDS [whole] - how much slower fio is beside each source alone, and beside the whole probe, by the clock, and what the
kernel programs of the whole probe take of each request to the disk, by the kernel's own figures: Markdown. whole: no single sources."""
import collections
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import rig

ROUNDS, SECONDS, WHOLE = int(sys.argv[1]), sys.argv[2], sys.argv[3:] == ["whole"]
LOADS = {"4K psync": ("psync", "4k", "randwrite"), "4K io_uring": ("io_uring", "4k", "randwrite"), "1M write": ("psync", "1m", "write")}
GOAL = 1  # percent
NOBODY = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"  # a key of no collector


def start(name, tmp):
    """On processor 0; fio is on 1. Returns when its programs are attached."""
    if name == "nothing":
        return None
    if name != "all":
        p = subprocess.Popen(["taskset", "-c", "0", f"{rig.BUILD}/tools/alone", name], stdout=subprocess.PIPE, text=True)
        return p if p.stdout.readline() == "ready\n" else None
    p = subprocess.Popen(["taskset", "-c", "0", f"{rig.BUILD}/seismo-probe", "--node", "bench", "--keys", f"{tmp}/keys", "--collector-key", NOBODY,
                          "--collector", "tcp://127.0.0.1:9"], stderr=subprocess.PIPE, text=True)
    for line in p.stderr:
        if "does not answer" in line:
            break
    time.sleep(11)  # until the kernel no longer counts for it
    return p


def end(p):
    if p:
        p.send_signal(signal.SIGTERM)
        p.wait()


def run(disk, load, **more):
    engine, block, mode = LOADS[load]
    return rig.fio(disk, engine, block, mode, time_based=1, runtime=f"{float(SECONDS) * 1000:.0f}ms", cpus_allowed=1, size=disk.bytes, **more)["write"]


def us(disk, load):
    return 1e6 / run(disk, load)["iops"]


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
        alone = {(name, load): us(disk, load) for name, disk in disks.items() for load in LOADS}
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
        print(f"\nThe goal is {GOAL} %: " + ("not reached for " + ", ".join(over) if over else "reached") + ".")
    finally:
        counting(0)
        end(p)


def beside(disk, variants, tmp, off):
    """{(variant, load): [(us without, us with), ...]}, each pair one after the other, as the machine drifts."""
    took = collections.defaultdict(list)
    p = None
    try:
        for load in LOADS:
            us(disk, load)  # the first is slower
        for i in range(ROUNDS):
            for name in variants:
                rig.say(f"round {i + 1} of {ROUNDS}: {name}")
                base = {load: us(disk, load) for load in LOADS}
                p = start(name, tmp)
                if not p and name != "nothing":
                    off.add(name)
                    continue
                for load in LOADS:
                    took[name, load].append((base[load], us(disk, load)))
                end(p)
                p = None
    finally:
        end(p)
    return took


def lines(where, took, variants, off):
    for name in variants:
        if name in off:
            print(f"| {where} | {name} | off here |" + " |" * (2 * len(LOADS) - 1))
            continue
        more = {load: [(b - a) * 100 / a for a, b in took[name, load]] for load in LOADS}
        pair = [f"{statistics.median([a for a, _ in took[name, load]]):.2f} {statistics.median([b for _, b in took[name, load]]):.2f}" for load in LOADS]
        print(f"| {where} | {name if name != 'all' else 'the whole probe'} | {' | '.join(pair)} | "
              f"{' | '.join(rig.median(more[load], '{:+.1f}') for load in LOADS)} |")


def main():
    names = subprocess.run([f"{rig.BUILD}/tools/alone"], capture_output=True, text=True, check=True).stdout.split()
    off, whole = set(), ["nothing", "all"]
    memory, disk = rig.Disk(256), rig.File(256)
    try:
        with tempfile.TemporaryDirectory() as tmp:
            os.mkdir(f"{tmp}/keys")
            print(f"| disk | source | {' | '.join(f'{load}, us' for load in LOADS)} | {' | '.join(f'{load}, %' for load in LOADS)} |")
            print(f"|---|---|{'---|' * 2 * len(LOADS)}")
            single = whole if WHOLE else ["nothing", *names, "all"]
            lines("in memory", beside(memory, single, tmp, off), single, off)
            lines("of this machine", beside(disk, whole, tmp, off), whole, off)
            in_kernel({"in memory": memory, "of this machine": disk}, tmp)
    finally:
        memory.close()
        disk.close()


main()
