#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sleeps.py [TOP] - a test waits for a condition, not for a clock. A pause between two looks at something (in a loop that
ends on it) is no fixed one. Any other says why no condition can stand for it: `time: WHY` in a comment on its line or
on the one before. MOST is how many there are; a new test that needs one more has to raise it in the open."""
import os
import re
import subprocess
import sys

MOST = 78
LEAST_FILES = 135
FOLDERS = ("tests/it", "tests/lib")
SLEEP = {
    ".sh": re.compile(r"""\bsleep\s+["']?[\d.$][^&;|)]*(?!.*\bsleep\b)|\btime\.sleep\(|<> <\(:\)"""),
    ".py": re.compile(r"\bsleep\((?!self)"),
    ".mjs": re.compile(r"\bawait sleep\(|\bsetTimeout\("),
}
COMMENT = {".sh": r"#", ".py": r"#", ".mjs": r"//"}
FOREVER = re.compile(r"^\s*while (True|true|:|\(true\)|1)\b")
LOOP = re.compile(r"^\s*(while|until|for|async for)\b")
ENDS = re.compile(r"\b(break|return|exit)\b")
ONE_LINE = re.compile(r"\b(while|until) .*\bdo\b.*\bsleep\b|\bfor .*\bdo\b.*\bbreak\b.*\bsleep\b|\bany\(.* for ")
NO_PAUSE = re.compile(r"\bsleep [\d.]+ &(?!&)|\b(def|const) sleep\b|/bin/sleep\b")


def indent(line):
    return len(line) - len(line.lstrip("\t "))


def body(lines, head):
    """The lines of the loop that begins there."""
    for n in range(head + 1, len(lines)):
        if lines[n].strip() and indent(lines[n]) <= indent(lines[head]):
            return lines[head + 1:n]
    return lines[head + 1:]


def is_poll(lines, at):
    """Whether the pause is one between two looks: the innermost loop around it ends on a condition."""
    if ONE_LINE.search(lines[at]):
        return True
    depth = indent(lines[at])
    for n in range(at - 1, -1, -1):
        if not lines[n].strip() or indent(lines[n]) >= depth:
            continue
        depth = indent(lines[n])
        if not LOOP.match(lines[n]):
            if depth == 0:
                return False
            continue
        if not lines[n].lstrip().startswith("for") and not FOREVER.match(lines[n]):
            return True
        return any(ENDS.search(line) for line in body(lines, n))
    return False


def pauses(path, text):
    """Each fixed pause: (line, whether it says why)."""
    suffix = os.path.splitext(path)[1]
    said = re.compile(COMMENT[suffix] + r" ?time: \S+ \S+")
    lines = text.splitlines()
    for at, line in enumerate(lines):
        code = line.lstrip()
        if code.startswith(("#", "//")) or not SLEEP[suffix].search(line) or NO_PAUSE.search(line):
            continue
        if not is_poll(lines, at):
            yield at + 1, bool(said.search(line) or at and said.search(lines[at - 1]))


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    names = subprocess.check_output(["git", "-C", top, "ls-files", "--cached", "--others", "--exclude-standard", *FOLDERS], text=True)
    files = fixed = 0
    wrong = []
    for name in sorted(set(names.split())):
        path = os.path.join(top, name)
        if os.path.splitext(name)[1] not in SLEEP or not os.path.isfile(path):
            continue
        files += 1
        with open(path, encoding="utf-8") as f:
            for line, says_why in pauses(path, f.read()):
                fixed += 1
                if not says_why:
                    wrong.append(f"{name}:{line}: a fixed pause: wait for a condition, or say `time: WHY` on this line or the one before")
    if files < LEAST_FILES:
        wrong.append(f"only {files} files were read, {LEAST_FILES} are expected")
    if fixed > MOST:
        wrong.append(f"{fixed} fixed pauses, {MOST} are allowed")
    print(*wrong, f"{files} files, {fixed} fixed pauses", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
