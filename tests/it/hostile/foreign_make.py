# SPDX-License-Identifier: Apache-2.0
"""foreign_make.py - what an outsider makes for a probe to read.

sparse SOURCE DEST BYTES     a copy of a program whose table of symbols is BYTES long, and a hole
sections SOURCE DEST BYTES   the same with 65,279 tables of symbols, one in the other, of BYTES that are no hole
map KIND PATH                a perf map: wide (60 MiB of lines), line (60 MiB in one line), grow (wide, and longer each moment)
fuse DIR COMMAND...          a FUSE file system on DIR that never answers, while COMMAND runs"""
import ctypes
import os
import struct
import subprocess
import sys
import time

SIZE = 60 << 20
libc = ctypes.CDLL(None, use_errno=True)


def section(kind, offset, size, link=0, entry=0):
    return struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, offset, size, link, 0, 8, entry)


def sparse(source, dest, size):
    size = int(size)
    program = bytearray(open(source, "rb").read())
    program += bytes(-len(program) % 4096)
    names = b"\0ngx_http_free_request\0ngx_cached_time\0"
    names_at, program = len(program), program + names
    program += bytes(-len(program) % 64)
    sections_at = len(program)
    symbols_at = (sections_at + 64 * 3 + 4095) // 4096 * 4096
    program += section(0, 0, 0) + section(11, symbols_at, size, 2, 24) + section(3, names_at, len(names))
    struct.pack_into("<Q", program, 40, sections_at)
    struct.pack_into("<HHH", program, 58, 64, 3, 0)
    with open(dest, "wb") as f:
        f.write(program)
    os.truncate(dest, symbols_at + size)
    os.chmod(dest, 0o755)


def sections(source, dest, size):
    size, count = int(size), 65279
    program = bytearray(open(source, "rb").read())
    program += bytes(-len(program) % 4096)
    sections_at = len(program)
    symbols_at = (sections_at + 64 * count + 4095) // 4096 * 4096
    program += section(0, 0, 0) + section(3, symbols_at, size)
    program += section(11, symbols_at, size, 1, 24) * (count - 2)
    program += bytes(symbols_at - len(program)) + b"\0ngx_http_free_requests" * (size // 23)
    struct.pack_into("<Q", program, 40, sections_at)
    struct.pack_into("<HHH", program, 58, 64, count, 0)
    with open(dest, "wb") as f:
        f.write(program)
    os.chmod(dest, 0o755)


def perf_map(kind, path):
    lines = b"".join(b"%x 10 function_%d\n" % (i * 16, i) for i in range(1 << 16))
    with open(path, "wb") as f:
        if kind == "line":
            f.write(b"1000 10 " + b"x" * SIZE)
        while kind != "line" and f.tell() < SIZE:
            f.write(lines)
        while kind == "grow":
            time.sleep(0.05)
            f.write(lines[:1000])
            f.flush()


def fuse(directory, *command):
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if libc.mount(b"silent", directory.encode(), b"fuse", 0, options) < 0:
        sys.exit(f"cannot mount {directory}: {os.strerror(ctypes.get_errno())}")
    sys.exit(subprocess.run(command).returncode)


{"sparse": sparse, "sections": sections, "map": perf_map, "fuse": fuse}[sys.argv[1]](*sys.argv[2:])
