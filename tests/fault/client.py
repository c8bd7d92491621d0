# SPDX-License-Identifier: Apache-2.0
"""client.py NETNS HOST:PORT CONNECTIONS - the clients of the fault bench.

Reads requests as lines of JSON from standard input, sends each when it is due, and prints a line of
JSON for each when it is over: when it was sent and answered (wall ns), from which port, what it did
to the server (a pause: its own truth), and what schedstat said of watched processes meanwhile.

  {"at": s, "path": "/c/1", "query": "f=sleep&ms=80", "mode": "plain"}
  mode  plain | body: a pause between head and body | head: a pause within the head |
        window: a pause before the answer is read, with a small receive buffer
  pause (ms), new (a connection of its own), cold: [file, ...] to be read from disk, watch: [pid, ...],
  quota: cpu.stat of its cgroup
"""
import ctypes
import json
import os
import queue
import socket
import sys
import threading
import time

import taskstats

CLONE_NEWNET = 0x40000000
RCVBUF = 32768
failed = []


def enter(netns):
    fd = os.open("/run/netns/" + netns, os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(fd, CLONE_NEWNET):
        sys.exit("cannot enter " + netns)
    os.close(fd)


def accounts(pids, stats):
    """Nanoseconds: on a CPU, waiting for one, for block I/O, in reclaim."""
    cpu = delay = blkio = reclaim = 0
    for pid in pids:
        for tid in os.listdir("/proc/%d/task" % pid):
            a, b = open("/proc/%d/task/%s/schedstat" % (pid, tid)).read().split()[:2]
            cpu, delay = cpu + int(a), delay + int(b)
            if stats:
                b, r = stats.delays(int(tid))
                blkio, reclaim = blkio + b, reclaim + r
    return cpu, delay, blkio, reclaim


def sent_again(pid):
    """Segments, in the network namespace of that process."""
    lines = [line.split() for line in open("/proc/%d/net/snmp" % pid) if line.startswith("Tcp:")]
    return int(dict(zip(*lines))["RetransSegs"])


def throttled_us(path):
    """Of the cgroup, since it was made."""
    for line in open(path):
        key, value = line.split()
        if key in ("throttled_time", "throttled_usec"):
            return int(value) / (1e3 if key == "throttled_time" else 1)
    return 0


def chill(path):
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


class Connection:
    def __init__(self, to):
        self.to, self.s = to, None

    def open(self, small):
        self.s = socket.socket()
        self.s.settimeout(20)
        if small:
            self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RCVBUF)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.s.connect(self.to)

    def close(self):
        if self.s:
            self.s.close()
        self.s = None

    def answer(self):
        """Status and bytes of the body; None if the server closed."""
        got, length, status, head = 0, None, None, b""
        while length is None or got < length:
            b = self.s.recv(65536)
            if not b:
                return (status, got) if status and length is None else None
            if length is None:
                head += b
                end = head.find(b"\r\n\r\n")
                if end < 0:
                    continue
                status, length = int(head[9:12]), 0
                for line in head[:end].split(b"\r\n")[1:]:
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                    elif name.lower() == b"transfer-encoding":
                        return self.chunks(head[end + 4:], status)
                got = len(head) - end - 4
            else:
                got += len(b)
        return status, got

    def chunks(self, held, status):
        """To the last chunk, which is empty."""
        tail, got = held[-8:], len(held)
        while not tail.endswith(b"0\r\n\r\n"):
            b = self.s.recv(65536)
            if not b:
                return None
            got, tail = got + len(b), (tail + b)[-8:]
        return status, got


def request_text(r):
    query = "?" + r["query"] if r.get("query") else ""
    body = b"b" * r.get("body", 64 if r["mode"] in ("body", "head") else 0)
    head = "%s %s%s HTTP/1.1\r\nHost: fault\r\n%s%s\r\n" % (
        "POST" if body else "GET", r["path"], query, "Content-Length: %d\r\n" % len(body) if body else "",
        "".join(h + "\r\n" for h in r.get("headers", [])))
    return head.encode(), body


def pause(r, out):
    out["pauseFrom"] = time.time_ns()
    time.sleep(r.get("pause", 0) / 1e3)
    out["pauseTo"] = time.time_ns()


def exchange(c, r, out):
    head, body = request_text(r)
    out["port"] = c.s.getsockname()[1]
    out["sent"] = time.time_ns()
    if r["mode"] == "head":
        c.s.sendall(head[:12])
        pause(r, out)
        head = head[12:]
    c.s.sendall(head)
    if r["mode"] == "body" and r.get("pause"):
        pause(r, out)
    if body:
        c.s.sendall(body)
    if r["mode"] == "window":
        pause(r, out)
    a = c.answer()
    out["end"] = time.time_ns()
    out["status"], out["bytes"] = a or (0, 0)
    return a is not None


def one(c, r, stats):
    out = {"path": r["path"], "tag": r.get("tag", "")}
    small = r["mode"] == "window"
    for path in r.get("cold", []):
        chill(path)
    if small or r.get("new"):
        c.close()
    try:
        watched = accounts(r["watch"], stats) if "watch" in r else None
        segments = sent_again(r["watch"][0]) if watched else 0
        held = throttled_us(r["quota"]) if "quota" in r else 0
        if c.s is None:
            out["dialled"] = time.time_ns()
            c.open(small)
        keep = exchange(c, r, out)
        if "quota" in r:
            out["throttled"] = throttled_us(r["quota"]) - held
        if watched:
            now = accounts(r["watch"], stats)
            out["retrans"] = sent_again(r["watch"][0]) - segments
            out.update(zip(("cpu", "runq", "blkio", "reclaim"), ((b - a) / 1e3 for a, b in zip(watched, now))))
    except OSError as e:
        out["error"], out["end"], keep = str(e), time.time_ns(), False
    if not keep or small or r.get("new"):
        c.close()
    return out


def work(to, todo, begin, stats):
    c = Connection(to)
    while True:
        r = todo.get()
        if r is None:
            return c.close()
        try:
            time.sleep(max(0, begin + r.get("at", 0) - time.monotonic()))
            sys.stdout.write(json.dumps(one(c, r, stats)) + "\n")
        except Exception as e:  # a bug of this client: reported at the end
            failed.append("%s: %r" % (r["path"], e))


def main():
    try:
        stats = taskstats.Taskstats()
    except (OSError, KeyError):
        stats = None  # a kernel without it
    enter(sys.argv[1])
    host, _, port = sys.argv[2].rpartition(":")
    todo, n = queue.Queue(), int(sys.argv[3])
    for line in sys.stdin:
        todo.put(json.loads(line))
    threads = [threading.Thread(target=work, args=((host, int(port)), todo, time.monotonic(), stats)) for _ in range(n)]
    for t in threads:
        todo.put(None)
        t.start()
    for t in threads:
        t.join()
    if failed:
        sys.exit(failed[0])


main()
