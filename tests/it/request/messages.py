# SPDX-License-Identifier: Apache-2.0
# messages.py NAME PORT PATH - a server on a TCP port, then on a Unix socket, and its client, a process of its own: each
# case is one conversation, step by step. Prints the rows that there should be: "case path method status".
import fcntl, os, socket, struct, sys, termios, time

name, port, unix = sys.argv[1], int(sys.argv[2]), sys.argv[3]


class Client:
    """The other end of a connection, in a process of its own, which is told by a pipe when to send what."""

    def __init__(self, address):
        to, back = os.pipe(), os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.close(to[1])
            self.run(address, os.fdopen(to[0], "rb"), back[1])
        os.close(to[0])
        os.close(back[1])
        self.to, self.back = to[1], back[0]

    def run(self, address, orders, done):
        s = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
        s.connect(address)
        if not isinstance(address, str):
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while order := orders.read(5):
            data = orders.read(struct.unpack("<I", order[1:])[0])
            if order[:1] == b"s":
                s.sendall(data)
            elif order[:1] == b"h":
                s.shutdown(socket.SHUT_WR)
            else:
                got = b""
                while len(got) < int(data):
                    got += s.recv(65536) or b"?" * int(data)
            os.write(done, b".")
        os._exit(0)

    def order(self, kind, data=b""):
        os.write(self.to, kind + struct.pack("<I", len(data)) + data)
        assert os.read(self.back, 1) == b"."

    def send(self, data):
        self.order(b"s", data)

    def half_close(self):
        self.order(b"h")

    def take(self, n):
        self.order(b"t", b"%d" % n)

    def close(self):
        os.close(self.to)
        os.close(self.back)
        os.waitpid(self.pid, 0)


class Talk:
    """One connection: c is the client, s the server's socket."""

    def __init__(self, case, listener, address, kind):
        self.case, self.prefix = case, f"/{name}-{kind}-{case}"
        self.c = Client(address)
        self.s = listener.accept()[0]
        if kind == "tcp":
            self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def head(self, what="", method="GET", fields=""):
        return f"{method} {self.prefix}{what} HTTP/1.1\r\nHost: x\r\n{fields}\r\n".encode()

    def read(self, n):
        """n bytes, all of which were there before the one recv() that takes them."""
        until = time.monotonic() + 60
        while struct.unpack("i", fcntl.ioctl(self.s, termios.FIONREAD, b"\0" * 4))[0] < n:
            assert time.monotonic() < until
            time.sleep(0.001)
        data = self.s.recv(n)
        assert len(data) == n
        return data

    def answer(self, data):
        self.s.sendall(data)
        self.c.take(len(data))

    def ask(self, data, answer, *reads):
        """One request, which is read in pieces of these lengths, and its rest."""
        self.c.send(data)
        for n in reads:
            self.read(n)
        self.read(len(data) - sum(reads))
        self.answer(answer)

    def row(self, what="", method="GET", status=500):
        print(self.case, self.prefix + what, method, status)

    def end(self):
        self.c.close()
        self.s.close()


def final(status=500, body=b"hi", fields=b""):
    return b"HTTP/1.1 %d Test\r\n%sContent-Length: %d\r\n\r\n%s" % (status, fields, len(body), body)


HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
CHUNKED = "Transfer-Encoding: chunked\r\n"
GHOST = b"GET /ghost HTTP/1.1\r\n\r\n"


def first_byte(t):
    for i in range(10):
        t.ask(t.head(f"-{i}"), final(), 1)
        t.row(f"-{i}")


def every_byte(t):
    head = t.head()
    t.ask(head, final(), *[1] * (len(head) - 1))
    t.row()


def hints_joined(t):
    for status in (200, 500, 503):
        t.ask(t.head(f"-{status}"), HINTS + final(status))
        t.row(f"-{status}", status=status)


def hints_several(t):
    t.c.send(t.head())
    t.read(len(t.head()))
    for part in HINTS, HINTS[:9], HINTS[9:] + b"HTTP/1.1 100 Contin", b"ue\r\n\r\n" + final(502):
        t.answer(part)
    t.row(status=502)


def methods(t):
    for m in "PROPFIND", "LOCK", "PURGE", "LIST", "M-SEARCH", "P":
        t.ask(t.head("-" + m, m), final())
        t.row("-" + m, m)


def proxy_1(t):
    t.ask(b"PROXY TCP4 10.0.0.1 10.0.0.2 4000 80\r\n" + t.head(), final())
    t.row()


def proxy_1_apart(t):
    t.ask(b"PROXY TCP4 10.0.0.1 10.0.0.2 4000 80\r\n" + t.head(), final(), 3, 20)
    t.row()


PROXY_2 = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + b"\n\r \0" * 3


def proxy_2(t):
    t.ask(PROXY_2 + t.head(), final())
    t.row()


def proxy_2_apart(t):
    t.ask(PROXY_2 + t.head(), final(), 13, len(PROXY_2) - 13)
    t.row()


def empty_lines(t):
    for i in range(3):
        t.ask(b"\r\n" * i + t.head(f"-{i}"), final())
        t.row(f"-{i}")


def early_answer(t):
    head = t.head("-posted", "POST", f"Content-Length: {len(GHOST)}\r\n")
    t.ask(head, final())
    t.ask(GHOST + t.head("-next"), final(501))
    t.row("-posted", "POST")
    t.row("-next", status=501)


def early_answer_apart(t):
    t.ask(t.head("-posted", "POST", f"Content-Length: {len(GHOST)}\r\n"), final())
    t.c.send(GHOST)
    t.read(len(GHOST))
    t.ask(t.head("-next"), final(501))
    t.row("-posted", "POST")
    t.row("-next", status=501)


def trailers(t):
    body = b"5;a=b\r\nGET /\r\n0\r\nA: b\r\n\r\n"
    t.ask(t.head("-1", "POST", CHUNKED) + body, b"HTTP/1.1 500 Test\r\n" + CHUNKED.encode() + b"\r\n" + body, 60)
    t.ask(t.head("-2"), final(501))
    t.row("-1", "POST")
    t.row("-2", status=501)


def other_lengths(t):
    t.ask(t.head("-1", "POST", "X-Content-Length: 9\r\nContent-Lengths: 7\r\n"), final(fields=b"X-Original-Content-Length: 0\r\n"))
    t.ask(t.head("-2"), final(501))
    t.row("-1", "POST")
    t.row("-2", status=501)


def no_bodies(t):
    t.ask(t.head("-head", "HEAD"), b"HTTP/1.1 500 Test\r\nContent-Length: 99\r\n\r\n")
    t.ask(t.head("-304"), b"HTTP/1.1 304 Test\r\nContent-Length: 99\r\n\r\n")
    t.ask(t.head("-next"), final())
    t.row("-head", "HEAD")
    t.row("-304", status=304)
    t.row("-next")


def statuses(t):
    for status in 600, 777, 999:
        t.ask(t.head(f"-{status}"), final(status))
        t.row(f"-{status}", status=status)


def half_closed(t):
    t.c.send(t.head())
    t.c.half_close()
    t.read(len(t.head()))
    t.answer(final())
    t.row()


def long_target(t):
    t.ask(t.head("?" + "x" * 700), final(), 100, 300)
    t.ask(t.head("-next"), final(501))
    t.row()
    t.row("-next", status=501)


def database(t):
    """A protocol that begins with a length, as PostgreSQL's, and carries text."""
    for data in b"\0\0\0\x08\x04\xd2\x16\x2f", b"Q\0\0\0\x20", GHOST, GHOST:
        t.ask(data, b"S")


def text_protocol(t):
    for data in b"HELO there\r\n", b"DATA\r\n", GHOST, GHOST:
        t.ask(data, b"250 ok\r\n")


CASES = [first_byte, every_byte, hints_joined, hints_several, methods, proxy_1, proxy_1_apart, proxy_2, proxy_2_apart, empty_lines,
         early_answer, early_answer_apart, trailers, other_lengths, no_bodies, statuses, half_closed, long_target, database,
         text_protocol]

for kind, family, address in ("tcp", socket.AF_INET, ("127.0.0.1", port)), ("unix", socket.AF_UNIX, unix):
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(address)
    listener.listen(8)
    for case in CASES:
        talk = Talk(case.__name__, listener, address, kind)
        case(talk)
        talk.end()
