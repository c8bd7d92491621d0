# SPDX-License-Identifier: Apache-2.0
"""faults.py - the kinds of fault of the fleet bench: what each does to which hosts, and how an incident is judged by it.

A fault has begin() and end(). right(INCIDENT, FIRST): whether the first candidate is the host, or the edge, of the fault;
FIRST is that of the incident's candidates, with its parts. named(INCIDENT): None where nothing but a host is asked for."""
import signal
import subprocess

import fleethosts as fleet


class Fault:
    regions = ("eu", "us")
    traced = False  # each host of the chain has rows of the same requests

    def __init__(self, services, run):
        self.services, self.region = services, self.regions[run % len(self.regions)]

    def at(self, role):
        return "%s-%s" % (self.region, role)

    def named(self, incident):
        return None

    def is_host(self, incident, *names):
        return (incident["first"] or {}).get("node") in names


class App(Fault):
    """An application sleeps in each request."""
    regions = ("ap", "eu", "us")

    @property
    def traced(self):
        return self.region != "ap"

    def host(self):
        return self.at("shop" if self.region == "ap" else "stock")

    def begin(self):
        self.services.apps[self.host()].send_signal(signal.SIGUSR1)

    def end(self):
        self.services.apps[self.host()].send_signal(signal.SIGUSR2)

    def right(self, incident, first):
        return self.is_host(incident, self.host())


class Cpu(Fault):
    """A host has a tenth of a processor, and somebody else there wants all of it."""

    def begin(self):
        self.services.cgroups.quota(self.at("stock"), 10)
        self.hog = self.services.within(self.at("stock"), [self.services.build + "/fault/faulthog"])

    def end(self):
        self.hog.kill()
        self.services.cgroups.quota(self.at("stock"), 0)
        self.hog.wait()

    def right(self, incident, first):
        return self.is_host(incident, self.at("stock"))


class Loss(Fault):
    """Links that lose segments: where they come in, so that whoever sent them believes that they went out."""

    def links(self):
        """(HOST, PORT): PORT there, or all if 0."""
        raise NotImplementedError

    def begin(self):
        s = self.services
        self.drops = [subprocess.Popen([s.build + "/fault/drop", s.build + "/fault/drop.bpf.o", fleet.PREFIX + host, "eth0", "any", str(self.one_in), "0", "0", "0",
                                        str(port)], stdin=subprocess.PIPE, stdout=s.log, stderr=s.log) for host, port in self.links()]

    def end(self):
        for d in self.drops:
            d.stdin.close()
        if any([d.wait() for d in self.drops]):
            raise OSError("segments cannot be dropped here")


class Edge(Loss):
    """One way between two applications."""
    regions = ("us", "eu")
    one_in = 4

    def links(self):
        return [(self.at("stock"), fleet.APP)]

    def right(self, incident, first):
        parts = (first or {}).get("parts") or [{}]
        return (parts[0].get("from"), parts[0].get("to")) == (self.at("shop"), self.at("stock"))


class Region(Loss):
    """All that the hosts of one region send each other."""
    one_in = 8

    def links(self):
        return [(h, 0) for h in fleet.of_region(self.region)]

    def right(self, incident, first):
        return self.is_host(incident, *fleet.of_region(self.region))

    def named(self, incident):
        return incident["code"].endswith(".region") and incident["params"].get("region") == self.region


class Disk(Fault):
    """The disk of one host."""
    regions = ("us",)
    disk, late_ms = "own", "25"

    def begin(self):
        self.services.disks[self.disk].be(self.late_ms)

    def end(self):
        self.services.disks[self.disk].be("0")

    def right(self, incident, first):
        return self.is_host(incident, "us-stock")


class Shared(Disk):
    """One that two hosts share."""
    regions = ("eu",)
    disk = "shared"

    def right(self, incident, first):
        return self.is_host(incident, "eu-shop", "eu-stock")

    def named(self, incident):
        return incident["params"].get("shared") == "io" and incident["params"].get("hosts") == 2 and "share" in incident["text"]["en"]


class Database(Fault):
    """PostgreSQL takes its time over each question."""
    regions = ("us", "eu")

    def begin(self):
        self.services.price(self.at("db"), "perform pg_sleep(0.15);")

    def end(self):
        self.services.price(self.at("db"), "")

    def right(self, incident, first):
        return self.is_host(incident, self.at("db"))


KINDS = {"app": App, "cpu": Cpu, "edge": Edge, "disk": Disk, "shared": Shared, "pg": Database, "region": Region}
