# SPDX-License-Identifier: Apache-2.0
"""client.py NAME MARK N ADDRESS... - sends N requests to each address of a server and prints what each should be as a row:
"path method status microseconds". An address is tcp:PORT, tcp6:PORT or unix:PATH. Half of the requests are sent on kept
connections, half on new ones, by several threads. The paths are /MARK/NAME-ADDRESS/KIND/NUMBER; the kind says what the server does:
ok answers 200, fail 500, slow 200 after 300 ms."""
import http.client
import socket
import sys
import threading
import time

THREADS = 4
KINDS = ("ok", "fail", "ok", "slow", "fail", "ok", "ok", "ok")
SLOW_EVERY = 5  # of those that would be slow: the others are ok, or it takes too long
printing = threading.Lock()


class Connection(http.client.HTTPConnection):
    def __init__(self, address):
        super().__init__("localhost", timeout=30)
        self.address = address

    def connect(self):
        kind, place = self.address.split(":", 1)
        if kind == "unix":
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(30)
            self.sock.connect(place)
            return
        self.sock = socket.create_connection(("127.0.0.1" if kind == "tcp" else "::1", int(place)), timeout=30)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def kind_of(number, slow):
    kind = KINDS[number % len(KINDS)]
    return kind if kind != "slow" or (slow and number // len(KINDS) % SLOW_EVERY == 0) else "ok"


def send(connection, method, path, kept):
    """Status and microseconds; a kept connection that the server ended meanwhile is opened again."""
    began = time.monotonic()
    try:
        connection.request(method, path, body=b"x=1" if method == "POST" else None, headers={} if kept else {"Connection": "close"})
    except (BrokenPipeError, ConnectionResetError):
        pass  # haproxy answers before it has read the body, and closes
    answer = connection.getresponse()
    answer.read()
    took = int((time.monotonic() - began) * 1e6)
    if not kept or answer.will_close:
        connection.close()
    return answer.status, took


def work(prefix, address, numbers, slow):
    kept = Connection(address)
    lines = []
    for number in numbers:
        method = "POST" if number % 7 == 0 else "GET"
        path = f"{prefix}/{kind_of(number, slow)}/{number}"
        keep = number % 2 == 0
        try:
            status, took = send(kept if keep else Connection(address), method, path, keep)
        except (OSError, http.client.HTTPException) as error:
            print(f"{path}: {error!r}", file=sys.stderr)
            kept.close()
            continue
        lines.append(f"{path} {method} {status} {took}")
    kept.close()
    with printing:
        print("\n".join(lines))


def main():
    name, mark, n, slow = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "slow"
    threads = []
    for address in sys.argv[5:]:
        prefix = f"/{mark}/{name}-{address.split(':')[0]}"
        threads += [threading.Thread(target=work, args=(prefix, address, range(i, n, THREADS), slow)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
