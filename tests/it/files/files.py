# SPDX-License-Identifier: Apache-2.0
# files.py WEB DIR - a training script that stalls: it computes, and now and then writes a checkpoint of 50 MB in one
# write, with fsync and without, and deletes it. Each slow operation must be an event. Then every other call. Prints a line per
# operation: what of it is right, by its own clock. `files.py WEB DIR others`: only those. `files.py WEB DIR loop`: syncs without end. `files.py WEB DIR twins`: two threads at once whose numbers fall on one place in the kernel. And `files.py - quiet`: says when it began, computes, reads sockets and pipes.
import json, mmap, os, socket, sys, threading, time, urllib.request
from datetime import datetime, timezone

SIZE = 50 << 20
LIMIT_MS = 10
PLACES = 4096  # bpf/files/files_slots.h, GLANCES


def compute(seconds):
    """Not before all else: others have tests to run."""
    policy, priority = os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        sum(range(1000))
    os.sched_setscheduler(0, policy, priority)


WAITED = {}  # by when a call began: ms that its clock ran while others had the CPU, before, in or after it


def waited():
    with open("/proc/thread-self/schedstat") as f:
        return int(f.read().split()[1]) / 1e6


def timed(call, *args):
    before, began = waited(), time.time_ns()
    begin = time.monotonic_ns()
    result = call(*args)
    ms = (time.monotonic_ns() - begin) / 1e6
    WAITED[began] = waited() - before
    return result, ms, began


def get(path):
    with urllib.request.urlopen(f"http://{sys.argv[1]}{path}", timeout=10) as answer:
        return json.load(answer)


def events_of(path, since_ns):
    since = datetime.fromtimestamp(since_ns / 1e9 - 1, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    found = get(f"/api/v1/events?kind=io.slow&limit=1000&from={since}")["events"]
    return [e for e in found if e["pid"] == os.getpid() and e["reason"]["params"].get("file") == path]


def awaited(ask, good):
    """What ask() says when that is good, or after 15 s: a busy machine stores it later."""
    until = time.monotonic() + 15
    while not good(got := ask()) and time.monotonic() < until:
        time.sleep(0.2)
    return got


def has_stack(event):
    return any(e["stack"] and any("+0x" in f for f in e["stack"]) for e in event["evidence"])


def judge(call, path, size, ms, began, disk):
    """What of its event is right; None: it was not slow, and there is none."""
    surely = ms - WAITED[began] >= LIMIT_MS + 3
    events = awaited(lambda: [e for e in events_of(path, began) if e["reason"]["params"]["call"] == call], lambda found: found or not surely)
    if not events:
        return {"seen": False} if surely else None
    # the names of the first stack come when the kernel's table of them has been read
    event = awaited(lambda: get(events[0]["diagnosis"].replace("/events/", "/api/v1/events/")), has_stack)
    params = event["reason"]["params"]
    began_ms = datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp() * 1e3
    parts = sum(e["ms"] for e in event["evidence"])
    return {
        "seen": True,
        "one": len(events) == 1,
        "bytes": params["bytes"] == size,
        "process": params["comm"] == open("/proc/self/comm").read().strip() and event["tid"] == threading.get_native_id(),
        "device": params["dev"] == disk,
        # its own clock also runs in user mode, before and after, and while others have its CPU there
        # (on a busy machine the begin of an msync was seen some ms late in each of five runs; why is not known)
        "within": (call == "msync" or -WAITED[began] - 1 <= event["ms"] - ms + event["errorMs"]) and ms / 2 <= event["ms"] <= ms + event["errorMs"] + 1,
        "small": event["errorMs"] <= 10,
        "when": abs(began_ms - began / 1e6) <= event["errorMs"] + 3 + WAITED[began],
        "parts": abs(parts - event["ms"]) < 0.01,
        "stack": has_stack(event),
        "bare": not any("hrtimer" in f or "sysvec" in f for e in event["evidence"] for f in e["stack"] or []),
        "off": round(event["ms"] - ms, 1),
        "late": round(began_ms - began / 1e6, 1),
        "waited": round(WAITED[began], 1),
        "error": event["errorMs"],
    }


def show(call, ms, verdict):
    print(call, "fast" if verdict is None else json.dumps(verdict), f"{ms:.1f}", sep="\t", flush=True)


def checkpoint(path, sync, data, disk):
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    calls = [("write", *timed(os.write, fd, data)[1:])]
    if sync:
        calls.append(("fsync", *timed(os.fsync, fd)[1:]))
    os.close(fd)
    os.unlink(path)
    compute(0.3)
    time.sleep(1.7)  # time: a second event of one call would be there
    for call, ms, began in calls:
        show(call, ms, judge(call, path, SIZE, ms, began, disk))


def disk_of(directory):
    dev = os.stat(directory).st_dev
    link = f"/sys/dev/block/{os.major(dev)}:{os.minor(dev)}"
    return os.path.basename(os.path.realpath(link)) if os.path.exists(link) else "?"


def train(directory):
    disk = disk_of(directory)
    data = os.urandom(1 << 20) * (SIZE >> 20)
    for i in range(6):
        compute(0.2)
        checkpoint(f"{directory}/ckpt-{i}.pt", i % 2 == 0, data, disk)
    others(directory, disk)


def others(directory, disk):
    """Every other call, on files of its own, each once and large."""
    half = [bytes(SIZE // 2), bytes(SIZE // 2)]
    into = [bytearray(SIZE // 2), bytearray(SIZE // 2)]
    whole = bytes(SIZE)
    path, other = f"{directory}/a", f"{directory}/b"
    a = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    b = os.open(other, os.O_CREAT | os.O_RDWR, 0o644)
    calls = [
        ("pwrite64", path, timed(os.pwrite, a, whole, 0)),
        ("fdatasync", path, timed(os.fdatasync, a)),
        ("pread64", path, timed(os.pread, a, SIZE, 0)),
        ("preadv", path, timed(os.preadv, a, into, 0)),
        ("readv", path, timed(os.readv, a, into)),
        ("sendfile", path, timed(os.sendfile, b, a, 0, SIZE)),
        ("pwritev", other, timed(os.pwritev, b, half, SIZE)),
        ("writev", other, timed(os.writev, b, half)),
        ("copy_file_range", path, timed(os.copy_file_range, a, b, SIZE, 0, 0)),
    ]
    with mmap.mmap(a, SIZE) as m:
        for at in range(0, SIZE, 4096):
            m[at] = 1
        calls.append(("msync", path, timed(m.flush)))
    time.sleep(2)  # time: a second event of one call would be there
    for call, path, (_, ms, began) in calls:
        show(call, ms, judge(call, path, SIZE, ms, began, disk))
    os.unlink(path)
    os.unlink(other)


def loop(directory):
    """One sync after the other, most of them fast: how many were slow for certain, perhaps, and reported; the longest."""
    path = f"{directory}/loop"
    fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    began = time.time_ns()
    calls = [timed(os.pwrite, fd, b"x", 0)]  # the sync after it has something to do
    while time.time_ns() - began < 5e9:
        calls.append(timed(os.fsync, fd))
    ms = [took for _, took, _ in calls]
    least = [took - WAITED[at] for _, took, at in calls]
    time.sleep(2.5)  # time: one event too many would be there
    sure = sum(m > LIMIT_MS + 3 for m in least)
    reported = awaited(lambda: events_of(path, began), lambda found: len(found) >= sure)
    perhaps = sum(m > LIMIT_MS - 3 for m in ms)
    longest = max(reported, key=lambda e: e["ms"] - e["errorMs"], default={"ms": 0, "errorMs": 0})
    print(len(ms), sure, perhaps, len(reported), round(max(ms)), round(longest["ms"]), round(longest["errorMs"]), sep="\t")


def twins(directory):
    """What bpf/files/files_slots.h keeps of one of them must not be in the way of the other: how many were slow, and reported, of each."""
    data, slow, began = bytes(SIZE), {"a": 0, "b": 0}, time.time_ns()

    def write(name):
        fd = os.open(f"{directory}/twin-{name}", os.O_CREAT | os.O_WRONLY, 0o644)
        for _ in range(8):
            slow[name] += timed(os.pwrite, fd, data, 0)[1] >= LIMIT_MS + 3

    both = threading.Event()
    first = threading.Thread(target=lambda: (both.wait(), write("a")))
    first.start()

    def second():
        if (threading.get_native_id() - first.native_id) % PLACES == 0:
            both.set()
            write("b")

    while not both.is_set():
        other = threading.Thread(target=second)
        other.start()
        other.join()
    first.join()
    time.sleep(2.5)  # time: one event too many would be there
    reported = {n: len(awaited(lambda n=n: events_of(f"{directory}/twin-{n}", began), lambda found, n=n: len(found) * 2 >= slow[n])) for n in slow}
    print(slow["a"], reported["a"], slow["b"], reported["b"], sep="\t")


def quiet():
    print(time.time(), flush=True)  # what it read to start does not count
    until = time.monotonic() + 5
    here, there = socket.socketpair()
    read, write = os.pipe()

    def feed():
        while time.monotonic() < until:
            time.sleep(0.05)
            there.send(b"x")
            os.write(write, b"y")
        there.close()  # who reads is not left waiting
        os.close(write)

    threading.Thread(target=feed).start()
    threading.Thread(target=compute, args=(5,)).start()
    while here.recv(10):
        os.read(read, 1)


if sys.argv[3:] == ["loop"]:
    loop(sys.argv[2])
elif sys.argv[3:] == ["twins"]:
    twins(sys.argv[2])
elif sys.argv[3:] == ["others"]:
    others(sys.argv[2], disk_of(sys.argv[2]))
elif sys.argv[2] == "quiet":
    quiet()
else:
    train(sys.argv[2])
