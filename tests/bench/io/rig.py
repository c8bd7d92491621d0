# SPDX-License-Identifier: Apache-2.0
"""rig.py - what the benches of I/O share: a disk in memory, fio in a cgroup of its own, and the probe's sources beside it."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests/lib")
from reads import Reads  # noqa: E402  as truth.py reads them

signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was begun is ended, too
BUILD = os.environ.get("B", "build")
MIB = 1 << 20


def say(text):
    print(f"  {time.strftime('%T', time.gmtime())}  {text}", file=sys.stderr, flush=True)


def cgroup2():
    with open("/proc/self/mounts", encoding="utf-8") as f:
        return next(s.split()[1] for s in f if s.split()[2] == "cgroup2")


class Disk:
    """A loop device over a file in memory: what it takes is the kernel's part, and its counters move for nobody else."""

    def __init__(self, mib):
        self.file = f"/dev/shm/seismo-bench.{os.getpid()}"
        subprocess.run(["truncate", "-s", f"{mib}M", self.file], check=True)
        subprocess.run(["shred", "-n1", self.file], check=True)  # each page is there
        for direct in ("--direct-io=on", "--direct-io=off"):
            made = subprocess.run(["losetup", "-f", "--show", direct, self.file], capture_output=True, text=True, check=False)
            if made.returncode == 0:
                break
        self.path = made.stdout.strip()
        self.name = os.path.basename(self.path)
        self.bytes = mib * MIB

    def stat(self):
        """Of /sys/block: (reads, bytes read, ms) and the same of writes."""
        with open(f"/sys/block/{self.name}/stat", encoding="ascii") as f:
            n = [int(w) for w in f.read().split()]
        return {"read": (n[0], n[2] * 512, n[3]), "write": (n[4], n[6] * 512, n[7])}

    def close(self):
        subprocess.run(["losetup", "-d", self.path], check=False)
        os.unlink(self.file)


class File:
    """On the disk that the build lies on."""

    def __init__(self, mib):
        self.path, self.bytes = f"{os.path.abspath(BUILD)}/bench-io.{os.getpid()}", mib * MIB
        subprocess.run(["dd", "if=/dev/urandom", f"of={self.path}", "bs=1M", f"count={mib}", "conv=fsync", "status=none"], check=True)

    def close(self):
        os.unlink(self.path)


class Cgroup:
    def __init__(self):
        self.path = f"/seismo-bench.{os.getpid()}"
        self.dir = cgroup2() + self.path
        os.mkdir(self.dir)

    def close(self):
        for _ in range(50):
            try:
                os.rmdir(self.dir)
                return
            except OSError:
                time.sleep(0.1)


def fio_args(disk, engine, block, mode, **more):
    args = {"name": "b", "filename": disk.path, "ioengine": engine, "bs": block, "rw": mode, "direct": 1, "randrepeat": 1, "norandommap": 1,
            "iodepth": 8 if engine in ("libaio", "io_uring") else 1, "output-format": "json", "eta": "never", "disk_util": 0,
            "clat_percentiles": 0, "lat_percentiles": 0, **more}
    return ["fio", *(f"--{k}={v}" for k, v in args.items())]


def fio(disk, engine, block, mode, cgroup=None, **more):
    """One job; what fio says of it: {"read": ..., "write": ...}. It alone is in the cgroup, not who starts it and reads fio from the disk."""
    if cgroup:
        more["exec_prerun"] = f"echo $PPID >{cgroup.dir}/cgroup.procs; true"  # fio puts what it says into a file of its own
    with tempfile.TemporaryDirectory() as tmp:
        out = subprocess.run(fio_args(disk, engine, block, mode, **more), check=True, capture_output=True, text=True, cwd=tmp).stdout
    return json.loads(out[out.index("{"):])["jobs"][0]


def slot(name):
    """disk_read_latency_us_16: up to so many, the first all up to it, _more all above."""
    last = name.rsplit("_", 1)[1]
    return float("inf") if last == "more" else int(last)


def slots(values, prefix):
    return sorted((slot(n), v) for n, v in values.items() if n.startswith(prefix))
