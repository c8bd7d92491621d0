# SPDX-License-Identifier: Apache-2.0
# older.py PORT FILE - connections that are older than the probe. Opens them and asks once on each; on half of them it
# then asks what takes a minute, and makes FILE.PORT. When FILE is there, and so is a probe, it asks on each again, as soon
# as its answer has come.
import os, socket, sys, time

port = int(sys.argv[1])
conns = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]


def ask(s, path):
    s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode())


def answer(s):
    data = b""
    while b"\r\n\r\n" not in data:
        data += s.recv(4096)
    head, body = data.split(b"\r\n\r\n", 1)
    need = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]) - len(body)
    while need:
        need -= len(s.recv(need))


for s in conns:
    ask(s, "/before")
    answer(s)
for s in conns[::2]:
    ask(s, "/begun?d=60000")
open(f"{sys.argv[2]}.{port}", "w").close()
while not os.path.exists(sys.argv[2]):
    time.sleep(0.05)
for s in conns[1::2]:
    ask(s, "/next-%d?s=503" % s.getsockname()[1])
    answer(s)
for s in conns[::2]:
    answer(s)
    ask(s, "/next-%d?s=503" % s.getsockname()[1])
    answer(s)
