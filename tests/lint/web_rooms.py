#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""web_rooms.py [ROOT] - checks the imports of web/src against tests/lint/web_rooms.def.

Fails on a room or an arrow that the table does not name, an arrow that the table names and no file uses, a circle of
files or of rooms, a folder of more than 25 files, two modules of one name, an import of a file that is not there,
and when it read fewer imports than the table says there are."""
import collections
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SOURCE = "web/src/"
MOST_FILES = 25
MODULE = re.compile(r"\.jsx?$")
IMPORT = {
    "js": re.compile(r"""^\s*(?:import|export)\b[^'";]*['"](\.[^'"]+)['"]|\bimport\(\s*['"](\.[^'"]+)['"]""", re.M),
    "css": re.compile(r"""^\s*@import\s+["'](\.[^"']+)["']""", re.M),
}


def read_table(path):
    """{room: the rooms it may import}, and how many imports there are at least."""
    rooms, least = {}, 0
    for line in open(path, encoding="utf-8"):
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, _, rest = (part.strip() for part in line.partition(":"))
        if name == "at least":
            least = int(rest.split()[0])
        else:
            rooms[name] = set() if rest == "-" else set(rest.split())
    return rooms, least


def list_files(root):
    command = ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", SOURCE]
    names = sorted(set(subprocess.check_output(command, text=True).split("\n")) - {""})
    return [n for n in names if os.path.exists(os.path.join(root, n))]


def room_of(name):
    return os.path.dirname(name[len(SOURCE):]) or "."


def read_imports(root, names):
    """[(file, the file it imports)]"""
    found = []
    for name in names:
        kind = "js" if MODULE.search(name) else "css" if name.endswith(".css") else None
        if not kind:
            continue
        text = open(os.path.join(root, name), encoding="utf-8").read()
        for match in IMPORT[kind].finditer(text):
            target = next(group for group in match.groups() if group)
            found.append((name, os.path.normpath(os.path.join(os.path.dirname(name), target))))
    return found


def find_circle(arrows):
    """One circle of the graph {node: set of nodes} as a list, or None."""
    done, path = set(), []

    def walk(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return None
        path.append(node)
        for other in sorted(arrows.get(node, ())):
            circle = walk(other)
            if circle:
                return circle
        path.pop()
        done.add(node)
        return None

    for start in sorted(arrows):
        circle = walk(start)
        if circle:
            return circle
    return None


def check_places(names, rooms):
    yield from (f"{n}: room {room_of(n)} is not in the table" for n in names if room_of(n) not in rooms)
    for room, count in collections.Counter(map(room_of, names)).items():
        if count > MOST_FILES:
            yield f"{SOURCE}{room}: {count} files, {MOST_FILES} are allowed"
    yield from (f"room {room} is in the table and has no file" for room in rooms if room not in set(map(room_of, names)))
    stems = collections.defaultdict(list)
    for n in names:
        stem = os.path.basename(n)
        stems[MODULE.sub("", stem) if MODULE.search(n) else stem].append(n)
    yield from (f"one name twice: {' '.join(same)}" for same in stems.values() if len(same) > 1)


def check_arrows(names, imports, rooms):
    files, used = collections.defaultdict(set), collections.defaultdict(set)
    for name, target in imports:
        if target not in names:
            yield f"{name}: imports {target}, which is not there"
            continue
        files[name].add(target)
        a, b = room_of(name), room_of(target)
        if a == b:
            continue
        used[a].add(b)
        if b not in rooms.get(a, ()):
            yield f"{name}: imports {target}; the table has no arrow {a} -> {b}"
    for room, allowed in rooms.items():
        yield from (f"no file needs the arrow {room} -> {b}" for b in sorted(allowed - used[room]))
    for what, graph in (("files", files), ("rooms", used), ("rooms in the table", rooms)):
        circle = find_circle(graph)
        if circle:
            yield f"circle of {what}: {' -> '.join(circle)}"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else TOP
    rooms, least = read_table(os.path.join(root, "tests/lint/web_rooms.def"))
    names = list_files(root)
    imports = read_imports(root, names)
    faults = [*check_places(names, rooms), *check_arrows(set(names), imports, rooms)]
    if len(imports) < least:
        faults.append(f"{len(imports)} imports read, there are at least {least}")
    print(f"web_rooms: {len(names)} files, {len(rooms)} rooms, {len(imports)} imports read")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
