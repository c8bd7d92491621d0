#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rooms.py [--check] - draws the rooms of the sources into docs/architecture.md, from tests/lint/*rooms.def and rooms.txt.

A room stands above the rooms that it may include. --check writes nothing and fails if the page is stale. A folder with
sources that rooms.txt does not name is an error, and so is a name without a folder."""
import fnmatch
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE, WORDS = "docs/architecture.md", "docs/gen/rooms.txt"
TABLES = {"": "tests/lint/rooms.def", "web/src/": "tests/lint/web_rooms.def"}
PARTS = ("lib", "bpf", "probe", "collector", "replay", "schema", "web/src")
BEGIN, END = "<!-- rooms: begin -->", "<!-- rooms: end -->"
SOURCE = re.compile(r"\.(c|h|sql|def|js|jsx|css)$")
WIDTH = 96


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return f.read()


def read_pairs(text):
    """FOLDER: text, a line each; # begins a comment."""
    pairs = {}
    for line in text.split("\n"):
        name, colon, rest = line.split("#")[0].partition(":")
        if colon and re.match(r"[\w/.*-]+$", name.strip()):
            pairs[name.strip()] = rest.strip()
    return pairs


def list_folders():
    command = ["git", "-C", TOP, "ls-files", "--cached", "--others", "--exclude-standard", *PARTS]
    names = subprocess.check_output(command, text=True).split("\n")
    return {os.path.dirname(n) for n in names if SOURCE.search(n) and os.path.exists(os.path.join(TOP, n))}


def read_arrows(folders):
    """{room: the rooms that it may include}, both by their folders."""
    arrows = {}
    for prefix, path in TABLES.items():
        if not os.path.exists(os.path.join(TOP, path)):
            continue
        for name, rest in read_pairs(read(path)).items():
            room = os.path.normpath(prefix + name)
            if room in folders:
                words = (resolve(word, room, prefix, folders) for word in rest.replace(",", " ").split())
                arrows[room] = {w for found in words for w in found if w != room}
    return arrows


def resolve(word, room, prefix, folders):
    """core in probe/kernel is probe/core; source/* is each folder below probe/source."""
    above = room.split("/")
    for start in [prefix.rstrip("/")] + ["/".join(above[:i]) for i in range(len(above), -1, -1)]:
        full = os.path.normpath(os.path.join(start, word))
        if "*" in full:
            found = set(fnmatch.filter(folders, full))
        else:
            found = {full} & folders
        if found:
            return found
    return set()


def find_levels(rooms, arrows):
    """How many rooms stand one upon the other below each."""
    level = {}

    def depth(room, path=()):
        if room in path:
            sys.exit("rooms: a circle: " + " -> ".join(path + (room,)))
        if room not in level:
            below = [depth(r, path + (room,)) for r in arrows.get(room, ()) if r in rooms]
            level[room] = 1 + max(below, default=0)
        return level[room]

    for room in rooms:
        depth(room)
    return level


def draw(part, rooms, arrows):
    """A line for each level, the top one first: a room may include rooms of the lines below it."""
    level = find_levels(rooms, arrows)
    lines = [f"{part}/"]
    for n in range(max(level.values()), 0, -1):
        names = sorted(r[len(part) + 1:] or "main" for r in rooms if level[r] == n)
        line = f"  {n}  "
        for name in names:
            if len(line) + len(name) > WIDTH:
                lines.append(line.rstrip())
                line = "     "
            line += name + "   "
        lines.append(line.rstrip())
    return lines


def make_section():
    folders, words = list_folders(), read_pairs(read(WORDS))
    wrong = [f"{f} has no line in {WORDS}" for f in sorted(folders) if f not in words]
    wrong += [f"{WORDS} names {f}, which has no sources" for f in words if f not in folders]
    if wrong:
        sys.exit("rooms: " + "\nrooms: ".join(wrong))
    arrows = read_arrows(folders)
    out = []
    drawn = [p for p in PARTS if sum(r == p or r.startswith(p + "/") for r in arrows) > 1]
    if drawn:
        out += ["A room may include rooms of the lines below it, as far as the table names them:", "", "```"]
        for part in drawn:
            out += draw(part, {f for f in arrows if f == part or f.startswith(part + "/")}, arrows) + [""]
        out[-1] = "```"
        out.append("")
    out += ["| room | holds |", "|---|---|"]
    out += [f"| `{f}/` | {words[f]} |" for f in words]
    return "\n".join(out), len(folders), sum(len(a) for a in arrows.values())


def main():
    section, rooms, arrows = make_section()
    page = read(PAGE)
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    if not after:
        sys.exit(f"rooms: {PAGE} has no {BEGIN} and {END}")
    new = f"{before}{BEGIN}\n{section}\n{END}{after}"
    if "--check" in sys.argv[1:]:
        if new != page:
            sys.exit(f"rooms: {PAGE} is stale: run docs/gen/rooms.py")
    else:
        with open(os.path.join(TOP, PAGE), "w", encoding="utf-8") as f:
            f.write(new)
    print(f"rooms: {rooms} rooms, {arrows} arrows in {PAGE}")


if __name__ == "__main__":
    main()
