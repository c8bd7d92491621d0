# SPDX-License-Identifier: Apache-2.0
"""truth_load.py - what moves the counters that truth.py looks at: work, in cgroups and a network of its own."""
import ctypes
import mmap
import os
import random
import signal
import socket
import struct
import subprocess
import time

MIB = 1 << 20
SYS_CLONE, CLONE_VFORK, PR_SET_PDEATHSIG = (56 if os.uname().machine == "x86_64" else 220), 0x4000, 1
LIBC = ctypes.CDLL(None)


def forked():
    """As os.fork; the child does not outlive its parent."""
    pid = os.fork()
    if pid == 0:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    return pid


def put(path, value):
    with open(path, "w", encoding="ascii") as f:
        f.write(str(value))


class Worker:
    """A process of its own name in a cgroup of its own, in each hierarchy. It does one piece of work for each byte that it gets."""

    def __init__(self, mounts, path, disk):
        self.dirs = [f"{d}{path}" for d in dict.fromkeys(mounts.values())]
        for d in self.dirs:
            os.makedirs(d)
        if "cpu" in mounts:
            put(f"{mounts['cpu']}{path}/cpu.cfs_period_us", 10000)
            put(f"{mounts['cpu']}{path}/cpu.cfs_quota_us", 1000)
        if "memory" in mounts:
            put(f"{mounts['memory']}{path}/memory.limit_in_bytes", 48 * MIB)
        if "pids" in mounts:
            put(f"{mounts['pids']}{path}/pids.max", 50)
        self.name, self.disk = f"truth{os.getpid()}", disk
        ours, theirs = socket.socketpair()
        self.pid = forked()
        if self.pid == 0:
            self.live(theirs)
        self.line = ours
        self.line.recv(1)

    def live(self, line):
        try:
            for d in self.dirs:
                put(f"{d}/cgroup.procs", os.getpid())
            put("/proc/self/comm", self.name)
            line.send(b".")
            while (what := line.recv(1)) != b"e":
                self.work(what)
                line.send(b".")
        finally:
            os._exit(0)

    def work(self, what):
        end = time.thread_time() + 0.015  # fifteen times its share of a period
        while time.thread_time() < end:
            pass
        direct, page = os.open(self.disk, os.O_RDWR | os.O_CREAT | os.O_DIRECT), mmap.mmap(-1, 65536)
        for i in range(4):
            os.pwrite(direct, page, i * 65536)
            os.preadv(direct, [page], i * 65536)
        os.close(direct)
        with open(f"{self.disk}.cached", "wb") as f:
            f.write(bytes(MIB))
        os.truncate(f"{self.disk}.cached", 0)  # not written yet: taken back
        if what == b"o" and forked() == 0:
            kept = [b"x" * MIB for _ in range(200)]
            os._exit(len(kept))
        if what == b"o":
            os.wait()

    def do(self, what):
        self.line.send(what)
        self.line.recv(1)

    def end(self):
        self.line.send(b"e")
        os.waitpid(self.pid, 0)
        for _ in range(50):  # one that had tasks just now is busy for a moment
            for d in [d for d in self.dirs if os.path.isdir(d)]:
                try:
                    os.rmdir(d)
                except OSError:
                    time.sleep(0.1)  # time: between two tries


class Sleepers:
    """Each sleeps uninterruptibly, as who has forked by vfork does until its child goes on."""

    def __init__(self, count):
        self.gate, self.key = os.pipe()
        self.pids = []
        for _ in range(count):
            pid = forked()
            if pid == 0:
                if LIBC.syscall(SYS_CLONE, CLONE_VFORK | signal.SIGCHLD, 0, 0, 0, 0) == 0:
                    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                    os.read(self.gate, 1)
                os._exit(0)
            self.pids.append(pid)

    def end(self):
        os.write(self.key, bytes(len(self.pids)))
        for pid in self.pids:
            os.waitpid(pid, 0)


class Network:
    """Two ends of one cable in this network namespace, and connections over lo of every fate."""

    def __init__(self):
        for args in ("link set lo up", "link add inner0 type veth peer name inner1", "link set inner0 up", "link set inner1 up"):
            subprocess.run(["ip", *args.split()], check=True)
        self.full = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.waiting = []
        self.server = socket.create_server(("127.0.0.1", 0))
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.nobody = s.getsockname()

    def overflow(self):
        """More connections than the backlog has room for: their SYNs are dropped, and sent again."""
        for _ in range(4):
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex(self.full.getsockname())
            self.waiting.append(s)

    def frames(self, count):
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
            s.bind(("inner0", 0))
            for _ in range(count):
                s.send(b"\xff" * 12 + b"\x88\xb5" + bytes(random.randrange(50, 400)))

    def datagrams(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as full, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            full.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            full.bind(("127.0.0.1", 0))
            for _ in range(50):
                out.sendto(bytes(500), full.getsockname())

    def damaged(self):
        """A segment whose checksum is wrong."""
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP) as s:
            s.sendto(struct.pack("!HHIIBBHHH", 1, self.server.getsockname()[1], 0, 0, 5 << 4, 2, 100, 0xbad, 0), ("127.0.0.1", 0))

    def connections(self):
        for _ in range(3):
            with socket.create_connection(self.server.getsockname()) as c, self.server.accept()[0] as a:
                c.sendall(bytes(1000))
                a.recv(1000)
                a.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset
        with socket.socket() as s:
            s.connect_ex(self.nobody)

    def do(self):
        self.frames(random.randrange(10, 40))
        self.datagrams()
        self.damaged()
        self.connections()


def node(disk):
    """What anybody does: memory, a program, a file that is written and one that is read."""
    held = mmap.mmap(-1, 8 * MIB)
    for at in range(0, 8 * MIB, 4096):
        held[at] = 1
    subprocess.run(["true"], check=True)
    with open(f"{disk}.synced", "wb") as f:
        f.write(os.urandom(256 << 10))
        f.flush()
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with open(f"{disk}.synced", "rb") as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
        m.madvise(mmap.MADV_RANDOM)
        assert m[100_000] is not None  # a fault that has to wait for the disk
