# SPDX-License-Identifier: Apache-2.0
"""hosts.py - three hosts on one machine: a client, the host whose server is under test, and one that
it calls. Each is a network namespace; the tested one is a cgroup as well, in every hierarchy there is."""
import ctypes
import os
import signal
import subprocess
import time

NAMES = {"client": "seismo-fault-c", "server": "seismo-fault-s", "up": "seismo-fault-u"}
SERVER, CLIENT = "10.232.1.1", "10.232.1.2"
SERVER_UP, UP = "10.232.2.1", "10.232.2.2"
GROUP = "seismo-fault"
CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


def run(command):
    subprocess.run(command.split(), check=True)


def enter(netns):
    fd = os.open("/run/netns/" + netns, os.O_RDONLY)
    if libc.setns(fd, CLONE_NEWNET):
        raise OSError("cannot enter " + netns)
    os.close(fd)


def mounts(kind):
    for line in open("/proc/self/mounts"):
        _, where, fs, options = line.split()[:4]
        if fs == kind:
            yield where, options.split(",")


class Cgroups:
    """Limits by whichever hierarchy has the controller; who is in a host is by cgroup2."""

    def __init__(self):
        self.v2 = next(mounts("cgroup2"))[0]
        self.v1 = {c: where for where, options in mounts("cgroup") for c in ("cpu", "memory", "blkio") if c in options}
        offered = open(self.v2 + "/cgroup.controllers").read().split()
        self.of_v2 = [c for c in ("cpu", "memory", "io") if c in offered]

    def tops(self):
        return [self.v2] + [w for c, w in self.v1.items()]

    def dirs(self, name):
        return ["%s/%s/%s" % (t, GROUP, name) for t in self.tops()]

    def make(self):
        for t in self.tops():
            os.makedirs("%s/%s" % (t, GROUP), exist_ok=True)
        for where in (self.v2, self.v2 + "/" + GROUP):
            for c in self.of_v2:
                self.write(where + "/cgroup.subtree_control", "+" + c)
        for name in ("server", "others", "hog"):
            for d in self.dirs(name):
                os.makedirs(d, exist_ok=True)
        self.weight("", 20)

    def write(self, path, text):
        with open(path, "w") as f:
            f.write(str(text))

    def weight(self, name, times):
        """So many times the processor time of a cgroup like any other."""
        if "cpu" in self.v1:
            self.write("%s/%s/%s/cpu.shares" % (self.v1["cpu"], GROUP, name), 1024 * times)
        elif "cpu" in self.of_v2:
            self.write("%s/%s/%s/cpu.weight" % (self.v2, GROUP, name), min(100 * times, 10000))

    def join(self, name):
        """The caller, but for processor time: it goes first, whatever else the machine does (see share)."""
        for d in self.dirs(name):
            if not d.startswith(self.v1.get("cpu", "-") + "/"):
                self.write(d + "/cgroup.procs", "0")
        os.setpriority(os.PRIO_PROCESS, 0, -20)

    def share(self, name, pids):
        """From here on these have a processor as others have, and as their cgroup may."""
        for pid in pids:
            for tid in os.listdir("/proc/%d/task" % pid):
                os.setpriority(os.PRIO_PROCESS, int(tid), 0)
            if "cpu" in self.v1:
                self.write("%s/%s/%s/cgroup.procs" % (self.v1["cpu"], GROUP, name), pid)

    def scope(self):
        return "%s/%s/server" % (self.v2, GROUP)

    def pids(self, name="server"):
        return [int(p) for p in open("%s/%s/%s/cgroup.procs" % (self.v2, GROUP, name)).read().split()]

    def quota(self, percent):
        """0: none."""
        if "cpu" in self.v1:
            self.write("%s/%s/server/cpu.cfs_quota_us" % (self.v1["cpu"], GROUP), percent * 1000 if percent else -1)
        else:
            self.write(self.scope() + "/cpu.max", "%s 100000" % (percent * 1000 if percent else "max"))

    def quota_file(self):
        return "%s/%s/server/cpu.stat" % (self.v1.get("cpu", self.v2), GROUP)

    def memory(self, mib):
        """0: no limit."""
        if "memory" in self.v1:
            self.write("%s/%s/server/memory.limit_in_bytes" % (self.v1["memory"], GROUP), mib << 20 if mib else -1)
        else:
            self.write(self.scope() + "/memory.max", mib << 20 if mib else "max")

    def read_limit(self, device, bytes_per_s):
        """0: none. How fast the server's host may read its disk."""
        if "blkio" in self.v1:
            self.write("%s/%s/server/blkio.throttle.read_bps_device" % (self.v1["blkio"], GROUP), "%s %d" % (device, bytes_per_s))
        else:
            self.write(self.scope() + "/io.max", "%s rbps=%s" % (device, bytes_per_s or "max"))

    def remove(self):
        for name in ("server", "others", "hog"):
            for d in self.dirs(name):
                self.empty(d)
        for name in ("server", "others", "hog", ""):
            for d in self.dirs(name):
                for _ in range(50):
                    try:
                        os.rmdir(d.rstrip("/"))
                    except FileNotFoundError:
                        break
                    except OSError:
                        time.sleep(0.1)
                    else:
                        break


    def empty(self, d):
        """Whoever an interrupted run left there, also stopped ones."""
        try:
            for pid in open(d + "/cgroup.procs").read().split():
                os.kill(int(pid), signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):
            pass


class Hosts:
    def __init__(self):
        self.cgroups = Cgroups()
        self.delayacct = None

    def make(self):
        for ns in NAMES.values():
            run("ip netns add " + ns)
            run("ip -n %s link set lo up" % ns)
        self.link("toc", "client", SERVER, CLIENT)
        self.link("tou", "up", SERVER_UP, UP)
        # Small buffers: what a client does not take is soon felt by the server.
        self.sysctl("server", "net.ipv4.tcp_wmem", "4096 16384 65536")
        self.cgroups.make()
        try:
            self.delayacct = open("/proc/sys/kernel/task_delayacct").read().strip()
            open("/proc/sys/kernel/task_delayacct", "w").write("1")
        except OSError:
            pass

    def link(self, name, other, own, its):
        """A wire that carries segments as they are: no offload joins them."""
        s, o = NAMES["server"], NAMES[other]
        run("ip -n %s link add %s gso_max_segs 1 type veth peer name eth0 netns %s gso_max_segs 1" % (s, name, o))
        run("ip -n %s address add %s/30 dev %s" % (s, own, name))
        run("ip -n %s address add %s/30 dev eth0" % (o, its))
        run("ip -n %s link set %s up" % (s, name))
        run("ip -n %s link set eth0 up" % o)

    def sysctl(self, host, key, value):
        subprocess.run(["ip", "netns", "exec", NAMES[host], "sysctl", "-qw", "%s=%s" % (key, value)], check=True)

    def counters(self, host="server"):
        """What the kernel counts of TCP in that host: name -> value."""
        text = subprocess.run(["ip", "netns", "exec", NAMES[host], "cat", "/proc/net/snmp", "/proc/net/netstat"],
                              capture_output=True, text=True, check=True).stdout
        lines, found = text.splitlines(), {}
        for names, values in zip(lines[::2], lines[1::2]):
            found.update(zip(names.split()[1:], map(int, values.split()[1:])))
        return found

    def remove(self):
        for ns in NAMES.values():
            subprocess.run(["ip", "netns", "delete", ns], stderr=subprocess.DEVNULL)
        self.cgroups.remove()
        if self.delayacct is not None:
            open("/proc/sys/kernel/task_delayacct", "w").write(self.delayacct)
