#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prose.py [TOP] - `tell` and its forms say neither that something is sent, reported, logged or recorded, nor that it is known:
at most MOST lines of the sources and the documentation have one. schema/ is not read: a column that users hold is called so."""
import os
import re
import subprocess
import sys

MOST = 30
LEAST_FILES = 850
READ = ("bpf", "collector", "deploy", "docs", "lib", "probe", "replay", "web/src", "Makefile", "*.md")
WORD = re.compile(r"\b(tell|tells|told|telling)\b", re.I)


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    names = subprocess.check_output(["git", "-C", top, "ls-files", "--cached", "--others", "--exclude-standard", *READ], text=True)
    files, found = 0, []
    for name in sorted(set(names.split("\n")) - {""}):
        path = os.path.join(top, name)
        if name.startswith(("schema/", "tests/")) or not os.path.isfile(path):
            continue
        files += 1
        with open(path, encoding="utf-8", errors="replace") as f:
            found += [f"{name}:{n}: {line.strip()[:120]}" for n, line in enumerate(f, 1) if WORD.search(line)]
    wrong = [f"only {files} files were read, {LEAST_FILES} are expected"] if files < LEAST_FILES else []
    if len(found) > MOST:
        wrong += [*found, f"{len(found)} lines say tell, tells, told or telling, {MOST} are allowed: say report, send, log, record or know"]
    print(*wrong, f"{files} files, {len(found)} lines", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
