# SPDX-License-Identifier: Apache-2.0
# stalls.py KIND SECONDS PATH CGROUP... - joins the cgroups, then has one thing waited for: disk (small direct writes and
# syncs of PATH, a slow device), memory (reads a file again and again that does not fit into its cgroup) or cpu (PATH
# processes at one CPU).
import mmap, os, random, sys, time

kind, seconds, path, *cgroups = sys.argv[1:]
os.setpriority(os.PRIO_PROCESS, 0, 0)  # what is nice waits by its own will, and does not count
SIZE = 24 << 20


def disk():
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    page = mmap.mmap(-1, 4096)
    for i in range(1 << 30):
        os.pwrite(fd, page, (i % 1000) * 4096)
        if i % 8 == 0:
            os.fsync(fd)
        yield


def memory():
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, SIZE, os.POSIX_FADV_RANDOM)
    while True:
        at = random.randrange(SIZE) & ~4095
        os.pread(fd, 4096, at)
        os.pread(fd, 1, at)  # twice: it is in use
        yield


def cpu():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for _ in range(int(path) - 1):
        if os.fork() == 0:
            break
    while True:
        sum(range(1000))
        yield


if kind == "memory":  # not yet in its cgroup
    with open(path, "wb") as f:
        f.write(bytes(SIZE))
        f.flush()
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, SIZE, os.POSIX_FADV_DONTNEED)
for c in cgroups:
    with open(f"{c}/cgroup.procs", "w") as f:
        f.write(str(os.getpid()))
until = time.monotonic() + float(seconds)
for _ in {"disk": disk, "memory": memory, "cpu": cpu}[kind]():
    if time.monotonic() >= until:
        break
