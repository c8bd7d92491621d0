# SPDX-License-Identifier: Apache-2.0
# splice.py PORT - a server as proxies are built: heads are read and written, bodies are moved by splice. /in/...: the
# body that comes is spliced away; /out/...: that of the answer is spliced out, a piece every 100 ms; /all/...: the
# answer's head, too, which nobody can read then.
import os, socket, sys, time

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
sink = os.open("/dev/null", os.O_WRONLY)
source, feed = os.pipe()


def head(conn):
    """Exactly the head: the body stays in the socket."""
    data = conn.recv(65536, socket.MSG_PEEK)
    while b"\r\n\r\n" not in data:
        data = conn.recv(65536, socket.MSG_PEEK)
    return conn.recv(data.index(b"\r\n\r\n") + 4)


def splice_in(conn, length):
    while length > 0:
        n = os.splice(conn.fileno(), feed, min(length, 65536))
        length -= n
        while n > 0:
            n -= os.splice(source, sink, n)


def splice_out(conn, data):
    os.write(feed, data)
    n = len(data)
    while n > 0:
        n -= os.splice(source, conn.fileno(), n)


while True:
    conn, _ = listener.accept()
    request = head(conn)
    path = request.split(b" ")[1]
    if path.startswith(b"/in/"):
        splice_in(conn, int(request.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
        conn.sendall(b"HTTP/1.1 501 Test\r\nContent-Length: 0\r\n\r\n")
    elif path.startswith(b"/out/"):
        conn.sendall(b"HTTP/1.1 502 Test\r\nContent-Length: 20000\r\n\r\n")
        for _ in range(5):
            time.sleep(0.1)  # time: an answer that takes its time
            splice_out(conn, b"x" * 4000)
    else:
        splice_out(conn, b"HTTP/1.1 503 Test\r\nContent-Length: 2\r\n\r\nok")
    conn.close()
