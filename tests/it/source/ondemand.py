# SPDX-License-Identifier: Apache-2.0
"""ondemand.py READS TMP CGROUP - sources that are measured only where somebody asks for them, against strace and the kernel's
own counts; and the page cache. READS is tests/tools/reads.c; TMP lies on a disk, and TMP/mnt is a mount of its own. For
ondemand.sh."""
import collections
import os
import re
import subprocess
import sys

sys.path.insert(0, "tests/lib")
import reads  # noqa: E402

passed = failed = 0
PROGRAM, TMP, CGROUP = sys.argv[1:]
MIB = 1 << 20
# What a call is counted as: by its descriptor, in which argument, or by name.
READ, WRITE, OPEN, UNLINK, SYNC = "read", "write", "open", "unlink", "sync"
BY_FD = {"read": [(READ, 0)], "pread64": [(READ, 0)], "readv": [(READ, 0)], "preadv2": [(READ, 0)], "write": [(WRITE, 0)], "pwrite64": [(WRITE, 0)],
         "writev": [(WRITE, 0)], "pwritev2": [(WRITE, 0)], "sendfile": [(READ, 1)], "copy_file_range": [(READ, 0), (WRITE, 2)], "fsync": [(SYNC, 0)],
         "fdatasync": [(SYNC, 0)], "splice": [(READ, 0), (WRITE, 2)]}


def ok(sentence, good, seen=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {sentence}" + (f": {seen}" if seen != "" else ""))


def near(sentence, seen, least, most):
    ok(sentence, least <= seen <= most, f"{seen}, not {least} to {most}")


def joined(*command, **more):
    """In the cgroup; it is strace's line "cgroup.procs" from which on it is there."""
    return ["sh", "-c", f'echo $$ >{CGROUP}/cgroup.procs; exec "$@"', "sh", *command]


def load(what):
    return joined(sys.executable, "-S", "tests/it/source/ondemand_load.py", what, TMP)


def traced(what):
    """The calls of a load, by strace: (name, arguments, result), from where it is in the cgroup."""
    trace = f"{TMP}/trace"
    subprocess.run(["strace", "-f", "-y", "-s", "0", "-o", trace, *load(what)], check=True, timeout=60)
    calls, there = [], False
    for line in open(trace, encoding="utf-8", errors="replace"):
        m = re.match(r"\d+ +(\w+)\((.*)\) += (-?\d+|\?)(.*)", line)
        if m and there:
            calls.append((m[1], m[2].split(", "), m[3], m[4]))
        there = there or "write(" in line and "cgroup.procs" in line
    return calls


def is_on(mount, text):
    return re.search(rf"<{re.escape(mount)}[/>]", text)


def by_strace(calls, mount):
    """What of it is on that mount, and what is on none that a call names."""
    on, none = collections.Counter(), collections.Counter()
    for name, args, result, rest in calls:
        good = not result.startswith("-")
        for op, at in BY_FD.get(name, []):
            to = on if at < len(args) and is_on(mount, args[at]) else none if "memfd:" in args[at] else {}
            to[op] = to.get(op, 0) + 1
            what = f"{op} {'bytes' if good else 'error'}"
            to[what] = to.get(what, 0) + (int(result) if good else 1)
        if name in ("open", "openat", "creat"):
            to = on if good and is_on(mount, rest) else none if not good else {}
            to[OPEN] = to.get(OPEN, 0) + 1
            to[f"{OPEN} error"] = to.get(f"{OPEN} error", 0) + (not good)
        if name in ("unlink", "unlinkat") and "AT_REMOVEDIR" not in args[-1]:
            none[UNLINK] += 1
            none[f"{UNLINK} error"] += not good
    return on, none


def reported(vfs, mount):
    found = [v for e, v in vfs.items() if e == f"mount={mount},cgroup=/{os.path.basename(CGROUP)}"]
    return collections.Counter(found[0] if found else {})


def slots(values, op, least=0):
    return sum(n for name, n in values.items() if (m := re.fullmatch(rf"vfs_{op}_latency_us_(\d+|more)", name)) and (m[1] == "more" or int(m[1]) > least))


def calls_on_files(sources):
    mount = f"{TMP}/mnt"
    sources.ask("vfs")
    calls = traced("calls")
    vfs = sources.ask("vfs")["vfs"]
    for at, want in zip((mount, "?"), by_strace(calls, mount)):
        seen = reported(vfs, at)
        where = "on its mount" if at == mount else "that name no file there is"
        ok(f"strace counted some calls {where}", sum(want.values()) > 5, want)
        for op in (READ, WRITE, OPEN, UNLINK, SYNC):
            ok(f"{op}s {where} are as many as strace counts: {want[op]}", seen[f"vfs_{op}s_total"] == want[op], seen[f"vfs_{op}s_total"])
            ok(f"failed {op}s {where} are as many", seen[f"vfs_{op}_errors_total"] == want[f"{op} error"], seen[f"vfs_{op}_errors_total"])
            ok(f"each of the {op}s {where} has a latency", slots(seen, op) == want[op], slots(seen, op))
            ok(f"the total time of {op}s {where} is above 0 exactly if there were any", (seen[f"vfs_{op}_seconds_total"] > 0) == (want[op] > 0))
        if at == mount:
            ok("bytes that were read are those that calls returned", seen["vfs_read_bytes_total"] == want["read bytes"], seen["vfs_read_bytes_total"])
            ok("so are bytes that were written", seen["vfs_written_bytes_total"] == want["write bytes"], seen["vfs_written_bytes_total"])
            ok("a file that is there already is not created by opening it", 0 < seen["vfs_creates_total"] == 4 < want[OPEN], seen["vfs_creates_total"])
    ok("none was missed", not sources.ask("vfs")["vfsloss"])


def call_that_lasts(sources):
    sources.ask("vfs")
    subprocess.run(load("waits"), check=True, timeout=60)
    seen = reported(sources.ask("vfs")["vfs"], f"{TMP}/mnt")
    ok("a call that lasted 0.3 s is in a slot of that latency", slots(seen, OPEN, 262144) >= 1, seen)
    ok("and its time is in the sum", seen["vfs_open_seconds_total"] >= 0.3, seen["vfs_open_seconds_total"])


def io_of(sources, what):
    """What the source reports, also for the cgroup, and what the thread itself counted."""
    sources.ask("taskio")
    p = subprocess.Popen(load(what), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    own = dict(pair.split("=") for pair in p.stdout.readline().split())
    p.communicate("")
    seen = sources.ask("taskio")
    return seen, seen["cgroupio"].get(f"/{os.path.basename(CGROUP)}", {}), {k: int(v) for k, v in own.items()}


def page_cache(sources):
    seen, cgroup, own = io_of(sources, "cold")
    size = 16 * MIB
    ok("a file that is in no cache is read from the disk", own["read_bytes"] >= size, own)
    near("what came from the disk is no hit of the cache", cgroup.get("task_read_cached_bytes_total", -1), 0, own["rchar"] - size + 2 * MIB)
    seen, cgroup, own = io_of(sources, "warm")
    least = size - own["read_bytes"]  # what the interpreter had to read of its own is no hit, by whatever mapping
    ok("most of it", least > size / 2, own)
    near("what was read of the cache is", cgroup.get("task_read_cached_bytes_total", -1), least, own["rchar"] + MIB)
    node = seen["pagecache"][""]
    near("the node has it, too", node["page_cache_hit_bytes_total"], least, node["page_cache_read_bytes_total"])
    near("and the program", max(v["task_read_cached_bytes_total"] for v in seen["programio"].values()), least, node["page_cache_read_bytes_total"])


def until_named(sources, source, layout, named):
    """Its first row, in which all is that came until it had its name."""
    for _ in range(40):
        found = {e: v for e, v in sources.ask(source)[layout].items() if named(e)}
        if found:
            return found
    return {}


def timers(sources):
    # Of a function that is known by name: until then its counts wait, and who else has such a timer has it named any time.
    subprocess.run(load("timers"), check=True, timeout=60, capture_output=True)
    ok("the function of a timer of a process has its name", until_named(sources, "timers", "timerfn", lambda e: e == "it_real_fn"))
    sources.ask("timers")
    done = subprocess.run(load("timers"), check=True, timeout=60, capture_output=True, text=True)
    seen, fired = sources.ask("timers"), int(done.stdout)
    node = seen["timers"][""]
    near("a timer of a process is counted as often as it fired, by its function", seen["timerfn"].get("it_real_fn", {}).get("timer_function_expirations_total", 0), fired, fired + 20)
    ok("the node has them, too", node["hrtimer_expirations_total"] >= fired, node)
    ok("and timers of the other kind", node["timer_expirations_total"] > 0, node)


def locks(sources):
    sources.ask("locks")
    done = subprocess.run(load("locks"), check=True, timeout=60, capture_output=True, text=True)
    waited, writes = float(done.stdout.split()[0]), int(done.stdout.split()[1])
    found = until_named(sources, "locks", "locks", lambda e: re.match(r"rwsem, to write in \w*write_iter$", e))
    seconds = sum(v["lock_wait_seconds_total"] for v in found.values())
    ok(f"who writes to a file that another writes to waits for its lock: {waited:.3f} s in {writes} writes", waited >= 0.1 and seconds >= waited / 2, found)
    for values in found.values():
        slots_of = sum(n for name, n in values.items() if name.startswith("lock_wait_us_"))
        ok("each lock wait is in one slot of its length", slots_of == values["lock_waits_total"] > 0, values)
    long = [n for values in found.values() for name, n in values.items() if re.fullmatch(r"lock_wait_us_(\d{4,}|more)", name)]
    ok("long waits are in slots of that length", sum(long) > 0, long)


def dentries(sources):
    for what, least, most in (("missing", 500, 520), ("known", 0, 20), ("nameless", 0, 20)):
        sources.ask("dentries")
        subprocess.run([sys.executable, "-S", "tests/it/source/ondemand_load.py", what, TMP, CGROUP], check=True, timeout=60)
        seen = sources.ask("dentries")["dentries"].get(f"/{os.path.basename(CGROUP)}", {})
        near(f"500 names that are {what} are as many misses as they must be", seen.get("dentry_misses_total", 0), least, most)


def main():
    sources = reads.Reads(PROGRAM)
    lacking = {"vfs", "taskio", "timers", "locks", "dentries"} & set(sources.off)
    ok("the sources are on", not lacking, sources.off)
    timers(sources)
    locks(sources)
    dentries(sources)
    calls_on_files(sources)
    call_that_lasts(sources)
    page_cache(sources)
    ok("the reader ends well", sources.end() == 0)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
