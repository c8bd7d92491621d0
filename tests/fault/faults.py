# SPDX-License-Identifier: Apache-2.0
"""faults.py - what can be done to a server from outside, each a context manager that keeps the
truth: when it was on (wall ns), and to whom."""
import json
import mmap
import os
import signal
import subprocess
import threading
import time

import hosts
import servers


class Fault:
    """Nothing: the handler does it."""

    def __init__(self, rig, server):
        self.rig, self.server = rig, server

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Background(Fault):
    """Something that is done again and again, by a thread of ours, until the end."""

    def __enter__(self):
        self.over = threading.Event()
        self.windows = []
        self.thread = threading.Thread(target=self.loop)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def loop(self):
        while not self.over.wait(self.every):
            self.once()


class Stopped(Background):
    """All of the server is stopped for 250 ms."""
    every, for_s = 0.6, 0.25

    def once(self):
        pids = self.server.pids()
        before = self.rig.hosts.counters()
        self.signal(pids, signal.SIGSTOP)
        start = time.time_ns()
        time.sleep(self.for_s)
        end = time.time_ns()
        self.signal(pids, signal.SIGCONT)
        after = self.rig.hosts.counters()
        self.windows.append((start, end, after["ListenOverflows"] - before["ListenOverflows"]))

    def signal(self, pids, which):
        for pid in pids:
            try:
                os.kill(pid, which)
            except ProcessLookupError:
                pass


class OftenStopped(Stopped):
    """Only few fit into a short queue."""
    every = 0.3


class Process(Fault):
    """Others on the machine, in a cgroup of their own."""

    def __exit__(self, *_):
        for p in self.processes:
            p.kill()
            p.wait()

    def start(self, command, n, cpu):
        def place():
            os.sched_setaffinity(0, {cpu})
        self.processes = [subprocess.Popen(command, preexec_fn=place, stdin=subprocess.DEVNULL) for _ in range(n)]
        self.rig.hosts.cgroups.share("hog", [p.pid for p in self.processes])


class Hog(Process):
    """Three busy loops on the server's processor, which they share with it as four equals."""

    def __enter__(self):
        self.rig.hosts.cgroups.weight("hog", 60)
        self.rig.hosts.cgroups.weight("server", 20)
        self.rig.hosts.cgroups.share("server", self.server.pids())
        self.start([self.rig.build + "/fault/faulthog"], 3, self.rig.cpu)
        time.sleep(0.2)
        return self


class BusyDisk(Background):
    """Writers that go around the page cache, on the disk of the server's files."""
    every, writers, size = 0, 10, 4 << 20

    def __enter__(self):
        self.files = []
        for i in range(self.writers):
            path = "%s/busy-%d.dat" % (self.rig.dir, i)
            self.files.append(os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600))
            os.truncate(path, 64 << 20)
        self.over, self.windows = threading.Event(), []
        self.threads = [threading.Thread(target=self.write, args=(fd,)) for fd in self.files]
        for t in self.threads:
            t.start()
        time.sleep(0.5)
        return self

    def write(self, fd):
        block, at = mmap.mmap(-1, self.size), 0
        while not self.over.is_set():
            os.pwrite(fd, block, at % (64 << 20))
            at += self.size

    def __exit__(self, *_):
        self.over.set()
        for t in self.threads:
            t.join()
        for i, fd in enumerate(self.files):
            os.close(fd)
            os.unlink("%s/busy-%d.dat" % (self.rig.dir, i))


class Quota(Fault):
    percent = 20

    def __enter__(self):
        self.rig.hosts.cgroups.share("server", self.server.pids())
        self.rig.hosts.cgroups.quota(self.percent)
        return self

    def __exit__(self, *_):
        self.rig.hosts.cgroups.quota(0)


class MemoryLimit(Fault):
    """So little above what the server has now that its page cache gives way to itself."""
    spare_mib = 24

    def __enter__(self):
        rss = 0
        for pid in self.server.pids():
            rss += int(open("/proc/%d/statm" % pid).read().split()[1]) * 4 // 1024
        self.rig.hosts.cgroups.memory(rss + self.spare_mib)
        return self

    def __exit__(self, *_):
        self.rig.hosts.cgroups.memory(0)


class SlowReads(Fault):
    """The disk gives the server's host so little; its bytes per second."""
    rates = {"nginx": 24 << 20, "node": 24 << 20}  # these read ahead
    rate = 6 << 20

    def device(self):
        d = os.stat(self.rig.dir).st_dev
        return "%d:%d" % (os.major(d), os.minor(d))

    def __enter__(self):
        self.rig.hosts.cgroups.read_limit(self.device(), self.rates.get(self.server.kind, self.rate))
        return self

    def __exit__(self, *_):
        self.rig.hosts.cgroups.read_limit(self.device(), 0)


class Loss(Fault):
    """Segments are lost where they come in at `host`."""

    def __init__(self, rig, server, host, modes, one_in, burst_ms=30, after=0, sport=0, dport=0):
        super().__init__(rig, server)
        b = rig.build + "/fault/"
        self.command = [b + "drop", b + "drop.bpf.o", hosts.NAMES[host], "eth0", modes] + [
            str(x) for x in (one_in, burst_ms, after, sport, dport)]

    def __enter__(self):
        self.before = self.rig.hosts.counters()
        self.out = open(self.rig.dir + "/drop.log", "w+")
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=self.out)
        for _ in range(100):
            if os.path.getsize(self.out.name):
                return self
            time.sleep(0.05)
        raise RuntimeError("the network does not lose segments: " + " ".join(self.command))

    def __exit__(self, *_):
        time.sleep(1.5)  # what was lost last is still to come by again
        self.process.stdin.close()
        self.process.wait()
        self.out.seek(0)
        self.events = [json.loads(line) for line in self.out]
        self.out.close()
        after = self.rig.hosts.counters()
        self.counted = {k: after[k] - self.before[k] for k in after}

    def flows(self, key):
        """port -> (ms that something was missing, modes, first head), of the port named by key."""
        found = {}
        for e in self.events:
            if e["what"] == "ready":
                continue
            f = found.setdefault(e[key], {"since": None, "from": 0, "ms": 0, "modes": set(), "head": "", "lost": 0})
            if e["what"] == "first":
                f["head"] = e["head"]
            elif e["what"] == "dropped":
                f["modes"].add(e["mode"])
                f["lost"] += 1
                f["from"] = f["from"] or e["ns"]
                f["since"] = f["since"] or e["ns"]
            elif f["since"]:
                f["ms"] += (e["ns"] - f["since"]) / 1e6
                f["since"] = None
        return found


def client_loss(rig, server):
    return Loss(rig, server, "client", "burst", 1, 40, 5, sport=servers.PORT)


def upstream_loss(rig, server):
    return Loss(rig, server, "up", "syn,burst", 1, 30, 0, dport=servers.UP_PORT)


def upstream_loss_any(rig, server):
    return Loss(rig, server, "up", "any", 60, dport=servers.UP_PORT)
