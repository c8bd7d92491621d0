# SPDX-License-Identifier: Apache-2.0
"""cgroups.py spend DIR...: burns a moment of CPU in each of these cgroups. eat MIB: memory, and says how much it got."""
import os
import sys
import time


def spend(dirs):
    for d in dirs:
        with open(f'{d}/tasks', 'w', encoding='ascii') as f:
            f.write(str(os.getpid()))
        end = time.thread_time_ns() + 2_500_000
        while time.thread_time_ns() < end:
            pass


def eat(mib):
    kept = []
    for _ in range(mib):
        kept.append(b'x' * 2**20)


if __name__ == '__main__':
    if sys.argv[1] == 'spend':
        spend(sys.argv[2:])
    else:
        eat(int(sys.argv[2]))
