# SPDX-License-Identifier: Apache-2.0
"""ondemand_load.py WHAT TMP - what is done under the eyes of the sources of ondemand.py, in a process of its own."""
import os
import signal
import socket
import sys
import threading
import time

SIZE = 16 << 20


def attempt(function, *args):
    try:
        function(*args)
    except OSError:
        return
    raise AssertionError("it must fail")


def calls(tmp):
    mount = f"{tmp}/mnt"
    flags = os.O_RDWR | os.O_CREAT
    fd, other = os.open(f"{mount}/a", flags), os.open(f"{mount}/b", flags)
    for i in range(17):
        os.write(fd, bytes(100 + i))
    os.pwrite(fd, bytes(5000), 100)
    os.writev(fd, [bytes(10), bytes(20)])
    os.fsync(fd)
    for _ in range(3):
        os.fdatasync(fd)
    os.lseek(fd, 0, os.SEEK_SET)
    for _ in range(11):
        os.read(fd, 64)
    os.pread(fd, 9000, 5)
    os.readv(fd, [bytearray(3), bytearray(4)])
    os.copy_file_range(fd, other, 300, 0, 0)
    os.sendfile(other, fd, 0, 200)
    for end in range(2):  # what is no file of a mount is no call on one
        for p in (os.pipe() for _ in range(2)):
            os.write(p[1], b"x")
            os.read(p[0], 1)
    for i in range(5):
        os.close(os.open(f"{mount}/a", os.O_RDONLY | (os.O_CREAT if i else 0)))
    for i in range(2):
        os.close(os.open(f"{mount}/c{i}", flags | os.O_EXCL))
    just_read = os.open(f"{mount}/a", os.O_RDONLY)
    attempt(os.write, just_read, b"x")
    attempt(os.read, os.open(mount, os.O_RDONLY), 1)
    attempt(os.open, f"{mount}/a", flags | os.O_EXCL)
    for i in range(6):
        attempt(os.open, f"{mount}/none{i}", os.O_RDONLY)
    memory = os.memfd_create("none")
    os.write(memory, b"of no mount")
    os.unlink(f"{mount}/b")
    for i in range(2):
        os.unlink(f"{mount}/c{i}")
        attempt(os.unlink, f"{mount}/c{i}")
    os.mkdir(f"{mount}/d")
    os.rmdir(f"{mount}/d")


def waits(tmp):
    path = f"{tmp}/mnt/pipe"
    os.mkfifo(path)
    main = threading.get_native_id()

    def answer():
        while open(f"/proc/self/task/{main}/syscall", encoding="ascii").read().split()[0] not in ("2", "257", "56"):
            time.sleep(0.01)
        time.sleep(0.3)  # time: how long the other one waits
        os.close(os.open(path, os.O_WRONLY))

    threading.Thread(target=answer).start()
    os.close(os.open(path, os.O_RDONLY))


def read_all(path):
    fd = os.open(path, os.O_RDONLY)
    while os.read(fd, 1 << 20):
        pass
    io = dict(line.split(": ") for line in open("/proc/self/io", encoding="ascii").read().splitlines())
    print(*(f"{k}={v}" for k, v in io.items()), flush=True)


def cold(tmp):
    with open(f"{tmp}/data", "wb") as f:
        f.write(bytes(SIZE))
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    read_all(f"{tmp}/data")


def warm(tmp):
    read_all(f"{tmp}/data")


def timers(_):
    """On a processor that nobody else gets meanwhile, where its timer fires, too: some kernels of virtual machines run no program of
    BPF in an interrupt that comes while process 1 has it (docs/limits.md)."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    fired = []
    signal.signal(signal.SIGALRM, lambda *_: fired.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
    while len(fired) < 60:
        pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(len(fired))


def locks(tmp):
    """Both on one processor: who finds the other on it does not spin, but sleeps. Prints what one waited, in how many writes."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    path = f"{tmp}/mnt/both"
    other = os.fork()
    if not other:
        fd, much = os.open(path, os.O_WRONLY | os.O_CREAT), bytes(48 << 20)
        while True:
            os.pwrite(fd, much, 0)
    fd, waited, writes = os.open(path, os.O_WRONLY | os.O_CREAT), 0.0, 0
    try:
        while waited < 0.3:
            begin = time.monotonic()
            os.pwrite(fd, b"x", 0)
            took = time.monotonic() - begin
            waited, writes = waited + (took if took > 0.001 else 0), writes + 1
            time.sleep(0.001)
    finally:
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)
    print(waited, writes)


def joined():
    with open(f"{sys.argv[3]}/cgroup.procs", "w", encoding="ascii") as f:
        f.write(str(os.getpid()))


def missing(tmp):
    joined()
    for i in range(500):
        os.path.exists(f"{tmp}/mnt/nobody{i}")


def known(tmp):
    os.mkdir(f"{tmp}/mnt/known")
    for i in range(500):
        os.close(os.open(f"{tmp}/mnt/known/{i}", os.O_CREAT))
    joined()
    for i in range(500):
        assert os.path.exists(f"{tmp}/mnt/known/{i}")


def nameless(_):
    joined()
    for _ in range(250):
        for fd in os.pipe():
            os.close(fd)
        socket.socket().close()


{f.__name__: f for f in (calls, waits, cold, warm, timers, locks, missing, known, nameless)}[sys.argv[1]](sys.argv[2])
