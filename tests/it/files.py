# SPDX-License-Identifier: Apache-2.0
# files.py WEB DIR - a training script that stalls: it computes, and now and then writes a checkpoint of 50 MB in one
# write, with fsync and without, and deletes it. Each slow operation must be an event 2 s later. Then every other call. Prints a line per
# operation: what of it is right, by its own clock. `files.py WEB DIR others`: only those. `files.py WEB DIR loop`: syncs without end. And `files.py - quiet`: says when it began, computes, reads sockets and pipes.
import json, mmap, os, socket, sys, threading, time, urllib.request
from datetime import datetime, timezone

SIZE = 50 << 20
LIMIT_MS = 10


def compute(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        sum(range(1000))


def timed(call, *args):
    began = time.time_ns()
    begin = time.monotonic_ns()
    result = call(*args)
    return result, (time.monotonic_ns() - begin) / 1e6, began


def get(path):
    with urllib.request.urlopen(f"http://{sys.argv[1]}{path}", timeout=10) as answer:
        return json.load(answer)


def events_of(path, since_ns):
    since = datetime.fromtimestamp(since_ns / 1e9 - 1, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    found = get(f"/api/v1/events?kind=io.slow&limit=1000&from={since}")["events"]
    return [e for e in found if e["pid"] == os.getpid() and e["reason"]["params"].get("file") == path]


def judge(call, path, size, ms, began, disk):
    """What of its event is right; None: it was not slow, and there is none."""
    events = [e for e in events_of(path, began) if e["reason"]["params"]["call"] == call]
    if not events:
        return None if ms < LIMIT_MS + 3 else {"seen": False}
    event = get(events[0]["diagnosis"].replace("/events/", "/api/v1/events/"))
    params = event["reason"]["params"]
    began_ms = datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp() * 1e3
    parts = sum(e["ms"] for e in event["evidence"])
    return {
        "seen": True,
        "one": len(events) == 1,
        "bytes": params["bytes"] == size,
        "process": params["comm"] == open("/proc/self/comm").read().strip() and event["tid"] == threading.get_native_id(),
        "device": params["dev"] == disk,
        # its own clock also runs in user mode, before and after
        "within": abs(event["ms"] - ms) <= event["errorMs"] + 1,
        "small": event["errorMs"] <= 10,
        "when": abs(began_ms - began / 1e6) <= event["errorMs"] + 3,
        "parts": abs(parts - event["ms"]) < 0.01,
        "stack": any(e["stack"] and any("+0x" in f for f in e["stack"]) for e in event["evidence"]),
        "bare": not any("hrtimer" in f or "sysvec" in f for e in event["evidence"] for f in e["stack"] or []),
        "off": round(event["ms"] - ms, 1),
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
    compute(2)
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
    compute(2)
    for call, path, (_, ms, began) in calls:
        show(call, ms, judge(call, path, SIZE, ms, began, disk))
    os.unlink(path)
    os.unlink(other)


def loop(directory):
    """One sync after the other, most of them fast: how many were slow for certain, perhaps, and told; the longest."""
    path = f"{directory}/loop"
    fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    os.pwrite(fd, b"x", 0)
    os.fsync(fd)
    began = time.time_ns()
    ms = [timed(os.fsync, fd)[1]]
    while time.time_ns() - began < 5e9:
        ms.append(timed(os.fsync, fd)[1])
    time.sleep(2.5)
    told = events_of(path, began)
    sure = sum(m > LIMIT_MS + 3 for m in ms)
    perhaps = sum(m > LIMIT_MS - 3 for m in ms)
    longest = max(told, key=lambda e: e["ms"] - e["errorMs"], default={"ms": 0, "errorMs": 0})
    print(len(ms), sure, perhaps, len(told), round(max(ms)), round(longest["ms"]), round(longest["errorMs"]), sep="\t")


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
elif sys.argv[3:] == ["others"]:
    others(sys.argv[2], disk_of(sys.argv[2]))
elif sys.argv[2] == "quiet":
    quiet()
else:
    train(sys.argv[2])
