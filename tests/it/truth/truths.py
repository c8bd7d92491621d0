# SPDX-License-Identifier: Apache-2.0
"""truths.py - what /proc and /sys say themselves, under the names of schema/def/metrics.def: for truth.py.

A class for each layout that has such a truth: read() gives {entity: {metric: value}}, None for what the kernel does
not say here; a metric that it leaves out is for truth.py to ask after. Wherever a name says where its number is
from, the reading goes by the name, and a new line of the table needs none here; and where the kernel says the same
thing in two places, this is the other one than the probe's.
"""
import glob
import os
import re

truth_unknown = object()  # a name that has no place here
TICK = 1 / os.sysconf("SC_CLK_TCK")


def text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return None


def table(path, key=0, value=1, lines=None):
    """The lines of a file as {word: number}."""
    rows = [re.split(r"[\s:]+", s.strip()) for s in (text(path) or "").splitlines()] if lines is None else lines
    return {r[key]: float(r[value]) for r in rows if len(r) > max(key, value) and re.fullmatch(r"[\d.]+", r[value])}


def pressure(path, which):
    m = re.search(rf"^{which} .*total=(\d+)", text(path) or "", re.M)
    return float(m[1]) * 1e-6 if m else None


def pretended(name):
    return re.fullmatch(r"(loop|ram|zram|fd)\d+", name)


def disks():
    return [d for d in os.listdir("/sys/block") if not pretended(d)]


def nets(sysfs):
    all_of = os.listdir(f"{sysfs}/class/net")
    outer = [n for n in all_of if n != "lo" and not re.match("veth.", n)]
    return outer or all_of


class Sum(float):
    """A number that the kernel adds up over parts, such as disks, which come and go. parts: their names."""

    def __new__(cls, value, parts):
        made = super().__new__(cls, value)
        made.parts = frozenset(parts)
        return made


def parts(value):
    return getattr(value, "parts", frozenset())


class Truth:
    """layout: of schema/def/metrics.def; source: who is to read it. slack: what a metric may be off by its own rounding."""
    names, absent_is_0, since_open, fold, slack = (), False, False, False, {}

    def one(self, entity, name):
        raise NotImplementedError

    def entities(self):
        return [""]

    def prepare(self):
        """What many metrics are read from."""

    def read(self):
        self.prepare()
        return {e: {n: v for n in self.names if (v := self.known(e, n)) is not truth_unknown} for e in self.entities()}

    def known(self, entity, name):
        try:
            return self.one(entity, name)
        except KeyError:
            return truth_unknown


class Node(Truth):
    layout, source = "node", "proc"
    modes = {w: i for i, w in enumerate("user nice system idle iowait irq softirq steal".split())}
    loads = {"load1": 0, "load5": 1, "load15": 2}
    plain = {"context_switches_total": "ctxt", "intr_total": "intr", "forks_total": "processes", "procs_running": "procs_running",
             "procs_blocked": "procs_blocked", "boot_time_seconds": "btime"}
    files = {"filefd_allocated": ("file-nr", 0), "filefd_maximum": ("file-nr", 2), "dentry_state_dentries": ("dentry-state", 0),
             "dentry_state_unused": ("dentry-state", 1)}
    softnet = {"processed": 0, "dropped": 1, "times_squeezed": 2}

    def __init__(self, sysfs):
        self.sysfs = sysfs

    def netstat(self):
        for file in ("snmp", "netstat"):
            lines = (text(f"/proc/net/{file}") or "").splitlines()
            for names, values in zip(lines[::2], lines[1::2]):
                group = names.split(":")[0]
                for name, value in zip(names.split()[1:], values.split()[1:]):
                    yield f"{group}_{name}", float(value)

    def prepare(self):
        self.stat = table("/proc/stat")
        self.cpu = [float(n) for n in re.search(r"^cpu (.*)", text("/proc/stat"), re.M)[1].split()]
        self.net = dict(self.netstat())
        self.memory, self.vmstat = table("/proc/meminfo"), table("/proc/vmstat")
        self.softirqs = {s.split(":")[0].strip().lower(): sum(map(float, s.split(":")[1].split()))
                         for s in text("/proc/softirqs").splitlines()[1:]}
        self.soft = [[int(w, 16) for w in s.split()] for s in text("/proc/net/softnet_stat").splitlines()]

    def cpus(self):
        ranges = [r.split("-") for r in text("/sys/devices/system/cpu/online").split(",")]
        return sum(int(r[-1]) - int(r[0]) + 1 for r in ranges)

    def by_name(self, name):
        for pattern, find in ((r"cpu_(\w+)_seconds_total", lambda w: self.cpu[self.modes[w]] * TICK),
                              (r"memory_(\w+)_bytes", lambda w: self.memory[w] * 1024 if w in self.memory else None),
                              (r"vmstat_(\w+)", lambda w: self.vmstat.get(w)),
                              (r"netstat_(\w+)", lambda w: self.net.get(w)),
                              (r"softirqs_(\w+)_total", lambda w: self.softirqs.get(w)),
                              (r"softnet_(\w+)_total", lambda w: sum(line[self.softnet[w]] for line in self.soft)),
                              (r"pressure_(\w+)_waiting_seconds_total", lambda w: pressure(f"/proc/pressure/{w}", "some")),
                              (r"pressure_(\w+)_stalled_seconds_total", lambda w: pressure(f"/proc/pressure/{w}", "full"))):
            m = re.fullmatch(pattern, name)
            if m:
                return find(m[1])
        raise KeyError(name)

    def one(self, entity, name):
        if name in self.plain:
            return self.stat[self.plain[name]]
        if name in self.loads:
            return float(text("/proc/loadavg").split()[self.loads[name]])
        if name in self.files:
            file, column = self.files[name]
            return float(text(f"/proc/sys/fs/{file}").split()[column])
        if name == "cpus_online":
            return self.cpus()
        if name == "disk_devices_cut":
            return max(0, len(disks()) - 128)
        if name == "network_devices_cut":
            return max(0, len(nets(self.sysfs)) - 128)
        return self.by_name(name)


class Disk(Truth):
    """From /sys/block/DISK/stat, not /proc/diskstats."""
    layout, source = "disk", "proc"
    columns = {"reads_completed_total": (0, 1), "reads_merged_total": (1, 1), "read_bytes_total": (2, 512), "read_time_seconds_total": (3, 1e-3),
               "writes_completed_total": (4, 1), "writes_merged_total": (5, 1), "written_bytes_total": (6, 512), "write_time_seconds_total": (7, 1e-3),
               "io_now": (8, 1), "io_time_seconds_total": (9, 1e-3), "io_time_weighted_seconds_total": (10, 1e-3),
               "discards_completed_total": (11, 1), "discards_merged_total": (12, 1), "discarded_bytes_total": (13, 512),
               "discard_time_seconds_total": (14, 1e-3), "flush_requests_total": (15, 1), "flush_requests_time_seconds_total": (16, 1e-3)}

    def entities(self):
        return self.stat

    def prepare(self):
        self.stat = {d: t.split() for d in disks() if (t := text(f"/sys/block/{d}/stat"))}

    def one(self, entity, name):
        column, unit = self.columns[name.removeprefix("disk_")]
        return float(self.stat[entity][column]) * unit if column < len(self.stat[entity]) else None


class Net(Truth):
    """From /sys/class/net/NAME/statistics, whose errors are finer than those of /proc/net/dev."""
    layout, source = "net", "proc"
    sums = {"rx": {"errs": ["errors"], "drop": ["dropped", "missed_errors"], "fifo": ["fifo_errors"],
                   "frame": ["length_errors", "over_errors", "crc_errors", "frame_errors"]},
            "tx": {"errs": ["errors"], "drop": ["dropped"], "fifo": ["fifo_errors"],
                   "carrier": ["carrier_errors", "aborted_errors", "window_errors", "heartbeat_errors"]}}

    def __init__(self, sysfs):
        self.sysfs = sysfs

    def entities(self):
        return nets(self.sysfs)

    def one(self, entity, name):
        way, what = re.fullmatch(r"network_(receive|transmit)_(\w+)_total", name).groups()
        way = "rx" if way == "receive" else "tx"
        files = ["multicast"] if what == "multicast" else ["collisions"] if what == "colls" else \
            [f"{way}_{f}" for f in self.sums[way].get(what, [what])]
        return sum(float(text(f"{self.sysfs}/class/net/{entity}/statistics/{f}")) for f in files)


class Cgroup(Truth):
    """Of version 1 where that has the controller, else of version 2: (controller, file, key, unit) of each."""
    layout, source = "cgroup", "cgroup"
    ms, us, ns = 1e-3, 1e-6, 1e-9
    spelt = {
        "cpu_usage_seconds_total": [("cpuacct", "cpuacct.usage", None, ns), ("", "cpu.stat", "usage_usec", us)],
        "cpu_user_seconds_total": [("cpuacct", "cpuacct.usage_user", None, ns), ("", "cpu.stat", "user_usec", us)],
        "cpu_system_seconds_total": [("cpuacct", "cpuacct.usage_sys", None, ns), ("", "cpu.stat", "system_usec", us)],
        "cpu_cfs_periods_total": [("cpu", "cpu.stat", "nr_periods", 1), ("", "cpu.stat", "nr_periods", 1)],
        "cpu_cfs_throttled_periods_total": [("cpu", "cpu.stat", "nr_throttled", 1), ("", "cpu.stat", "nr_throttled", 1)],
        "cpu_cfs_throttled_seconds_total": [("cpu", "cpu.stat", "throttled_time", ns), ("", "cpu.stat", "throttled_usec", us)],
        "spec_cpu_quota": [("cpu", "cpu.cfs_quota_us", None, 1), ("", "cpu.max", 0, 1)],
        "spec_cpu_period": [("cpu", "cpu.cfs_period_us", None, 1), ("", "cpu.max", 1, 1)],
        "memory_usage_bytes": [("memory", "memory.usage_in_bytes", None, 1), ("", "memory.current", None, 1)],
        "spec_memory_limit_bytes": [("memory", "memory.limit_in_bytes", None, 1), ("", "memory.max", None, 1)],
        "memory_swap": [("memory", "memory.stat", "total_swap", 1), ("", "memory.swap.current", None, 1)],
        "memory_rss": [("memory", "memory.stat", "total_rss", 1), ("", "memory.stat", "anon", 1)],
        "memory_cache": [("memory", "memory.stat", "total_cache", 1), ("", "memory.stat", "file", 1)],
        "memory_kernel_usage": [("memory", "memory.kmem.usage_in_bytes", None, 1), ("", "memory.stat", "kernel", 1)],
        "memory_pgfault_total": [("memory", "memory.stat", "total_pgfault", 1), ("", "memory.stat", "pgfault", 1)],
        "memory_pgmajfault_total": [("memory", "memory.stat", "total_pgmajfault", 1), ("", "memory.stat", "pgmajfault", 1)],
        "memory_failcnt": [("memory", "memory.failcnt", None, 1), ("", "memory.events.local", "max", 1)],
        "memory_high_total": [("", "memory.events.local", "high", 1)],
        "oom_events_total": [("memory", "memory.oom_control", "oom_kill", 1), ("", "memory.events.local", "oom_kill", 1)],
        "threads": [("pids", "pids.current", None, 1), ("", "pids.current", None, 1)],
        "threads_max": [("pids", "pids.max", None, 1), ("", "pids.max", None, 1)],
        "fs_reads_bytes_total": [("blkio", "blkio.throttle.io_service_bytes_recursive", "Read", 1), ("", "io.stat", "rbytes", 1)],
        "fs_writes_bytes_total": [("blkio", "blkio.throttle.io_service_bytes_recursive", "Write", 1), ("", "io.stat", "wbytes", 1)],
        "fs_reads_total": [("blkio", "blkio.throttle.io_serviced_recursive", "Read", 1), ("", "io.stat", "rios", 1)],
        "fs_writes_total": [("blkio", "blkio.throttle.io_serviced_recursive", "Write", 1), ("", "io.stat", "wios", 1)],
    }

    def __init__(self, mounts, *paths):
        self.mounts, self.paths = mounts, paths

    def entities(self):
        return self.paths

    def number(self, said, key, unit):
        if key == "Read" or key == "Write" or key in ("rbytes", "wbytes", "rios", "wios"):
            found = re.findall(rf"^(\d+:\d+) (?:.* )?{key}[ =](\d+)", said, re.M)
            return Sum(sum(float(n) for _, n in found) * unit, (device for device, _ in found))
        m = re.search(rf"^{key} (\d+)$", said, re.M) if isinstance(key, str) else None
        word = m[1] if m else None if isinstance(key, str) else said.split()[key or 0]
        return float(word) * unit if word and word.isdigit() and float(word) < 2**62 else None

    def one(self, entity, name):
        name = name.removeprefix("container_")
        m = re.fullmatch(r"pressure_(\w+)_(waiting|stalled)_seconds_total", name)
        if m:
            return pressure(f"{self.mounts['']}{entity}/{m[1]}.pressure", "some" if m[2] == "waiting" else "full") if "" in self.mounts else None
        if name == "cgroups":
            return 1
        if name == "memory_working_set_bytes":
            usage, idle = self.one(entity, "memory_usage_bytes"), self.idle(entity)
            return None if usage is None or idle is None else max(0, usage - idle)
        return self.spelt_out(entity, self.spelt[name])

    def idle(self, entity):
        return self.spelt_out(entity, [("memory", "memory.stat", "total_inactive_file", 1), ("", "memory.stat", "inactive_file", 1)])

    def spelt_out(self, entity, places):
        for controller, file, key, unit in places:
            if controller == "blkio" and " Read " not in (text(f"{self.mounts.get(controller)}/{file}") or ""):
                continue  # nobody limits it, so this kernel does not count it
            said = text(f"{self.mounts[controller]}{entity}/{file}") if controller in self.mounts else None
            if said is not None:
                return self.number(said, key, unit)
        return None


class TaskIo(Truth):
    """Of the only one there: a process of a cgroup, or of a name, of its own."""
    source, absent_is_0 = "taskio", True
    spelt = {"task_read_bytes_total": "read_bytes", "task_write_bytes_total": "write_bytes", "task_cancelled_write_bytes_total": "cancelled_write_bytes",
             "task_rchar_bytes_total": "rchar", "task_wchar_bytes_total": "wchar", "task_read_calls_total": "syscr", "task_write_calls_total": "syscw"}

    def __init__(self, layout, entity, pid):
        self.layout, self.entity, self.pid = layout, entity, pid

    def entities(self):
        return [self.entity]

    def prepare(self):
        self.io = table(f"/proc/{self.pid}/io")

    def one(self, entity, name):
        return self.io[self.spelt[name]]


class Process(Truth):
    """The program that reads, which waits while it is looked at."""
    layout, source = "process", "cost"
    slack = {"process_cpu_seconds_total": 1e-5, "process_resident_memory_bytes": 1 << 20}  # a page of each size is counted in batches

    def __init__(self, pid):
        self.pid = pid

    def one(self, entity, name):
        if name == "process_cpu_seconds_total":
            return sum(float(text(f).split()[0]) for f in glob.glob(f"/proc/{self.pid}/task/*/schedstat")) * 1e-9
        if name == "process_open_fds":
            return len(os.listdir(f"/proc/{self.pid}/fd"))
        return {"process_resident_memory_bytes": table(f"/proc/{self.pid}/status")["VmRSS"] * 1024}[name]


class Cost(Truth):
    """All sources together, by the program's own descriptors."""
    layout, source, fold = "cost", "cost", True
    keys = {"source_program_runs_total": ("prog", "run_cnt", 1), "source_program_seconds_total": ("prog", "run_time_ns", 1e-9),
            "source_program_runs_missed_total": ("prog", "recursion_misses", 1), "source_programs": ("prog", None, 1), "source_map_bytes": ("map", "memlock", 1)}
    slack = {"source_program_seconds_total": 1e-6}

    def __init__(self, pid, asked):
        self.pid, self.asked = pid, asked

    def prepare(self):
        self.fds = {"prog": [], "map": []}
        for fd in os.listdir(f"/proc/{self.pid}/fd"):
            kind = re.fullmatch(r"anon_inode:bpf-(prog|map)", os.readlink(f"/proc/{self.pid}/fd/{fd}"))
            if kind:
                self.fds[kind[1]].append(table(f"/proc/{self.pid}/fdinfo/{fd}"))

    def one(self, entity, name):
        if name in ("source_reads_skipped_total", "source_read_errors_total"):
            return 0
        if name == "source_reads_total":
            return self.asked["reads"]
        kind, key, unit = self.keys[name]
        return sum(fd[key] if key else 1 for fd in self.fds[kind]) * unit


class Klog(Truth):
    """/dev/kmsg once more, from the same moment on."""
    layout, source, since_open = "klog", "kmsg", True
    levels = "emergency alert critical error warning notice info debug".split()

    def __init__(self):
        self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.fd, 0, os.SEEK_END)
        self.lines = {f"kernel_log_{level}_total": 0 for level in [*self.levels, "user"]}

    def prepare(self):
        while True:
            try:
                priority = int(os.read(self.fd, 8192).split(b",")[0])
            except BlockingIOError:
                return
            self.lines[f"kernel_log_{'user' if priority >> 3 else self.levels[priority & 7]}_total"] += 1

    def one(self, entity, name):
        return self.lines[name]


class Oom(Truth):
    layout, source, absent_is_0 = "oom", "oom", True
    vmstat = {"oom_killed_processes_total": "oom_kill"}

    def one(self, entity, name):
        return table("/proc/vmstat")[self.vmstat[name]]


class Tasks(Truth):
    """Who sleeps uninterruptibly, and who of them did so whenever it was looked for."""
    layout, source = "tasks", "stuck"

    def __init__(self):
        self.since = {}

    def prepare(self):
        asleep = {}
        for path in glob.glob("/proc/[0-9]*/task/[0-9]*/stat"):
            rest = (text(path) or "").rpartition(")")[2].split()
            if rest and rest[0] == "D":
                asleep[path, rest[19]] = self.since.get((path, rest[19]), 0) + 1
        self.since = asleep

    def one(self, entity, name):
        return {"tasks_uninterruptible": len(self.since), "tasks_stuck": sum(n > 5 for n in self.since.values())}[name]
