# SPDX-License-Identifier: Apache-2.0
"""web_flood.py - clients of web_limits.sh, good and bad ones. Each of the functions at the end is a command of it.

AT is a port of 127.0.0.1, or the path of a Unix socket.
"""
import errno
import json
import os
import resource
import selectors
import socket
import sys
import time

BUFFERS = 8 << 20  # more than the buffers of a connection hold
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def opened(at, source='127.0.0.1', wait=60, receive=None):
    if at.startswith('/'):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(wait)
        s.connect(at)
        return s
    s = socket.socket()
    if receive:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    s.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT: one port serves many sources
    s.bind((source, 0))
    s.settimeout(wait)
    s.connect(('127.0.0.1', int(at)))
    return s


def head(at, path, method='GET', more=''):
    host = 'localhost' if at.startswith('/') else f'127.0.0.1:{at}'
    return f'{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n'.encode()


def answer(s):
    """The status, the head and the body, read to the end of its length or of the connection."""
    got = b''
    while b'\r\n\r\n' not in got:
        more = s.recv(65536)
        if not more:
            return 0, '', b''
        got += more
    top, body = got.split(b'\r\n\r\n', 1)
    top = top.decode().lower()
    size = int(top.split('content-length: ')[1].split('\r\n')[0]) if 'content-length: ' in top else len(body)
    while len(body) < size and (more := s.recv(65536)):
        body += more
    return int(top.split()[1]), top, body


def asked(at, path, source='127.0.0.1', method='GET', more='', wait=60):
    with opened(at, source, wait) as s:
        s.sendall(head(at, path, method, more))
        return answer(s)


def refused(at, why):
    text = asked(at, '/metrics')[2].decode()
    return int(text.split(f'seismo_web_refused_total{{why="{why}"}} ')[1].split('\n')[0])


def ask(at, path, method='GET', body=''):
    """STATUS BODY"""
    more = f'Content-Type: application/json\r\nContent-Length: {len(body)}\r\n' if method == 'POST' else ''
    with opened(at) as s:
        s.sendall(head(at, path, method, more) + body.encode())
        status, _, text = answer(s)
    print(status, text.decode()[:300])


def quick(at, source='127.0.0.1'):
    """/healthz and the first page ten times each: says the median of each in ms, if all were answered with 200."""
    for path in ('/healthz', '/'):
        took = []
        for _ in range(10):
            began = time.monotonic()
            status, _, body = asked(at, path, source)
            assert status == 200 and body, (path, status, body[:200])
            took.append((time.monotonic() - began) * 1000)
        print(path, round(sorted(took)[5]), end=' ')
    print(flush=True)


def stopped():
    """Whether the file in STOP is there."""
    return os.path.exists(os.environ['STOP'])


def rest():
    while not stopped():
        time.sleep(0.1)


def drip(at, n):
    """N connections that send one byte of a request each second, opened again when they are ended; until it is stopped."""
    conns, text = [None] * int(n), b'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ' + b'a' * 10000
    said, k = False, 0
    while not stopped():
        for i, s in enumerate(conns):
            try:
                if s is None:
                    s = conns[i] = socket.socket()
                    s.setblocking(False)
                    s.connect_ex(('127.0.0.1', int(at)))
                s.send(text[k % 10000:k % 10000 + 1])
            except BlockingIOError:
                pass
            except OSError as e:
                if e.errno not in (errno.ENOTCONN, errno.EINPROGRESS):
                    s.close()
                    conns[i] = None
        k += 1
        if not said:
            print('dripping', flush=True)
            said = True
        time.sleep(0.2)


def stream(at, n, source='127.0.0.1'):
    """Opens N streams and keeps them until it is stopped. Says how many got which status, and one sentence of a refusal."""
    kept, seen, text = [], {}, ''
    for _ in range(int(n)):
        s = opened(at, source)
        s.sendall(head(at, '/api/v1/stream'))
        status, _, body = answer(s)
        seen[status] = seen.get(status, 0) + 1
        if status == 200:
            kept.append(s)
        else:
            text = json.loads(body)['error']['message']
            s.close()
    print(*(f'{k}:{v}' for k, v in sorted(seen.items())), text, flush=True)
    rest()


def crawl(at, n, source='127.0.0.1'):
    """N clients that ask the API again and again until it is stopped; says how many answers of each status came."""
    conns, seen, poll, began = {}, {}, selectors.DefaultSelector(), False

    def begin():
        s = opened(at, source)
        s.sendall(head(at, '/api/v1/requests/facets'))
        poll.register(s, selectors.EVENT_READ)

    for _ in range(int(n)):
        begin()
    while not stopped():
        for key, _ in poll.select(0.1):
            poll.unregister(key.fileobj)
            key.fileobj.settimeout(60)
            status = answer(key.fileobj)[0]
            seen[status] = seen.get(status, 0) + 1
            key.fileobj.close()
            begin()
        if seen and not began:
            print('crawling', flush=True)
            began = True
    print(*(f'{k}:{v}' for k, v in sorted(seen.items())), flush=True)


def hoard(at, n, source):
    """N connections that ask for the largest file and do not read it, until it is stopped; says how many it has."""
    page = asked(at, '/', source)[2].decode()
    files = [a for a in page.split('"') if a.startswith('/assets/')]
    sizes = {a: len(asked(at, a, source)[2]) for a in files}
    largest = max(sizes, key=sizes.get)
    kept = [opened(at, source, receive=2048) for _ in range(int(n))]
    for s in kept:
        s.sendall(head(at, largest) * (BUFFERS // sizes[largest] + 1))
        s.recv(1, socket.MSG_PEEK)
    print('holding', len(kept), flush=True)
    rest()


def late(at):
    """A request that is never complete, a byte each 0.2 s: says the status, whether a sentence came, and after which time."""
    began, text = time.monotonic(), b'GET /healthz HTTP/1.1\r\nX: '
    with opened(at, wait=0.2) as s:
        for i in range(500):
            try:
                s.send(text[i:i + 1] or b'a')
                status, _, body = answer(s)
                break
            except TimeoutError:
                continue
    took = time.monotonic() - began
    print(status, 'complete' in body.decode(), 'after 8 to 60 s' if 8 < took < 60 else took)


def long_head(at):
    """STATUS of a head over 16 KiB that has no end yet."""
    with opened(at) as s:
        s.sendall(b'GET / HTTP/1.1\r\nX: ' + b'a' * 17000)
        print(answer(s)[0])


def slow_body(at):
    """Says whether a command whose body never ends is cut."""
    with opened(at, wait=60) as s:
        s.sendall(head(at, '/api/v1/incidents/1-0000000000000001/close', 'POST',
                       'Content-Type: application/json\r\nContent-Length: 100\r\n') + b'{')
        print('cut' if not s.recv(1) else 'answered')


def held_back(at, source):
    """With no seat left: a query is refused by a sentence, a page is not, and its connection is closed."""
    status, _, body = asked(at, '/api/v1/nodes', source)
    page = asked(at, '/', source)
    print(status, 'too many connections' in body.decode(), page[0], 'connection: close' in page[1])


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
