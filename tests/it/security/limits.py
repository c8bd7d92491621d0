# SPDX-License-Identifier: Apache-2.0
"""limits.py - who listens, and who asks, in limits.sh. Each of the functions at the end is a command of it."""
import os
import random
import resource
import select
import signal
import socket
import struct
import sys
import time

PORT = 7470


def listen(log):
    """Takes every connection and says back what it hears; of each, when, from whom, and how many that one has open."""
    s = socket.create_server(('::', PORT), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024)
    out, poll, open_now, conns = open(log, 'w', 1), select.epoll(), {}, {}
    poll.register(s)
    while True:
        for fd, _ in poll.poll():
            if fd == s.fileno():
                c, address = s.accept()
                who = address[0].removeprefix('::ffff:')
                conns[c.fileno()] = c, who
                poll.register(c, select.EPOLLIN)
                open_now[who] = open_now.get(who, 0) + 1
                print(f'{time.monotonic():.3f} {who} {open_now[who]}', file=out)
                continue
            c, who = conns[fd]
            try:
                heard = c.recv(100)
                c.send(heard)
            except OSError:
                heard = b''
            if not heard:
                del conns[fd]
                c.close()
                open_now[who] -= 1


def opened(to, source, wait):
    """A connection from there; any address will do as a source."""
    c = socket.socket(socket.AF_INET6 if ':' in to else socket.AF_INET)
    c.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT: one port serves many sources
    c.settimeout(wait)
    c.bind((source, 0))
    try:
        c.connect((to, PORT))
    except BlockingIOError:
        pass
    return c


def reset(c):
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    c.close()


def storm(to, seconds, rate, keep, *sources):
    """RATE attempts a second, by one source after the other; given up after half a second, before they are repeated."""
    poll, asking, kept, n, began = select.epoll(), {}, [], 0, time.monotonic()
    while (now := time.monotonic() - began) < float(seconds):
        while n < now * int(rate):
            c = opened(to, sources[n % len(sources)], 0)
            asking[c.fileno()] = c, now
            poll.register(c, select.EPOLLOUT)
            n += 1
        for fd, _ in poll.poll(0.002):
            c, _ = asking.pop(fd)
            poll.unregister(fd)
            kept.append(c) if keep == 'keep' else reset(c)
        for fd, (c, since) in list(asking.items()):  # the oldest are first
            if now - since < 0.5:
                break
            del asking[fd]
            c.close()
    for c in kept:
        reset(c)


def many(to, prefix, n, *args):
    """The same by all of PREFIX1 to PREFIXN."""
    storm(to, *args, *(f'{prefix}{i + 1}' for i in range(int(n))))


def honest(to, source, times):
    """One connection after the other, each of which is answered within 5 s. Says how long the slowest took."""
    slowest = 0
    for _ in range(int(times)):
        began = time.monotonic()
        c = opened(to, source, 5)
        c.send(b'x')
        if c.recv(1) != b'x':
            sys.exit('not answered')
        slowest = max(slowest, time.monotonic() - began)
        reset(c)
        time.sleep(0.2)
    print(f'{slowest * 1000:.0f} ms')


def stay(to, source):
    """A connection that stays: what is said to it on standard input comes back."""
    c = opened(to, source, 3)
    for line in sys.stdin:
        c.send(line.encode())
        print(c.recv(100).decode(), end='', flush=True)


def checksum(data):
    n = sum(struct.unpack(f'!{len(data) // 2}H', data))
    n = (n >> 16) + (n & 0xFFFF)
    return ~(n + (n >> 16)) & 0xFFFF


def forged(to, seconds, rate):
    """First packets of connections, under addresses of others. Says how many, in how long."""
    raw, n, began = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW), 0, time.monotonic()
    first = last = None
    target = socket.inet_aton(to)
    while (now := time.monotonic() - began) < float(seconds):
        while n < now * int(rate):
            who = bytes((198, 18)) + random.randbytes(2)
            tcp = [random.randrange(1024, 65536), PORT, random.getrandbits(32), 0, 5 << 12 | 2, 65535, 0, 0]
            tcp[6] = checksum(who + target + struct.pack('!HH', socket.IPPROTO_TCP, 20) + struct.pack('!HHIIHHHH', *tcp))
            ip = struct.pack('!BBHHHBBH4s4s', 0x45, 0, 40, 0, 0, 64, socket.IPPROTO_TCP, 0, who, target)
            raw.sendto(ip + struct.pack('!HHIIHHHH', *tcp), (to, 0))
            n, last = n + 1, time.monotonic()
            first = first or last
        time.sleep(0.002)
    print(n, f'{last - first:.2f}')


resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
{f.__name__: f for f in (listen, storm, many, honest, stay, forged)}[sys.argv[1]](*sys.argv[2:])
