# SPDX-License-Identifier: Apache-2.0
"""taskstats.py - the kernel's delay accounting of a thread of others, by generic netlink. To be made
in the first network namespace, where alone it answers; it goes on to answer in others."""
import socket
import struct

GENL_ID_CTRL, GETFAMILY, FAMILY_NAME, FAMILY_ID = 16, 3, 2, 1
STATS_GET, ATTR_PID, AGGR_PID, STATS = 1, 1, 4, 3
BLKIO_DELAY, RECLAIM_DELAY = 40, 320  # where they are in struct taskstats, which only grows


def attributes(data):
    found = {}
    while len(data) >= 4:
        n, kind = struct.unpack_from("HH", data)
        if n < 4:
            break
        found[kind] = data[4:n]
        data = data[(n + 3) & ~3:]
    return found


class Taskstats:
    def __init__(self):
        self.s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.s.settimeout(2)
        self.family = struct.unpack("H", self.ask(GENL_ID_CTRL, GETFAMILY, FAMILY_NAME, b"TASKSTATS\0")[FAMILY_ID])[0]

    def ask(self, kind, command, attribute, value):
        body = struct.pack("BBH", command, 1, 0) + struct.pack("HH", 4 + len(value), attribute) + value
        body += b"\0" * (-len(body) % 4)
        self.s.send(struct.pack("IHHII", 16 + len(body), kind, 1, 0, 0) + body)
        answer = self.s.recv(8192)
        if struct.unpack_from("IH", answer)[1] == 2:
            raise OSError("netlink refused")
        return attributes(answer[20:])

    def delays(self, tid):
        """Nanoseconds of (block I/O, reclaim) so far; zeroes where delay accounting is off."""
        stats = attributes(self.ask(self.family, STATS_GET, ATTR_PID, struct.pack("I", tid))[AGGR_PID])[STATS]
        return tuple(struct.unpack_from("Q", stats, at)[0] for at in (BLKIO_DELAY, RECLAIM_DELAY))
