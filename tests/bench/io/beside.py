# SPDX-License-Identifier: Apache-2.0
"""beside.py SECONDS - histograms of the probe's beside those of libbpf-tools, of the same events: Markdown."""
import os
import re
import signal
import subprocess
import sys
import time

import rig

SECONDS = int(sys.argv[1])
BEFORE = 2  # seconds from the start of a tool until its programs are attached for certain
MOST_TOTAL, MOST_SHARE, COUNTED = 1, 3, 1  # percent; percentage points; percent of all in a bucket


def of_tool(text):
    """{upper end of the bucket, us: count} of lines like "  16 -> 31  : 42  |***".

    They have what is at least 16 and less than 32; the probe what is more than 16 and up to 32: the same but for what is just 16."""
    return {int(m[2]) + 1: int(m[3]) for m in re.finditer(r"^\s*(\d+) -> (\d+)\s*: (\d+)", text, re.M)}


def cumulative(counts, ends):
    total = sum(counts.values()) or 1
    return [sum(v for end, v in counts.items() if end <= e) * 100 / total for e in ends]


def from_end(counts, first):
    return {**{e: v for e, v in counts.items() if e > first}, first: sum(v for e, v in counts.items() if e <= first)}


def compare(name, tool, theirs, ours, least=0):
    first = max(min(ours), min(theirs, default=0), least)  # where both begin
    theirs, ours = from_end(theirs, first), from_end(ours, first)
    total, other = sum(ours.values()), sum(theirs.values())
    ends = sorted(e for e in {*ours, *theirs} if e != float("inf") and
                  max(ours.get(e, 0) / (total or 1), theirs.get(e, 0) / (other or 1)) * 100 >= COUNTED)
    apart = max((abs(a - b) for a, b in zip(cumulative(ours, ends), cumulative(theirs, ends))), default=0)
    off = (total - other) * 100 / (other or 1)
    good = other > 0 and abs(off) <= MOST_TOTAL and apart <= MOST_SHARE
    print(f"| {name} | {tool} | {total:.0f} | {other} | {off:+.2f} | {apart:.1f} | {len(ends)} | {'yes' if good else '**no**'} |")


def summed(readings, prefix):
    """Of all entities together."""
    counts = {}
    for values in readings.values():
        for end, v in rig.slots(values, prefix):
            counts[end] = counts.get(end, 0) + (v if v == v else 0)
    return counts


def load(disk):
    """Waits for the disk and for processors."""
    pair = subprocess.Popen([f"{rig.BUILD}/tools/pingpong", "0", "100000000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            start_new_session=True)
    try:
        rig.fio(disk, "libaio", "4k", "randrw", time_based=1, runtime=SECONDS, size=disk.bytes)
    finally:
        os.killpg(pair.pid, signal.SIGKILL)
        pair.wait()


def main():
    disk = rig.Disk(256)
    reads = rig.Reads(f"{rig.BUILD}/tools/reads", f"{rig.BUILD}/programs")
    try:
        tools = {"biolatency": ["biolatency", "-d", disk.name, str(SECONDS + 2 * BEFORE), "1"], "runqlat": ["runqlat", str(SECONDS + 2 * BEFORE), "1"]}
        running = {n: subprocess.Popen(a, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for n, a in tools.items()}
        time.sleep(BEFORE)
        for source in ("block", "own.runqlat"):
            reads.ask(source)
        rig.say(f"{SECONDS} s beside biolatency and runqlat")
        load(disk)
        block, runq = reads.ask("block"), reads.ask("own.runqlat")
        said = {n: p.communicate()[0] for n, p in running.items()}
        print("| of the probe | libbpf-tools | events | theirs | off, % | cumulative shares apart at most, points | buckets with 1 % or more | agree |")
        print("|---|---|---|---|---|---|---|---|")
        of_disk = {disk.name: block["diskio"].get(disk.name, {})}
        ours = summed(of_disk, "disk_read_latency_us_")
        for end, v in summed(of_disk, "disk_write_latency_us_").items():
            ours[end] = ours.get(end, 0) + v
        compare("block: requests to a disk, by latency", "biolatency", of_tool(said["biolatency"]), ours)
        waits = of_tool(said["runqlat"]), summed(runq["own"], "runqueue_latency_us_")
        compare("runqlat (own program): waits for a processor", "runqlat", *waits)
        compare("the same, all up to 8 us in one bucket", "runqlat", *waits, 8)
        reads.end()
    finally:
        disk.close()
    print(f"\nWaits for a processor: those of the {2 * BEFORE} s around the load are in their count and not in ours. Most are of some 2 us, which is the end of "
          "a bucket, and both programs hang on the same hooks: the one that runs second has the first one's time in its own. offcputime has no counterpart: what is off "
          "CPU time is reported for requests, by the part it belongs to, and not of all tasks; beside the requests' own times it is `make faults`.")


main()
