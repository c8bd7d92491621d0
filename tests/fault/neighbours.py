# SPDX-License-Identifier: Apache-2.0
"""neighbours.py - what others on a machine do: each processor is taken by somebody at real-time priority for 30 to 150 ms, some
times a second, and the disk is written to. On a quiet machine the control would have nothing to explain. Until it is killed."""
import os
import random
import sys
import time


def hog(cpu):
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2))
    while os.getppid() == parent:
        time.sleep(random.uniform(0.1, 0.6))
        end = time.monotonic() + random.uniform(0.03, 0.15)
        while time.monotonic() < end:
            pass


parent = os.getpid()
for cpu in os.sched_getaffinity(0):
    if os.fork() == 0:
        hog(cpu)
        sys.exit()
while True:
    fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.write(fd, bytes(30 << 20))
    os.fsync(fd)
    os.close(fd)
    time.sleep(0.5)
