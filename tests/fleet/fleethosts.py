# SPDX-License-Identifier: Apache-2.0
"""fleethosts.py make|remove - ten hosts on one machine, in three regions: each a network namespace on one switch, and a cgroup. In each
region nginx asks an application, that asks another, and that PostgreSQL; in the smallest one both are on one host."""
import os
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "fault"))
import hosts  # noqa: E402

PREFIX, NET, GROUP = "seismo-fleet-", "10.231.80.", "seismo-fleet"
SWITCH = PREFIX + "switch"  # clients are there, too
HTTP, APP, DB = 80, 8000, 5432
ADDRESS = {
    "eu-web": 11, "eu-shop": 12, "eu-stock": 13, "eu-db": 14,
    "us-web": 21, "us-shop": 22, "us-stock": 23, "us-db": 24,
    "ap-web": 31, "ap-shop": 32,
}
REGIONS = ("eu", "us", "ap")


def address(host):
    return NET + str(ADDRESS[host])


def of_region(region):
    return [h for h in ADDRESS if h.startswith(region + "-")]


class Cgroups:
    """Who is in a host is by cgroup2; processor time by whichever hierarchy has that controller. Hosts are served before
    all else on the machine: what else runs here is no fault of theirs."""

    def __init__(self):
        self.v2 = next(hosts.mounts("cgroup2"))[0]
        self.v1 = next((where for where, options in hosts.mounts("cgroup") if "cpu" in options), None)

    def tops(self):
        return [self.v2] + ([self.v1] if self.v1 else [])

    def scope(self, host):
        return "%s/%s/%s" % (self.v2, GROUP, host)

    def make(self):
        for t in self.tops():
            for h in ADDRESS:
                os.makedirs("%s/%s/%s" % (t, GROUP, h))
        if self.v1:
            self.write("%s/%s/cpu.shares" % (self.v1, GROUP), 20 * 1024)
            return
        for where in (self.v2, "%s/%s" % (self.v2, GROUP)):
            self.write(where + "/cgroup.subtree_control", "+cpu")
        self.write("%s/%s/cpu.weight" % (self.v2, GROUP), 2000)

    def write(self, path, text):
        with open(path, "w") as f:
            f.write(str(text))

    def join(self, host):
        """The caller."""
        for t in self.tops():
            self.write("%s/%s/%s/cgroup.procs" % (t, GROUP, host), "0")

    def quota(self, host, percent):
        """Of one processor; 0: none."""
        if self.v1:
            self.write("%s/%s/%s/cpu.cfs_quota_us" % (self.v1, GROUP, host), percent * 1000 if percent else -1)
        else:
            self.write(self.scope(host) + "/cpu.max", "%s 100000" % (percent * 1000 if percent else "max"))

    def dirs(self):
        for t in self.tops():
            for h in list(ADDRESS) + [""]:
                d = ("%s/%s/%s" % (t, GROUP, h)).rstrip("/")
                if os.path.isdir(d):
                    yield d

    def remove(self):
        for d in self.dirs():
            for _ in range(100):
                end_all(d)
                try:
                    os.rmdir(d)
                    break
                except OSError:
                    time.sleep(0.1)


def end_all(cgroup):
    """Whoever is left there, also of a run that was interrupted."""
    try:
        for pid in open(cgroup + "/cgroup.procs").read().split():
            os.kill(int(pid), 9)
    except (FileNotFoundError, ProcessLookupError):
        pass


def make():
    if os.path.exists("/run/netns/" + SWITCH):
        raise OSError("%s is there: a fleet runs already" % SWITCH)
    Cgroups().make()
    hosts.run("ip netns add " + SWITCH)
    hosts.run("ip -n %s link add sw type bridge" % SWITCH)
    hosts.run("ip -n %s address add %s254/24 dev sw" % (SWITCH, NET))
    hosts.run("ip -n %s link set sw up" % SWITCH)
    for h in ADDRESS:
        ns = PREFIX + h
        hosts.run("ip netns add " + ns)
        hosts.run("ip -n %s link set lo up" % ns)
        hosts.run("ip -n %s link add %s type veth peer name eth0 netns %s" % (SWITCH, h, ns))
        hosts.run("ip -n %s address add %s/24 dev eth0" % (ns, address(h)))
        hosts.run("ip -n %s link set eth0 up" % ns)
        hosts.run("ip -n %s link set %s master sw up" % (SWITCH, h))


def remove():
    Cgroups().remove()
    for ns in [PREFIX + h for h in ADDRESS] + [SWITCH]:
        subprocess.run(["ip", "netns", "delete", ns], stderr=subprocess.DEVNULL)


def main(what):
    try:
        {"make": make, "remove": remove}[what]()
    except (OSError, subprocess.CalledProcessError) as e:
        print("Seismo: cannot %s the hosts of the fleet bench: %s" % (what, e), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
