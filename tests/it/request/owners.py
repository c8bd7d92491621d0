# SPDX-License-Identifier: Apache-2.0
# owners.py PORT - requests whose descriptor or process is not what it was a moment before. Prints for each its path,
# its status, the port its client came from, and the process that read it: "path status port pid". Clients are
# another thread: they call for nobody.
import os, socket, sys, threading
from concurrent.futures import ThreadPoolExecutor

port = int(sys.argv[1])
client = ThreadPoolExecutor(1)
listener = socket.create_server(("127.0.0.1", port))


def dial():
    s = client.submit(socket.create_connection, ("127.0.0.1", port)).result()
    conn, _ = listener.accept()
    return s, conn.detach()


def ask(s, path):
    client.submit(s.sendall, b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode()).result()


def read(fd):
    data = b""
    while b"\r\n\r\n" not in data:
        data += os.read(fd, 4096)


def answer(fd, status):
    os.write(fd, b"HTTP/1.1 %d Test\r\nContent-Length: 2\r\n\r\nok" % status)


def report(s, path, status, pid):
    got = client.submit(s.recv, 4096).result()
    assert got.startswith(b"HTTP/1.1 %d " % status), got
    print(path, status, s.getsockname()[1], pid, flush=True)


def in_child(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return pid


def forked(path):
    """A child of its own for each connection, as inetd has it."""
    s, fd = dial()
    ask(s, path)
    pid = in_child(lambda: (read(fd), answer(fd, 501)))
    os.close(fd)
    os.waitpid(pid, 0)
    report(s, path, 501, pid)


def handed(path):
    """Read here, answered by a child."""
    s, fd = dial()
    ask(s, path)
    read(fd)
    pid = in_child(lambda: answer(fd, 502))
    os.close(fd)
    os.waitpid(pid, 0)
    report(s, path, 502, os.getpid())


def swapped():
    """dup2 puts one connection in the place of another, which it closes."""
    a, fa = dial()
    b, fb = dial()
    ask(a, "/swap-a")
    read(fa)
    answer(fa, 503)
    report(a, "/swap-a", 503, os.getpid())
    os.dup2(fb, fa)
    os.close(fb)
    ask(b, "/swap-b")
    read(fa)
    answer(fa, 504)
    report(b, "/swap-b", 504, os.getpid())
    os.close(fa)


def exchanged():
    """Two connections change places, each with a request that waits for its answer."""
    a, fa = dial()
    b, fb = dial()
    ask(a, "/change-a")
    ask(b, "/change-b")
    read(fa)
    read(fb)
    spare = os.dup(fa)
    os.dup2(fb, fa)
    os.dup2(spare, fb)
    os.close(spare)
    answer(fa, 505)
    answer(fb, 506)
    report(a, "/change-a", 506, os.getpid())
    report(b, "/change-b", 505, os.getpid())
    os.close(fa)
    os.close(fb)


def outlived():
    """A read that waits on a descriptor which meanwhile is closed and given to another connection."""
    a, fa = dial()
    spare = os.dup(fa)
    waiting = threading.Thread(target=read, args=(fa,))
    waiting.start()
    while open(f"/proc/self/task/{waiting.native_id}/stat").read().rsplit(")", 1)[1].split()[0] != "S":
        pass
    b, fb = dial()
    os.dup2(fb, fa)
    os.close(fb)
    ask(a, "/outlive-a")
    waiting.join()
    answer(spare, 507)
    report(a, "/outlive-a", 507, os.getpid())
    ask(b, "/outlive-b")
    read(fa)
    answer(fa, 508)
    report(b, "/outlive-b", 508, os.getpid())
    os.close(spare)
    os.close(fa)


forked("/fork-1")
forked("/fork-2")
handed("/hand-1")
handed("/hand-2")
swapped()
exchanged()
outlived()
forked("/fork-3")
