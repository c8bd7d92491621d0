# SPDX-License-Identifier: Apache-2.0
"""causes.py - the sixteen causes: what each server is asked for with and without it, what is done to
it from outside, how many clients there are, and what a diagnosis of it says."""
import random

import faults
import hosts
import servers

SMALL, BIG = 512, 300000
NO_LOCK = "nginx has one thread; its locks are spun on for nanoseconds, and no other thread holds one"
NO_SYNC = "nginx never calls fsync"
NO_SLEEP = "nginx has no handler that sleeps: a limit_req delay is a queue, and reads as one"


def ms(low=70, high=150):
    return random.randint(low, high)


class Cause:
    """plain() and faulty() make a request; `fault` makes the context manager around the faulty ones."""
    codes, parts = (), ()  # reasons that are right; parts of the split that hold the injected time
    fault = faults.Fault
    clients, rate, warm_rate, backlog = 4, 40, 60, 512
    name_key = None  # parameter of the reason that names the culprit
    server_of = {}  # server kind -> (number of clients, rate) that differ
    never = {}  # server kind -> why not
    fails = False  # abnormal by its status: there is no time to find
    by_chance = False  # the fault is there at times, and hits who comes

    def __init__(self, kind):
        self.kind = kind

    def plain(self):
        return {}

    def faulty(self):
        return {"query": "f=%s&ms=%d" % (self.act, ms())}


class ClientLoss(Cause):
    """client-side loss"""
    codes, parts, name_key = ("net.loss",), ("client", "network"), "peer"
    fault = staticmethod(faults.client_loss)
    clients, rate = 10, 50

    def plain(self):
        return {"query": "n=%d" % BIG, "new": True}

    faulty = plain


class UpstreamLoss(Cause):
    """upstream-side loss"""
    codes, parts, name_key = ("net.loss",), ("upstream",), "peer"
    fault = staticmethod(faults.upstream_loss)
    clients, rate = 12, 60

    def plain(self):
        return {"query": "f=up"} if self.kind != "nginx" else {}

    faulty = plain


class ClosedWindow(Cause):
    """closed window"""
    codes, parts, name_key = ("net.peer_window",), ("client",), "peer"

    def plain(self):
        return {"query": "n=%d" % BIG}

    def faulty(self):
        return dict(self.plain(), mode="window", pause=ms())


class SlowClient(Cause):
    """slow client"""
    codes, parts, name_key = ("client.slow",), ("client",), "peer"

    def plain(self):
        return {"mode": "body"}

    def faulty(self):
        return {"mode": random.choice(("body", "head")), "pause": ms()}


class AppStopped(Cause):
    """app stopped"""
    codes, parts = ("queue.app", "stopped"), ("queue", "stopped")
    fault, by_chance = faults.Stopped, True
    clients, rate = 16, 80
    faulty = Cause.plain


class AcceptQueue(Cause):
    """accept queue full"""
    codes, parts = ("queue.accept",), ("queue",)
    fault, by_chance = faults.OftenStopped, True
    clients, rate, backlog, warm_rate = 16, 60, 4, 30

    def plain(self):
        return {"new": True}

    faulty = plain


class CpuHog(Cause):
    """CPU hog beside"""
    codes, parts, name_key = ("cpu.wait",), ("runqueue",), "who"
    fault = faults.Hog
    clients, rate, warm_rate = 1, 20, 25

    def plain(self):
        return {"query": "kb=middle", "headers": ["Accept-Encoding: gzip"]} if self.kind == "nginx" else {"query": "f=burn&ms=20"}

    faulty = plain


class OwnBusy(Cause):
    """own busy loop"""
    codes, parts = ("cpu.own",), ("cpu",)
    clients, rate, warm_rate = 1, 20, 40

    def plain(self):
        return {"query": "kb=small", "headers": ["Accept-Encoding: gzip"]} if self.kind == "nginx" else {"query": "f=burn&ms=1"}

    def faulty(self):
        return dict(self.plain(), query="kb=big" if self.kind == "nginx" else "f=burn&ms=%d" % ms())


class Quota(Cause):
    """cgroup quota"""
    codes, parts, name_key = ("cpu.throttled",), ("throttled",), "cgroup"
    fault = faults.Quota
    clients, rate, warm_rate = 1, 15, 25

    plain = CpuHog.plain
    faulty = plain


class BusyFsync(Cause):
    """fsync on a busy disk"""
    codes, parts, name_key = ("io.block",), ("io", "dirty"), "file"
    fault = faults.BusyDisk
    clients, rate, never = 1, 10, {"nginx": NO_SYNC}

    def plain(self):
        return {"query": "f=fsync&kb=1024"}

    faulty = plain


class ColdRead(Cause):
    """read of uncached files"""
    codes, parts, name_key = ("io.block",), ("io",), "file"
    fault = faults.SlowReads
    clients, rate = 1, 15

    def plain(self):
        if self.kind == "nginx":
            return {"headers": ["Range: bytes=0-700000"]}
        return {"query": "f=read&kb=700"}

    def faulty(self):
        return dict(self.plain(), cold=["catalog.dat"])


class Reclaim(Cause):
    """memory limit with reclaim"""
    codes, parts, name_key = ("mem.reclaim",), ("reclaim",), "cgroup"
    fault = faults.MemoryLimit
    clients, rate, warm_rate = 1, 5, 20
    never = {"nginx": "nginx takes no new memory for a request beyond its small pool, and the clean page cache of its files goes at once"}

    def plain(self):
        return {"query": "f=memory&kb=98304"}

    faulty = plain


class Lock(Cause):
    """contended lock held by another thread"""
    codes, parts, name_key, act, never = ("lock",), ("lock",), "who", "lock", {"nginx": NO_LOCK}
    clients, rate = 1, 12


class Sleep(Cause):
    """sleep in handler"""
    codes, parts, act, never = ("sleep",), ("sleep",), "sleep", {"nginx": NO_SLEEP}


class SlowUpstream(Cause):
    """slow upstream"""
    codes, parts, name_key = ("up.slow",), ("upstream",), "addr"

    def plain(self):
        return {"query": "f=up"} if self.kind != "nginx" else {}

    def faulty(self):
        return {"query": "f=%s&ms=%d" % ("sleep" if self.kind == "nginx" else "up&uf=sleep", ms())}


class Refused(Cause):
    """refused upstream"""
    codes, parts, name_key, fails = ("up.connect",), (), "addr", True

    def plain(self):
        return {} if self.kind == "nginx" else {"query": "f=up"}

    def faulty(self):
        return {"query": "f=up&port=%d" % servers.NO_PORT}


class NoFault(Cause):
    """no fault"""
    codes, clients, rate = ("unknown",), 1, 40


class ManyLost(UpstreamLoss):
    """loss of every kind to the upstream, in long uploads"""
    fault = staticmethod(faults.upstream_loss_any)
    clients, rate = 4, 12

    def faulty(self):
        return {"body": 200000}


CAUSES = {
    "client-loss": ClientLoss, "upstream-loss": UpstreamLoss, "window": ClosedWindow, "slow-client": SlowClient,
    "stopped": AppStopped, "accept": AcceptQueue, "hog": CpuHog, "busy": OwnBusy, "quota": Quota, "fsync": BusyFsync,
    "read": ColdRead, "memory": Reclaim, "lock": Lock, "sleep": Sleep, "slow-upstream": SlowUpstream, "refused": Refused,
}


def names_of(cause, server, record):
    """What the named parameter has to be, one of these endings; None: nothing is to be named."""
    if cause.name_key == "peer":
        return ("%s:" % hosts.UP, hosts.UP) if isinstance(cause, UpstreamLoss) else ("%s:" % hosts.CLIENT, hosts.CLIENT)
    if cause.name_key == "who":
        return ("faulthog",) if isinstance(cause, CpuHog) else (record["who"], record["who"].split("[")[0] + "[%d]" % record["pid"])
    if cause.name_key == "cgroup":
        return ("/%s/server" % hosts.GROUP,)
    if cause.name_key == "file":
        return (record.get("what") or server.dir + "/catalog.dat",)
    if cause.name_key == "addr":
        return ("%s:%d" % (hosts.UP, servers.NO_PORT if cause.fails else servers.UP_PORT),)
    return None
