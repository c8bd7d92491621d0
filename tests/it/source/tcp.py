# SPDX-License-Identifier: Apache-2.0
# tcp.py CLIENT SERVER - in a network namespace of its own, connections of two programs of these names, and prints what each of
# them did: "CLIENT|SERVER NAME NUMBER". Addresses of 10.9.9.0/24 are behind a link that nobody answers on.
import ctypes, os, socket, struct, subprocess, sys, threading

client_name, server_name = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET, PR_SET_NAME = 0x40000000, 15
NO_ANSWER, NO_HOST = "10.9.9.3", "10.9.9.4"
CONNECTS, REFUSED, TIMED_OUT, UNREACHABLE, GIVEN_UP, NOT_SENT = 26, 11, 2, 2, 3, 1


def run(command):
    subprocess.run(command.split(), check=True)


def link():
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    run("ip link set lo up")
    run("ip link add v0 type veth peer name v1")
    run("ip link set v0 up")
    run("ip link set v1 up")
    run("ip addr add 10.9.9.1/24 dev v0")
    run(f"ip neigh add {NO_ANSWER} lladdr 02:00:00:00:00:33 dev v0")


def named(name):
    libc.prctl(PR_SET_NAME, name.encode())


def take(s, n):
    got = 0
    while got < n:
        more = len(s.recv(65536))
        assert more, (got, n)
        got += more
    return got


def serve(listener, n):
    """Takes as many bytes as the first four say, and answers with three times as many."""
    took = gave = 0
    for _ in range(n):
        s, _ = listener.accept()
        size = struct.unpack("!I", s.recv(4, socket.MSG_WAITALL))[0]
        took += 4 + take(s, size)
        s.sendall(bytes(3 * size))
        gave += 3 * size
        s.recv(1)
        s.close()
    return took, gave


def call(to, size):
    s = socket.create_connection(to)
    s.sendall(struct.pack("!I", size) + bytes(size))
    got = take(s, 3 * size)
    s.close()
    return 4 + size, got


def fails(address, error, syns=None):
    s = socket.socket()
    if syns:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, syns)
    try:
        s.connect(address)
    except error:
        return
    finally:
        s.close()
    raise AssertionError(f"{address}: no {error}")


def give_up():
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex((NO_ANSWER, 80))
    s.close()


def no_port(to):
    """All ports that there are, one, is taken."""
    path = "/proc/sys/net/ipv4/ip_local_port_range"
    with open(path) as f:
        before = f.read()
    with open(path, "w") as f:
        f.write("40000 40000")
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex((NO_ANSWER, 81))
    fails((NO_ANSWER, 81), OSError)
    s.close()
    with open(path, "w") as f:
        f.write(before)


link()
go = os.pipe()
server = os.fork()
if server == 0:
    named(server_name)
    listener = socket.create_server(("127.0.0.1", 0))
    os.write(go[1], struct.pack("!H", listener.getsockname()[1]))
    took, gave = serve(listener, CONNECTS)
    print(f"{server_name} tcp_accepts_total {CONNECTS}\n{server_name} tcp_sent_bytes_total {gave}\n{server_name} tcp_received_bytes_total {took}", flush=True)
    os._exit(0)
named(client_name)
to = ("127.0.0.1", struct.unpack("!H", os.read(go[0], 2))[0])
slow = [threading.Thread(target=fails, args=((NO_ANSWER, 80), TimeoutError, 1)) for _ in range(TIMED_OUT)]
slow += [threading.Thread(target=fails, args=((NO_HOST, 80), OSError)) for _ in range(UNREACHABLE)]
for t in slow:
    t.start()
gave = took = 0
for i in range(CONNECTS):
    out, back = call(to, 7 ** (i % 7))
    gave, took = gave + out, took + back
for _ in range(REFUSED):
    fails(("127.0.0.1", 1), ConnectionRefusedError)
for _ in range(GIVEN_UP - 1):
    give_up()
no_port(to)  # the one that had the port gives up, too
for t in slow:
    t.join()
assert os.waitpid(server, 0)[1] == 0
for name, n in {
    "tcp_connects_total": CONNECTS,
    "tcp_connect_time_us_": CONNECTS,
    "tcp_round_trip_us_": CONNECTS,
    "tcp_connects_refused_total": REFUSED,
    "tcp_connects_timed_out_total": TIMED_OUT,
    "tcp_connects_unreachable_total": UNREACHABLE,
    "tcp_connects_given_up_total": GIVEN_UP,
    "tcp_connects_not_sent_total": NOT_SENT,
    "tcp_connects_failed_total": 0,
    "tcp_sent_bytes_total": gave,
    "tcp_received_bytes_total": took,
}.items():
    print(client_name, name, n)
