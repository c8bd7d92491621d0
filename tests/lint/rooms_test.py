#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rooms_test.py - plants faults in a copy of the C sources; rooms.py must find each. A wrong arrow is planted in every room.
Faults that do not hide each other are planted together, as one reading takes a second."""
import os
import shutil
import subprocess
import sys
import tempfile

from rooms import C_FILE, FOLDERS, SOURCES, TABLE, TOP, read_table

HERE = os.path.dirname(os.path.abspath(__file__))
COUNTERS, SOURCE = "collector/core/counters.h", "probe/core/source.h"


def write(root, name, text, mode="w"):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, mode, encoding="utf-8") as f:
        f.write(text)


def append(name, text):
    return lambda root: write(root, name, text, "a")


def replace(name, old, new):
    def act(root):
        with open(os.path.join(root, name), encoding="utf-8") as f:
            text = f.read()
        assert old in text, old
        write(root, name, text.replace(old, new, 1))
    return act


def crowd(root):
    for i in range(26):
        write(root, f"lib/spool/extra_{i}.h", "#pragma once\n")


def link(root):
    """Two objects, of which the lower one takes a symbol from the upper one without an include."""
    for name, text in (("lib/base/planted_low.c", "int planted_high(void);\nint planted_low(void) { return planted_high(); }\n"),
                       ("probe/source/planted_high.c", "int planted_low(void);\nint planted_high(void) { return planted_low(); }\n")):
        write(root, name, text)
        target = os.path.join(root, "objects", name[:-1] + "o")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        subprocess.check_call(["cc", "-c", "-o", target, os.path.join(root, name)])


def rooms():
    """Of each room that has a file, one of its files."""
    names = subprocess.check_output(["git", "-C", TOP, "ls-files", *SOURCES], text=True).split()
    return {os.path.dirname(n): n for n in names if C_FILE.search(n)}


def wrong_arrow(name):
    return COUNTERS if name.startswith(("probe", "replay", "bpf")) else SOURCE


def arrow_in_each_room(root):
    for name in rooms().values():
        write(root, name, f'#include "{wrong_arrow(name)}"\n', "a")


def said_of_each_room(out):
    return [f"{room} may not use" for room, name in rooms().items() if f"{name}: {room} may not use {os.path.dirname(wrong_arrow(name))} (#include)" not in out]


TOGETHER = [
    ("an arrow from one source to another", append("probe/source/tcp/tcp_event.h", '#include "probe/source/proc/src_proc.h"\n'), "probe/source/tcp may not use probe/source/proc"),
    ("an arrow from lib to a program", append("lib/base/buf.h", f'#include "{SOURCE}"\n'), "lib/base may not use probe/core"),
    ("an arrow from one program to the other", append(SOURCE, f'#include "{COUNTERS}"\n'), "probe/core may not use collector/core"),
    ("a room that the table does not name", append("lib/misc/misc.h", "#pragma once\n"), "lib/misc: tests/lint/rooms.def has no such room"),
    ("an include that is no path from the root", append("lib/base/buf.c", '#include "buf.h"\n'), 'includes "buf.h", which is no file from the root'),
    ("a folder of more than 25 files", crowd, "lib/spool: "),
    ("two files of one name in a program", append("probe/event/loop.h", "#pragma once\n"), "2 files are called loop.h: lib/daemon/loop.h probe/event/loop.h"),
    ("two structs of one tag in a program", append("probe/event/planted.h", "struct loop {\n\tint fd;\n};\n"), "structs are called loop"),
]
LINKED = [
    ("a symbol that is taken without an include", link, "lib/base may not use probe/source (planted_high)"),
    ("a circle of modules", lambda root: None, "a circle of modules: "),
]
ALONE = [
    ("a circle of rooms", append("lib/base/buf.h", '#include "lib/wire/mp.h"\n'), "a circle of rooms: "),
    ("an arrow that nothing uses", lambda root: (link(root), replace(TABLE, "lib/base: -", "lib/base: schema/def")(root)), "lib/base uses nothing of schema/def"),
    ("fewer files than there were", replace(TABLE, "at least files: ", "at least files: 9"), "files were read"),
    ("a wrong arrow in each room", arrow_in_each_room, said_of_each_room),
]


def check(root):
    objects = os.path.join(root, "objects")
    command = [sys.executable, os.path.join(HERE, "rooms.py"), root] + ([objects] if os.path.exists(objects) else [])
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def copy_to(root):
    names = subprocess.check_output(["git", "-C", TOP, "ls-files", *FOLDERS], text=True).split("\n")
    for name in names:
        source = os.path.join(TOP, name)
        if C_FILE.search(name) and name.startswith(SOURCES) and os.path.exists(source):
            os.makedirs(os.path.join(root, os.path.dirname(name)), exist_ok=True)
            shutil.copy(source, os.path.join(root, name))
    os.makedirs(os.path.join(root, "tests/lint"))
    shutil.copy(os.path.join(TOP, TABLE), os.path.join(root, TABLE))
    subprocess.check_call(["git", "init", "-q", root])


def main():
    passed = failed = 0
    for faults in ([], TOGETHER, LINKED, *([fault] for fault in ALONE)):
        with tempfile.TemporaryDirectory() as root:
            copy_to(root)
            for _, plant, _ in faults:
                plant(root)
            rc, out = check(root)
        missed = [name for name, _, expected in faults if (expected(out) if callable(expected) else expected not in out)]
        if rc != bool(faults):
            missed.append(f"rc {rc}")
        passed += max(0, max(1, len(faults)) - len(missed))
        failed += len(missed)
        if missed:
            print(f"FAIL {missed}\n{out}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    assert read_table(TOP)[0]
    sys.exit(main())
