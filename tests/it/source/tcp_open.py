# SPDX-License-Identifier: Apache-2.0
# tcp_open.py NAME - opens connections to itself and says "ready"; at a line on standard input moves bytes over them, prints what
# the kernel says that they did since ("NAME METRIC NUMBER") and keeps them until the input ends.
import ctypes, socket, struct, sys, time

name = sys.argv[1]
PR_SET_NAME, CONNECTIONS, SIZE = 15, 5, 300000
ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode())


def info(s):
    i = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    received, sent_segments, received_segments = struct.unpack_from("=QII", i, 128)
    data_segments = struct.unpack_from("=I", i, 156)[0]
    sent, again = struct.unpack_from("=QQ", i, 200)
    return [sent - again, received, sent_segments, received_segments, data_segments]


def all_of():
    return [sum(v) for v in zip(*map(info, ends))]


def settled():
    """Delayed acknowledgements are on their way for a moment."""
    before = None
    while before != (before := all_of()):
        time.sleep(0.5)
    return before


listener = socket.create_server(("127.0.0.1", 0))
ends = []
for _ in range(CONNECTIONS):
    ends.append(socket.create_connection(listener.getsockname()))
    ends.append(listener.accept()[0])
    ends[-2].sendall(b"before")
    ends[-1].recv(6)
before = settled()
print("ready", flush=True)
sys.stdin.readline()
for a, b in zip(ends[::2], ends[1::2]):
    a.sendall(bytes(SIZE))
    got = 0
    while got < SIZE:
        got += len(b.recv(65536))
    b.sendall(bytes(1000))
    a.recv(1000, socket.MSG_WAITALL)
metrics = ["sent_bytes_total", "received_bytes_total", "sent_segments_total", "received_segments_total", "sent_data_segments_total"]
for metric, was, now in zip(metrics, before, settled()):
    print(f"{name} tcp_{metric} {now - was}")
print(f"{name} tcp_connections {len(ends)}\n{name} tcp_connects_total 0\n{name} tcp_accepts_total 0", flush=True)
sys.stdin.readline()
