# SPDX-License-Identifier: Apache-2.0
"""hostile.py - who sends what no probe sends, in hostile.sh, by wireclient.py or by bare sockets. Each function at the
end is a command of it: URL ARG...; it ends with an error unless the collector answered as it should. What can be tried
again is tried for a second, as one attempt would not show in the times of others. Frames that libzmq would not send are
bareclient.py's."""
import hashlib
import itertools
import os
import resource
import select
import signal
import socket
import struct
import sys
import time

import zmq
import zmq.utils.monitor
from zmq.utils import z85

sys.path.insert(1, "tests/lib")
from bareclient import GREETING, Bare, dial  # noqa: E402
from wireclient import Client, encode_body, item, node_id  # noqa: E402

LAST_S = 1.0 if os.environ.get('LONG') else 0.5
SERVER = open(os.environ['COLLECTOR_PUB']).read().split()[-1].encode()
TOKEN = open(os.environ['TOKEN']).read().strip()
SPEED = [{'name': 'speed', 'unit': 'm/s', 'kind': 0}]


def pair_of(node):
    """The same in each process."""
    secret = z85.encode(hashlib.sha256(f'secret of {node}'.encode()).digest())
    return zmq.curve_public(secret), secret


def request(path):
    return {'start_ns': time.time_ns(), 'app': 'wire', 'comm': 'wire', 'pid': 7, 'tid': 8, 'remote': b'\x7f\0\0\1',
            'remote_port': 40000, 'local': bytes(15) + b'\1', 'local_port': 80, 'method': 'GET', 'path': path,
            'route': '/{n}', 'flags': 0, 'status': 500, 'request_us': 1500, 'queue_us': 0, 'bytes_in': 1, 'bytes_out': 2,
            'normal_us': 0, 'limit_us': 0, 'retrans': 0, 'srtt_us': 0, 'rcv_ooo': 0, 'reason': 1,
            'params': [{'key': 'ms', 'value': 12.5}], 'tries': []}


def body(path):
    return encode_body([('REQUEST', request(path))])


def for_a_while():
    until = time.monotonic() + LAST_S
    return itertools.takewhile(lambda i: i < 8 or time.monotonic() < until, itertools.count())


def want(what, wanted):
    if what != wanted:
        sys.exit(f'{what}, not {wanted}')


def answer(c, ms=3000):
    """Of the first message: its name and what it is about. KEYS and the like come unasked; and who was welcomed is so
    once more, if it had said HELLO again before."""
    heard = c.until('REFUSED', 'ACK', 'NACK', 'NEED_DICT', *() if c.welcomed else ('WELCOME',), ms=ms)
    return heard and (heard[0], heard[1].get('mark', heard[1].get('why', heard[1].get('marks'))))


def entered(url, node, epoch=None):
    c = Client(url, SERVER, node, pair_of(node), epoch)
    want(type(c.enter(TOKEN)), list)
    return c


class Honest(Client):
    """A node that delivers, as the page says in Delivery: it notes how long each batch waited for its ACK."""
    def __init__(self, url, node, out):
        super().__init__(url, SERVER, node, pair_of(node))
        self.out, self.seq, self.waiting, self.sockets, self.nack_at = out, 0, {}, 1, 0
        want(self.enter(TOKEN), [0, 0])
        self.progress = time.monotonic()

    def make(self):
        self.seq += 1
        self.waiting[self.seq] = time.monotonic(), body(f'/{self.seq}')
        self.batch(self.seq, self.waiting[self.seq][1], min(self.waiting))

    def again(self):
        for seq, (_, b) in self.waiting.items():
            self.batch(seq, b, min(self.waiting))

    def listen(self, now):
        while heard := self.hear(0):
            what, f = heard
            mark = f['marks'][0] if what == 'WELCOME' else f.get('mark', 0)
            for seq in [s for s in self.waiting if s <= mark]:
                print(f'{self.waiting[seq][0]:.4f} {(now - self.waiting.pop(seq)[0]) * 1000:.2f}', file=self.out)
                self.progress = now
            if what == 'WELCOME' or what == 'NACK' and now - self.nack_at > 0.2:
                self.nack_at = now
                self.again()
        if self.waiting and now - max(self.progress, min(self.waiting.values())[0]) > 1.5:
            self.open()
            self.hello(TOKEN)
            self.sockets, self.progress = self.sockets + 1, now


def honest(url, prefix, n, per_s, out):
    """PREFIX0 and so on deliver until SIGTERM; prints how many batches, and how many connections it took."""
    ending = []
    signal.signal(signal.SIGTERM, lambda *_: ending.append(1))
    with open(out, 'w', 1) as f:
        nodes = [Honest(url, f'{prefix}{i}', f) for i in range(int(n))]
        first, made = time.monotonic(), 0
        poller = zmq.Poller()
        while not ending or any(c.waiting for c in nodes):
            for s, _ in poller.sockets[:]:
                poller.unregister(s)
            for c in nodes:
                poller.register(c.sock, zmq.POLLIN)
            poller.poll(2)
            now = time.monotonic()
            while not ending and made < (now - first) * int(per_s):
                nodes[made % len(nodes)].make()
                made += 1
            for c in nodes:
                c.listen(now)
    print(made, sum(c.sockets for c in nodes) - len(nodes))


def p99(url, out, since, until):
    """Of the batches that were sent then: how many, the median, p99 and the longest, in ms."""
    took = sorted(float(b) for a, b in map(str.split, open(out)) if float(since) <= float(a) <= float(until))
    print(len(took), *(took[min(len(took) - 1, int(len(took) * q))] for q in (0.5, 0.99, 1)))


def attempts(url, server, n=20):
    """Connections that come to nothing, some at a time: says nothing back."""
    for _ in for_a_while():
        some = [Client(url, server, 'stranger') for _ in range(n)]
        time.sleep(0.1)  # time: an answer would be there
        want(any(c.sock.poll(0) for c in some), False)
        for c in some:
            c.close()


def wrong_key(url):
    attempts(url, zmq.curve_keypair()[0])


def no_key(url):
    attempts(url, None)


def unknown(url):
    """A key that nobody approved: its HELLO is refused, what else it says is not heard. Nor does any token do."""
    for i in for_a_while():
        c = Client(url, SERVER, f'unknown{i}')
        c.hello()
        want(answer(c), ('REFUSED', 1))
        c.batch(1, body('/unknown'))
        c.dict('fake', SPEED)
        c.hello('0' * 32)
        want(answer(c), ('REFUSED', 5))
        c.close()


def other_name(url, name):
    """An approved key, and one that has a good token, in the name of a node that is somebody else's."""
    c = entered(url, 'mallory')
    for _ in for_a_while():
        c.hello(node=name)
        want(answer(c), ('REFUSED', 3))
        c.batch(1, body('/stolen'), node_id=node_id(name))
    want(answer(c, 200), None)
    c = Client(url, SERVER, name)
    c.hello(TOKEN)
    want(answer(c), ('REFUSED', 4))


def replay(url):
    """The frames that one key sent, by another and by itself."""
    c, frames = entered(url, 'mallory', 77), []
    for seq in 1, 2, 3:
        frames.append([c.head(seq), body(f'/replay{seq}')])
        c.sock.send_multipart(frames[-1])
    while answer(c) != ('ACK', 3):
        pass
    eve = entered(url, 'eve', 77)
    for _ in for_a_while():
        for f in frames:
            eve.sock.send_multipart(f)
            c.sock.send_multipart(f)
        want(answer(c), ('ACK', 3))
    want(answer(eve, 200), None)


def gap(url):
    c = entered(url, 'mallory', 78)
    for i in for_a_while():
        c.batch(5 + i % 1000, body('/gap'))
        time.sleep(0.001)  # time: at this rate
    want(answer(c), ('NACK', 0))


def overflow(url):
    """seq at and over the limit. The first one says that all below was dropped, of its own epoch."""
    for i in for_a_while():
        c = entered(url, 'mallory', 1000 + i)
        for seq, base in ((1 << 63, 1), ((1 << 64) - 1, (1 << 64) - 1), (1, 2), (1, 0), (0, 0)):
            c.batch(seq, body('/overflow'), base)
        c.batch((1 << 63) - 1, body('/overflow'))
        want(answer(c), ('NACK', 0))
        if i < 2:
            c.batch((1 << 63) - 1, body(f'/last{i}'), (1 << 63) - 1)
            want(answer(c), ('ACK', (1 << 63) - 1))
        c.close()


def cut(c):
    """Whether the collector ends this connection."""
    m = c.sock.get_monitor_socket(zmq.EVENT_DISCONNECTED)
    yield
    want(bool(m.poll(3000)), True)
    c.sock.disable_monitor()


def epochs(url):
    """Ever new ones, of one node."""
    c = entered(url, 'manifold', 85)
    for i in for_a_while():
        c.batch(1, body('/epochs'), epoch=10000 + i)
        if i % 10 == 0:
            time.sleep(0.001)  # time: at this rate
    print(i)


def oversized(url):
    for _ in for_a_while():
        c = entered(url, 'mallory', 79)
        watch = cut(c)
        next(watch)
        c.sock.send(bytes(2 << 20))
        next(watch, None)
        c.close()


def largest(url):
    """As large as the page allows, no more: a body of 1 MiB."""
    c = entered(url, 'large')
    filler = item('SOURCE', name='n', state=0, why='x' * 256)
    b = filler * ((1 << 20) // len(filler))
    b += bytes([0xc1]) * ((1 << 20) - len(b))
    want(len(b), 1 << 20)
    c.batch(1, b)
    want(answer(c), ('ACK', 1))


def frames(url):
    c = entered(url, 'mallory', 80)
    for _ in for_a_while():
        c.sock.send_multipart([b'x'] * 20000)
    c.batch(1, body('/frames'))
    while answer(c) != ('ACK', 1):
        pass


def endless(url, mib):
    """A message that does not end, of a key that nobody approved."""
    c, part = Bare(url, SERVER, zmq.curve_keypair()), bytes(1 << 18)
    try:
        for _ in range(int(mib) * 4):
            c.sock.sendall(c.message(part, more=True))
        time.sleep(1)  # time: a reset would be there
    except OSError as e:
        print(e)
        return
    sys.exit(f'{mib} MiB were taken')


def half(url, wait):
    """All but the last byte of a frame, and then nothing."""
    c = Bare(url, SERVER, pair_of('mallory'))
    c.sock.sendall(c.message(bytes(1 << 20))[:-1])
    began = time.monotonic()
    c.sock.settimeout(int(wait))
    try:
        while c.sock.recv(1000):
            pass
    except ConnectionError:
        pass
    print(f'{time.monotonic() - began:.0f}')


def names(url):
    """Connections that give themselves a name: too long, and one name for many."""
    for i in for_a_while():
        c = Client(url, SERVER, 'mallory', pair_of('mallory'), 82)
        c.sock.close()
        c.sock = c.context.socket(zmq.DEALER)
        c.sock.linger, c.sock.routing_id = 0, b'n' * (255 if i % 2 else 3)
        c.sock.curve_serverkey, (c.sock.curve_publickey, c.sock.curve_secretkey) = SERVER, pair_of('mallory')
        c.sock.connect(url)
        c.hello()
        want(answer(c, 300) if i % 2 else None, None)
        c.close()


def poison(url):
    """What cannot be read, and what PostgreSQL refuses (hostile.sh has it refuse this path)."""
    c = entered(url, 'mallory', 83)
    for i in for_a_while():
        b = (b'\xc1\xc1', body('/poison'), item('SAMPLE', layout=1, entity='\udcff', values=[]))[i % 2]
        c.batch(i + 1, b)
        while (got := answer(c)) != ('ACK', i + 1): # a NACK, or none in time: again, as a probe does
            if got is None or got[0] == 'NACK':
                c.batch(i + 1, b)
    print(i)


def slow(url, n):
    """Parts of a greeting and of a CURVE HELLO, and then nothing, or a byte now and then. All are cut."""
    starts = [b'', GREETING[:1], GREETING[:11], GREETING[:40], GREETING, GREETING + b'\4\xc8\5HELLO\1\0' + bytes(50)]
    conns, began = [dial(url) for _ in range(int(n))], time.monotonic()
    for i, s in enumerate(conns):
        s.send(starts[i % len(starts)])
        s.setblocking(False)
    opened, drip = {s.fileno(): s for s in conns}, 0
    poll = select.epoll()
    for fd in opened:
        poll.register(fd, select.EPOLLIN)
    while opened and time.monotonic() - began < 15:
        for fd, _ in poll.poll(0.1):
            try:
                if opened[fd].recv(4096):
                    continue
            except OSError:
                pass
            poll.unregister(fd)
            opened.pop(fd).close()
        drip += 1
        for s in list(opened.values())[:20]:
            if s in conns[1::6]:
                try:
                    s.send(GREETING[drip:drip + 1])
                except OSError:
                    pass
    print(f'{time.monotonic() - began:.1f}')
    want(len(opened), 0)


def storm(url, per_s):
    """Connections, at most so many a second: bare ones, then handshakes to the end. Says how many of each it got."""
    counts = []
    for some, dialled in ((1, True), (40, False)):
        began, n = time.monotonic(), 0
        for _ in for_a_while():
            # time: at this rate
            time.sleep(max(0.0 if dialled else 0.02, began + n / int(per_s) - time.monotonic()))
            conns = [dial(url) if dialled else Client(url, SERVER, 'storm') for _ in range(some)]
            if dialled:
                conns[0].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            else:
                time.sleep(0.02)  # time: handshakes go on for that long
            for c in conns:
                c.close()
            n += some
        counts.append(n)
    print(*counts)


def exhaust(url, n, seconds):
    """More connections than there are descriptors, for some seconds; who is cut comes again."""
    until, conns, tries = time.monotonic() + float(seconds), [], 0
    while time.monotonic() < until:
        while len(conns) < int(n) and time.monotonic() < until:
            tries += 1
            try:
                conns.append(dial(url, 0.1))
                conns[-1].setblocking(False)
            except OSError:
                pass
        time.sleep(0.01)
        for s in select.select(conns, [], [], 0)[0]:
            try:
                if s.recv(100):
                    continue
            except OSError:
                pass
            conns.remove(s)
            s.close()
    print(tries)


def serves(url, node, seconds=5):
    """A node comes in and delivers."""
    c = Client(url, SERVER, node, pair_of(node))
    want(type(c.enter(TOKEN, int(seconds) * 1000)), list)
    c.hello(TOKEN)  # again, as when it is answered late
    c.batch(1, body('/serves'))
    want(answer(c), ('ACK', 1))


if __name__ == '__main__':
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    globals()[sys.argv[1]](*sys.argv[2:])
