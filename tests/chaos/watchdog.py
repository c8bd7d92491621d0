#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The watchdog of a service manager for the nodes of run.sh, as systemd's with WatchdogSec.

watchdog.py SOCKET SECONDS: each process that sent WATCHDOG=1 to SOCKET and then nothing for SECONDS gets SIGABRT, and SIGKILL a
second later. Prints the pid of each that it ended.
"""
import os
import signal
import socket
import struct
import sys
import time


def end(pid):
    for sig, pause in ((signal.SIGABRT, 1), (signal.SIGKILL, 0)):
        try:
            os.kill(pid, sig)
        except ProcessLookupError:
            return
        time.sleep(pause)  # time: systemd's TimeoutAbortSec, shorter


def main():
    path, limit = sys.argv[1], float(sys.argv[2])
    heard = {}
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    s.settimeout(0.2)
    s.bind(path)
    while True:
        try:
            data, extra, _, _ = s.recvmsg(64, socket.CMSG_SPACE(12))
            pid = next(struct.unpack("3i", d[:12])[0] for _, kind, d in extra if kind == socket.SCM_CREDENTIALS)
            if data == b"WATCHDOG=1":
                heard[pid] = time.monotonic()
            continue  # all that is queued is read before somebody counts as silent
        except TimeoutError:
            pass
        for pid, at in list(heard.items()):
            if time.monotonic() - at < limit:
                continue
            del heard[pid]
            if os.path.exists(f"/proc/{pid}"):
                end(pid)
                print(pid, flush=True)


main()
