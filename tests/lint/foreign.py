#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""foreign.py [ROOT] - files that other users own are opened by probe/foreign only.

A path below /proc/PID looks like any other in the source, so all calls that open or list are counted: each file of probe/
outside probe/foreign that has some is in the table of foreign.def with their number and the reason why nobody but root
owns what they open. A call more or less than the table says is an error."""
import pathlib
import re
import subprocess
import sys

CALL = re.compile(r"(?<![\w.>])(open|openat|openat2|fopen|freopen|opendir|scandir|nftw|readlink|readlinkat|stat|lstat|"
                  r"fstatat|statx|mkfifo|creat|open_by_handle_at)\s*\(")
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.S)


def calls(text):
    return len(CALL.findall(COMMENT.sub(" ", text)))


def table(path):
    allowed = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        found = re.fullmatch(r"(probe/\S+\.c): (\d+) (\S.*)", line)
        if not found:
            sys.exit(f"{path}:{number}: not \"FILE: CALLS REASON\"")
        allowed[found[1]] = int(found[2])
    return allowed


def sources(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "probe/*.c"],
                            capture_output=True, text=True).stdout.split()
    return listed or [str(p.relative_to(root)) for p in pathlib.Path(root).glob("probe/**/*.c")]


def check(root):
    allowed = table(pathlib.Path(root, "tests/lint/foreign.def"))
    errors, files = [], 0
    for name in sorted(sources(root)):
        path = pathlib.Path(root, name)
        if name.startswith("probe/foreign/") or not path.is_file():
            continue
        files += 1
        n = calls(path.read_text())
        if n != allowed.get(name, 0):
            errors.append(f"{name}: {n} calls that open files, {allowed.get(name, 0)} are in tests/lint/foreign.def: open "
                          "what another user may own by probe/foreign/foreign.h, and count the others there")
        allowed.pop(name, None)
    errors += [f"tests/lint/foreign.def: {name} is not there" for name in allowed]
    if files < 100:
        errors.append(f"only {files} files of probe/ were read")
    return errors


def main():
    errors = check(sys.argv[1] if len(sys.argv) > 1 else ".")
    print("\n".join(errors) if errors else "only probe/foreign opens files of others")
    sys.exit(bool(errors))


if __name__ == "__main__":
    main()
