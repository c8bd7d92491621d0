# SPDX-License-Identifier: Apache-2.0
# net.py NAME send HOST PORT | ask HOST PORT | take PORT - a program of this name: opens 16 connections, says so, and
# sends over them until its input ends, then prints how many segments the kernel says were sent again since; asks for
# connections that nobody takes, likewise; or takes all that comes. keep: at a line sends what is lost, and prints how
# often it was sent again: once; and after the next line a few times.
import ctypes, fcntl, select, socket, struct, sys, termios, threading, time

name, what, *to = sys.argv[1:]
ctypes.CDLL(None).prctl(15, name.encode())  # PR_SET_NAME
CONNECTIONS, CHUNK = 16, 4000


def over():
    return select.select([sys.stdin], [], [], 0.01)[0]


def waits(s):
    """Whether the other side has not acknowledged all."""
    return struct.unpack("i", fcntl.ioctl(s, termios.TIOCOUTQ, bytes(4)))[0] > 0


def again(s):
    return struct.unpack_from("=I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), 100)[0]


def send(host, port):
    all_of = [socket.create_connection((host, int(port))) for _ in range(CONNECTIONS)]
    for s in all_of:
        s.setblocking(False)
    before = sum(map(again, all_of))  # a SYN that was sent again is counted elsewhere
    print("open", flush=True)
    while not over():
        for s in select.select([], all_of, [], 0)[1]:
            s.send(bytes(CHUNK))
    while any(waits(s) for s in all_of):  # what was lost is sent again still, after pauses that double
        time.sleep(0.05)
    print(sum(map(again, all_of)) - before, flush=True)


def keep(host, port):
    s = socket.create_connection((host, int(port)))
    for least in 0, 1, 3:
        while again(s) < least:
            time.sleep(0.05)
        print(again(s), flush=True)
        if least < 3:
            sys.stdin.readline()
        if least == 0:
            s.send(b"x")
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def ask(host, port):
    while not over():
        s = socket.socket()
        s.connect_ex((host, int(port)))
        s.close()


def take(port):
    def drain(s):
        while s.recv(65536):
            pass

    listener = socket.create_server(("", int(port)))
    while True:
        threading.Thread(target=drain, args=(listener.accept()[0],), daemon=True).start()


{"send": send, "keep": keep, "ask": ask, "take": take}[what](*to)
