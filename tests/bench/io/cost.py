# SPDX-License-Identifier: Apache-2.0
"""cost.py ROUNDS SECONDS - how much slower fio is beside each source alone, and beside the whole probe: Markdown."""
import collections
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import rig

ROUNDS, SECONDS = int(sys.argv[1]), sys.argv[2]
LOADS = {"4K psync": ("psync", "4k", "randwrite"), "4K io_uring": ("io_uring", "4k", "randwrite"), "1M write": ("psync", "1m", "write")}
NOBODY = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"  # a key of no collector
GOAL = 1


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


def us(disk, load):
    engine, block, mode = LOADS[load]
    said = rig.fio(disk, engine, block, mode, time_based=1, runtime=f"{float(SECONDS) * 1000:.0f}ms", cpus_allowed=1, size=disk.bytes)
    return 1e6 / said["write"]["iops"]


def main():
    names = subprocess.run([f"{rig.BUILD}/tools/alone"], capture_output=True, text=True, check=True).stdout.split()
    variants = ["nothing", *names, "all"]
    took = collections.defaultdict(list)
    disk = rig.Disk(256)
    off, p = set(), None
    try:
        with tempfile.TemporaryDirectory() as tmp:
            os.mkdir(f"{tmp}/keys")
            for load in LOADS:
                us(disk, load)  # the first is slower
            for i in range(ROUNDS):
                for name in variants:
                    rig.say(f"round {i + 1} of {ROUNDS}: {name}")
                    base = {load: us(disk, load) for load in LOADS}  # beside each, as the machine drifts
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
        disk.close()
    print(f"| source | {' | '.join(f'{load}, us' for load in LOADS)} | {' | '.join(f'{load}, %' for load in LOADS)} |")
    print(f"|---|{'---|' * 2 * len(LOADS)}")
    for name in variants:
        if name in off:
            print(f"| {name} | off here |" + " |" * (2 * len(LOADS) - 1))
            continue
        more = {load: [(b - a) * 100 / a for a, b in took[name, load]] for load in LOADS}
        beside = [f"{statistics.median([a for a, _ in took[name, load]]):.2f} {statistics.median([b for _, b in took[name, load]]):.2f}" for load in LOADS]
        print(f"| {name if name != 'all' else 'the whole probe'} | {' | '.join(beside)} | {' | '.join(rig.median(more[load], '{:+.1f}') for load in LOADS)} |")
    over = [f"{load} {statistics.median([(b - a) * 100 / a for a, b in took['all', load]]):+.1f} %" for load in LOADS
            if statistics.median([(b - a) * 100 / a for a, b in took["all", load]]) > GOAL]
    print(f"\nThe goal, {GOAL} % with the whole probe, is " + ("not reached: " + ", ".join(over) if over else "reached") + ".")


main()
