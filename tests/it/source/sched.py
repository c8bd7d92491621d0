#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sched.py CGROUP SECONDS: processes born in that cgroup that wait for one CPU; prints what the kernel itself counted of them:
times they were given a CPU, ns that they waited, and ns that the one that made them waited while it was in there."""
import os
import sys
import time


def schedstat(pid):
    _, waited, times = open(f"/proc/{pid}/schedstat").read().split()
    return int(times), int(waited)


def settled(pid):
    """Of one that has ended, and leaves its CPU for the last time at about now."""
    last = None
    while last != (last := schedstat(pid)):
        time.sleep(0.05)
    return last


def work(until):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    while time.monotonic() < until:
        end = time.monotonic() + 0.002
        while time.monotonic() < end:
            pass
        time.sleep(0.0005)
    os._exit(0)


group, seconds = sys.argv[1], float(sys.argv[2])
before = schedstat("self")
time.sleep(0.01)  # time: it leaves the CPU: a wait is counted when the task leaves the CPU: those until here still for its old cgroup
with open(group + "/cgroup.procs", "w") as f:
    f.write("0")
children = []
for _ in range(4):
    pid = os.fork()
    if not pid:
        work(time.monotonic() + seconds)
    children.append(pid)
with open(os.path.dirname(group) + "/cgroup.procs", "w") as f:
    f.write("0")
own = schedstat("self")[1] - before[1]
for pid in children:
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
all_of = [settled(pid) for pid in children]
print(sum(a[0] for a in all_of), sum(a[1] for a in all_of), own)
