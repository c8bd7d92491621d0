# SPDX-License-Identifier: Apache-2.0
"""exact.py IOS - what the probe reports of I/O, beside fio's own count and the disk's: Markdown on standard output."""
import sys

import rig

OWN_CALLS = 5  # at most: what fio reads and writes of pipes besides
IOS = int(sys.argv[1])
FIELDS = {"read": ("task_read_bytes_total", "task_read_calls_total", "task_rchar_bytes_total"),
          "write": ("task_write_bytes_total", "task_write_calls_total", "task_wchar_bytes_total")}
ENGINES = ("psync", "pvsync2", "libaio", "io_uring")
failed = []


def observed(reads, cgroup, disk, run):
    """What fio, its tasks and the disk say of one run of it."""
    reads.ask("taskio"), reads.ask("block")
    before = disk.stat()
    said = run()
    after, io, block = disk.stat(), reads.ask("taskio")["cgroupio"].get(cgroup.path, {}), reads.ask("block")["diskio"].get(disk.name, {})
    return said, io, {way: [b - a for a, b in zip(before[way], after[way])] for way in before}, block


def bucket(us):
    n = 0
    while 16 << n < us:
        n += 1
    return n


def latency(way, disk, block):
    """Mean by the disk's own ticks, by the probe, us; and how many buckets apart."""
    n = sum(v for _, v in rig.slots(block, f"disk_{way}_latency_us_"))
    if not n or not disk[way][0]:
        return "-", "-", 0
    ticks, ours = disk[way][2] * 1000 / disk[way][0], block[f"disk_{way}_device_seconds_total"] * 1e6 / n
    return f"{ticks:.0f}", f"{ours:.0f}", bucket(ours) - bucket(ticks)


def check(what, good):
    if not good:
        failed.append(what)
    return "" if good else " **!**"


def direct(reads, cgroup, disk):
    print("| engine | block | | fio: bytes | of the tasks | /sys/block | fio: calls | of the tasks | mean by ticks, us | by the probe | buckets apart |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for engine in ENGINES:
        for block, size in (("4k", 4096), ("64k", 65536), ("1m", rig.MIB)):
            rig.say(f"{engine} {block}")
            ios = max(200, min(IOS, 2048 * rig.MIB // size))
            said, io, of_disk, lat = observed(reads, cgroup, disk, lambda: rig.fio(disk, engine, block, "randrw", cgroup, io_size=size * ios))
            for way, (nbytes, calls, _) in FIELDS.items():
                want, got = said[way]["io_bytes"], io.get(nbytes, 0)
                made = said[way]["total_ios"] if engine in ("psync", "pvsync2") else 0
                seen = io.get(calls, 0) - made
                again = (got - want) / size if engine == "io_uring" else 0  # those that a worker had to take up
                right = got == want or again == int(again) and 0 < again <= said[way]["total_ios"]
                off = (of_disk[way][1] - want) * 100 / want
                ticks, ours, apart = latency(way, of_disk, lat)
                print(f"| {engine} | {block} | {way} | {want} | {f'{again:.0f} twice' if right and again else f'{got - want:+.0f}'}{check(f'{engine} {block} {way} bytes', right)} | "
                      f"{off:+.2f} %{check(f'{engine} {block} {way} disk', abs(off) <= 0.5)} | {said[way]['total_ios']} | "
                      f"{made} {seen:+.0f}{check(f'{engine} {block} {way} calls', 0 <= seen <= OWN_CALLS)} | {ticks} | {ours} | "
                      f"{apart}{check(f'{engine} {block} {way} latency', abs(apart) <= 1)} |")


def cached(reads, cgroup, disk):
    print("\n| through the page cache, 4k | fio: bytes | calls x bytes of the tasks | bytes of the tasks to or from disks | /sys/block |")
    print("|---|---|---|---|---|")
    size = 64 * rig.MIB
    for name, engine, mode, more in (("psync, written once in order, then synced", "psync", "write", {"end_fsync": 1}),
                                     ("psync, written three times, then synced", "psync", "write", {"end_fsync": 1, "loops": 3}),
                                     ("psync, read in order", "psync", "read", {}), ("psync, read at random", "psync", "randread", {}),
                                     ("mmap, written in order, then synced", "mmap", "write", {"end_fsync": 1}),
                                     ("mmap, read at random", "mmap", "randread", {})):
        rig.say(name)
        said, io, of_disk, _ = observed(reads, cgroup, disk,
                                        lambda: rig.fio(disk, engine, "4k", mode, cgroup, size=size, direct=0, **more))
        way = "write" if "write" in mode else "read"
        nbytes, calls, chars = FIELDS[way]
        want = said[way]["io_bytes"]
        print(f"| {name} | {want} | {io.get(calls, 0):.0f} calls, {(io.get(chars, 0) - want) * 100 / want:+.1f} % bytes | "
              f"{(io.get(nbytes, 0) - want) * 100 / want:+.1f} % | {(of_disk[way][1] - want) * 100 / want:+.1f} % |")


def main():
    disk, cgroup = rig.Disk(256), rig.Cgroup()
    try:
        reads = rig.Reads(f"{rig.BUILD}/tools/reads")
        direct(reads, cgroup, disk)
        cached(reads, cgroup, disk)
        reads.end()
    finally:
        cgroup.close()
        disk.close()
    print(f"\nBytes: more than fio's. Calls: those of the engine as the kernel counts them, which are none of libaio and io_uring, and those that fio makes "
          f"for itself, {OWN_CALLS} at most. Twice: what io_uring has to pass on to a worker, the kernel counts at both tries, in /proc/PID/io as well. "
          "Read at random: a page is read from the disk once. Disk: of the pages that are read ahead as well.")
    print("\nNot as it should be: " + (", ".join(failed) or "nothing") + ".")


main()
