# SPDX-License-Identifier: Apache-2.0
# shapes.py PORT - serves and sends HTTP/1 in every awkward way there is, one path each. Prints for each the
# path, its status and how long it took, as the server knows it: "path status microseconds".
import os, random, socket, struct, sys, tempfile, threading, time

port = int(sys.argv[1])
BODY = b"x" * 1000
took = {}


def answer(status=200, body=BODY, extra=b""):
    return b"HTTP/1.1 %d Test\r\nContent-Length: %d\r\n%s\r\n%s" % (status, len(body), extra, body)


def read_head(conn, size):
    data = b""
    while b"\r\n\r\n" not in data:
        try:
            piece = conn.recv(size)
        except ConnectionResetError:
            piece = b""
        if not piece:
            return None
        data += piece
    return data


def in_parts(conn, data):
    cut = [data[i:i + 7] for i in range(0, 39 * 7, 7)] + [data[39 * 7:]]
    conn.sendmsg(cut)


def big_file(conn):
    size = int(os.environ.get("SHAPES_MB", "200")) << 20
    with tempfile.TemporaryFile() as f:
        f.truncate(size)
        conn.sendall(b"HTTP/1.1 200 Test\r\nContent-Length: %d\r\n\r\n" % size)
        sent = 0
        while sent < size:
            sent += os.sendfile(conn.fileno(), f.fileno(), sent, min(1 << 20, size - sent))


def chunks(conn):
    conn.sendall(b"HTTP/1.1 200 Test\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(20):
        time.sleep(0.25)  # time: an answer that takes its time
        conn.sendall(b"4\r\ndata\r\n")
    conn.sendall(b"0\r\n\r\n")


def events(conn):
    conn.sendall(b"HTTP/1.1 200 Test\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    try:
        for _ in range(3):
            time.sleep(0.2)  # time: an answer that takes its time
            conn.sendall(b"6\r\ndata:\n\r\n")
        conn.sendall(b"0\r\n\r\n")
    except OSError: # its reader has seen enough
        pass


def dup_and_answer(conn):
    spare = os.dup(conn.fileno())
    os.dup2(spare, conn.fileno())
    os.close(spare)
    conn.sendall(answer(500))


def reply(conn, path):
    if path == "/status-split":
        conn.sendall(b"HTTP/1.")
        time.sleep(0.05)  # time: two pieces, and not one
        conn.sendall(b"1 503 Test\r\nContent-Length: 0\r\n\r\n")
    elif path == "/parts":
        in_parts(conn, answer(500))
    elif path == "/writev":
        os.writev(conn.fileno(), [b"HTTP/1.1 ", b"502 ", b"Test\r\nContent-Length: 0\r\n\r\n"])
    elif path == "/sendfile":
        big_file(conn)
    elif path == "/chunked":
        chunks(conn)
    elif path == "/head":
        conn.sendall(b"HTTP/1.1 500 Test\r\nContent-Length: 99999\r\n\r\n")
    elif path == "/not-modified":
        conn.sendall(b"HTTP/1.1 304 Test\r\nContent-Length: 99999\r\n\r\n")
    elif path == "/continue":
        conn.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        conn.recv(4096)
        conn.sendall(answer(500))
    elif path.startswith("/events"):
        events(conn)
    elif path == "/dup":
        dup_and_answer(conn)
    else:
        conn.sendall(answer(500))


def serve(conn, size=4096):
    while True:
        head = read_head(conn, size)
        if head is None:
            return conn.close()
        path = head.split(b" ")[1].decode()
        start = time.monotonic()
        reply(conn, path)
        took[path] = time.monotonic() - start
        if path.startswith("/storm"):
            return conn.close()


def accept(listener):
    while True:
        conn, peer = listener.accept()
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        size = 1 if peer[0] == "127.0.0.2" else 4096
        threading.Thread(target=serve, args=(conn, size), daemon=True).start()


def dial(source="127.0.0.1"):
    s = socket.create_connection(("127.0.0.1", port), source_address=(source, 0))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def read_answer(s, bodiless=False):
    data = b""
    while b"\r\n\r\n" not in data:
        data += s.recv(65536)
    head, body = data.split(b"\r\n\r\n", 1)
    length = 0 if bodiless else int((head.lower() + b"\r\n").split(b"content-length: ")[1].split(b"\r\n")[0]) if b"ontent-Length" in head else None
    while (length is None and not body.endswith(b"0\r\n\r\n")) or (length is not None and len(body) < length):
        body += s.recv(1 << 20) if length is None else b""
        if length is not None:
            rest = s.recv(1 << 20)
            length -= len(rest)
    return int(head.split(b" ")[1])


def ask(path, pieces=None, method=b"GET", source="127.0.0.1", **kw):
    s = dial(source)
    whole = b"%s %s HTTP/1.1\r\nHost: shapes\r\nX-Filler: %s\r\n\r\n" % (method, path.encode(), b"f" * 40)
    for piece in pieces(whole) if pieces else [whole]:
        s.sendall(piece)
        if pieces:
            time.sleep(0.002)  # time: pieces, and not one
    status = read_answer(s, **kw)
    time.sleep(0.02)  # time: the server has come back from its send
    print(path, status, int(took.get(path, 0) * 1e6))
    return s


def events_left():
    s = dial()
    s.sendall(b"GET /events-left HTTP/1.1\r\n\r\n")
    s.recv(4096)
    time.sleep(0.3)  # time: it leaves while the answer goes on
    s.close()
    print("/events-left", 200, 0)


def storm(n):
    for i in range(n):
        s = dial()
        s.sendall(b"GET /storm-%d HTTP/1.1\r\n\r\n" % i)
        read_answer(s)
        s.close()


def noise():
    rng = random.Random(7)
    for first in (b"", b"P", b"GE", b"POST", b"GET x", b"HTTP/1.1 500 ", b"\x16\x03"):
        s = dial()
        s.sendall(first + bytes(rng.randrange(256) for _ in range(300)))
        time.sleep(0.01)  # time: it is read before the connection is reset
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()


def protocols():
    """What others say on a port: PostgreSQL, Redis, a length and bytes, and words of HTTP that begin nothing."""
    for first, rest in ((b"\0\0\0\x08\x04\xd2\x16\x2f", b"Q\0\0\0\x0dselect 1\0"), (b"*2\r\n$3\r\nGET\r\n$1\r\nx\r\n", b"PING\r\n"),
                        (b"\0\0\1\0", b"\1\2\3GET /NO HTTP/1.1\r\n"), (b"GETTER /NO\r\n", b"GE"), (b"HTTP/1.1 500 No\r\n\r\n", b"POSTED /NO"),
                        (b"HTTP/1.1 200 No\r\n\r\n", b"GET /NO HTTP/1.1\r\n\r\n")):
        s = dial()
        for piece in (first, rest, rest, rest):
            s.sendall(piece)
            time.sleep(0.005)  # time: pieces, and not one
        s.close()


listener = socket.create_server(("127.0.0.1", port), backlog=128)
threading.Thread(target=accept, args=(listener,), daemon=True).start()
stream = threading.Thread(target=ask, args=("/chunked",))
stream.start()
keep = [
    ask("/bytes", lambda w: [w[i:i + 1] for i in range(len(w))]),
    ask("/segments", lambda w: [w[:3], w[3:30], w[30:]]),
    ask("/read-one", source="127.0.0.2"),
    ask("/status-split"), ask("/parts"), ask("/writev"), ask("/sendfile"), ask("/events"), ask("/dup"),
    ask("/head", method=b"HEAD", bodiless=True), ask("/not-modified", bodiless=True),
]
s = dial()
s.sendall(b"POST /continue HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
s.recv(4096)
s.sendall(b"hello")
print("/continue", read_answer(s), 0)
events_left()
noise()
protocols()
stream.join()
storm(int(os.environ.get("SHAPES_STORM", "1000")))
time.sleep(0.5)  # time: the server has come back from its last calls
