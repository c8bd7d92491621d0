#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rooms.py [ROOT [OBJECTS]] - checks the C sources against tests/lint/rooms.def: a room is a folder, an arrow an #include
or, where OBJECTS holds the objects of a build, a symbol that one object takes from another.

Fails on a folder that the table does not name, an arrow that it does not allow, an arrow that it allows and nothing uses, a
circle of rooms or of modules, an include that is not a path from the root, a folder of more than 25 files, two files of one
name in a program, two structs of one tag in a program, and when it read fewer files or arrows than the table says there
are."""
import collections
import fnmatch
import glob
import os
import re
import subprocess
import sys

from web_rooms import MOST_FILES, find_circle

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TABLE = "tests/lint/rooms.def"
SOURCES = ("bpf", "lib", "probe", "collector", "replay", "schema")
FOLDERS = SOURCES + ("deploy", "docs", "tests", "web/src")
NO_LIMIT = ("tests/data", "tests/fuzz/corpus")  # inputs, no sources
C_FILE = re.compile(r"\.(c|h|def)$")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
STRUCT = re.compile(r"^(?:static )?(?:const )?struct (\w+) \{", re.M)
# A program is made of these; the kernel's side of a struct is the same struct.
PROGRAMS = {"seismo-probe": ("lib", "probe", "bpf"), "seismo-collector": ("lib", "collector")}


def read_table(root):
    """[(pattern of rooms, patterns of rooms it may use)], {what: how many there are at least}"""
    rules, least = [], {}
    for line in open(os.path.join(root, TABLE), encoding="utf-8"):
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, _, rest = (part.strip() for part in line.partition(":"))
        if name.startswith("at least "):
            least[name[len("at least "):]] = int(rest)
        else:
            rules.append((name, [] if rest == "-" else rest.split()))
    return rules, least


def list_files(root):
    command = ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", *FOLDERS]
    names = sorted(set(subprocess.check_output(command, text=True).split("\n")) - {""})
    return [n for n in names if os.path.exists(os.path.join(root, n))]


def read_includes(root, names, files):
    """[(file, the file it includes)], complaints"""
    found, bad = [], []
    for name in names:
        for target in INCLUDE.findall(open(os.path.join(root, name), encoding="utf-8").read()):
            if target.endswith(".skel.h"):
                target = target[:-len(".skel.h")] + ".bpf.c"
            if target in files:
                found.append((name, target))
            else:
                bad.append(f"{name}: includes \"{target}\", which is no file from the root")
    return found, bad


def read_symbols(objects, files):
    """[(source, the source it takes a symbol from, the symbol)]; a program's own symbol stands before that of lib."""
    where, wanted = collections.defaultdict(list), []
    paths = [p for top in SOURCES for p in sorted(glob.glob(f"{objects}/{top}/**/*.o", recursive=True))
             if os.path.relpath(p, objects)[:-1] + "c" in files or os.path.exists(p[:-1] + "S")]
    if not paths:
        return []
    for line in subprocess.check_output(["nm", "-A", "-g", *paths], text=True).splitlines():
        path, _, rest = line.partition(":")
        source = os.path.relpath(path, objects)[:-1] + "c"
        *_, kind, symbol = rest.split()
        if kind == "U":
            wanted.append((source, symbol))
        elif kind not in "wv":
            where[symbol].append(source)
    found = []
    for source, symbol in wanted:
        for top in (source.split("/")[0], "lib", "probe"):
            near = [d for d in where[symbol] if d.startswith(top + "/")]
            if near:
                found.append((source, near[0], symbol))
                break
    return found


class Rules:
    def __init__(self, rules):
        self.rules, self.used = rules, set()

    def names(self, room):
        return any(fnmatch.fnmatchcase(room, pattern) for pattern, _ in self.rules)

    def allows(self, room, other):
        allowed = False
        for pattern, targets in self.rules:
            if fnmatch.fnmatchcase(room, pattern):
                for target in targets:
                    if fnmatch.fnmatchcase(other, target):
                        self.used.add((pattern, target))
                        allowed = True
        return allowed

    def unused(self):
        return [f"{TABLE}: {pattern} uses nothing of {target}" for pattern, targets in self.rules for target in targets if (pattern, target) not in self.used]


def check_arrows(arrows, rules):
    bad, rooms = [], collections.defaultdict(set)
    for source, target, how in arrows:
        room, other = os.path.dirname(source), os.path.dirname(target)
        if room == other:
            continue
        rooms[room].add(other)
        if not rules.allows(room, other):
            bad.append(f"{source}: {room} may not use {other} ({how})")
    circle = find_circle(rooms)
    if circle:
        bad.append("a circle of rooms: " + " -> ".join(circle))
    return bad


def check_modules(symbols):
    """A module is a .c file and its header; two that need each other cannot be read alone."""
    arrows = collections.defaultdict(set)
    for source, target, _ in symbols:
        if source != target:
            arrows[source].add(target)
    circle = find_circle(arrows)
    return ["a circle of modules: " + " -> ".join(circle)] if circle else []


def check_names(root, names, files):
    bad = []
    for folder, n in sorted(collections.Counter(os.path.dirname(f) for f in files if not f.startswith(NO_LIMIT)).items()):
        if n > MOST_FILES:
            bad.append(f"{folder}: {n} files, {MOST_FILES} are allowed")
    for program, tops in PROGRAMS.items():
        by_name, by_tag = collections.defaultdict(list), collections.defaultdict(list)
        for name in names:
            if name.split("/")[0] in tops and not name.startswith("bpf/examples/"):
                by_name[os.path.basename(name)].append(name)
                if not name.startswith("bpf/") or name.endswith(".h"):
                    for tag in set(STRUCT.findall(open(os.path.join(root, name), encoding="utf-8").read())):
                        by_tag[tag].append(name)
        bad += [f"{program}: {len(p)} files are called {n}: {' '.join(p)}" for n, p in sorted(by_name.items()) if len(p) > 1]
        bad += [f"{program}: {len(p)} structs are called {t}: {' '.join(p)}" for t, p in sorted(by_tag.items()) if len(p) > 1]
    return bad


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else TOP
    objects = sys.argv[2] if len(sys.argv) > 2 else None
    table, least = read_table(root)
    rules, listed = Rules(table), list_files(root)
    files = set(listed)
    names = [n for n in listed if n.startswith(tuple(top + "/" for top in SOURCES)) and C_FILE.search(n)]
    includes, bad = read_includes(root, names, files)
    symbols = read_symbols(objects, files) if objects else []
    bad += [f"{room}: {TABLE} has no such room" for room in sorted({os.path.dirname(n) for n in names}) if not rules.names(room)]
    bad += check_arrows([(s, t, "#include") for s, t in includes] + symbols, rules)
    bad += check_modules(symbols)
    bad += check_names(root, names, listed)
    if objects:
        bad += rules.unused()
    read = {"files": len(names), "includes": len(includes), "symbols": len(symbols)}
    for what, n in least.items():
        if read[what] < n and (objects or what != "symbols"):
            bad.append(f"only {read[what]} {what} were read, {TABLE} says at least {n}")
    print("rooms.py read " + ", ".join(f"{n} {what}" for what, n in read.items()))
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
