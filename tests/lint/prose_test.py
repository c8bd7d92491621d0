#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prose_test.py - plants one fault at a time in a copy of the files that sleeps.py, prose.py and strings.py read; they must find each."""
import os
import shutil
import subprocess
import sys
import tempfile

import prose
import sleeps
import strings
from docs_test import commit_all, git

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
FIXED = "a fixed pause: wait for a condition"


def sh(body):
    return lambda root: write(root, "tests/it/probe/planted.sh", body)


def py(body):
    return lambda root: write(root, "tests/it/probe/planted.py", body)


def write(root, name, text):
    with open(os.path.join(root, name), "w", encoding="utf-8") as f:
        f.write(text)


def fewer(folder):
    return lambda root: shutil.rmtree(os.path.join(root, folder))


def say(name, text, n):
    return lambda root: write(root, name, text * n)


# Name, checker, what is planted, what is said of it; None: it is no fault.
CASES = [
    ("the tree as it is", "sleeps.py", lambda root: None, None),
    ("a pause in a script", "sleeps.py", sh("start\nsleep 1\nok x\n"), f"planted.sh:2: {FIXED}"),
    ("a pause before a check on one line", "sleeps.py", sh("ok x eval 'sleep 7; [ 1 = 1 ]'\n"), f"planted.sh:1: {FIXED}"),
    ("a pause of a variable length", "sleeps.py", sh('sleep "$away"\n'), f"planted.sh:1: {FIXED}"),
    ("a pause in a loop that counts", "sleeps.py", sh("for i in 1 2 3; do\n\tsend\n\tsleep 1\ndone\n"), f"planted.sh:3: {FIXED}"),
    ("a pause in Python", "sleeps.py", py("import time\n\n\ndef f():\n    time.sleep(2)\n"), f"planted.py:5: {FIXED}"),
    ("a mark that says nothing", "sleeps.py", sh("sleep 1 # time:\n"), f"planted.sh:1: {FIXED}"),
    ("a loop that ends on a condition", "sleeps.py", sh("until ready; do\n\tsleep 0.1\ndone\nfor i in 1 2; do\n\tready && break\n\tsleep 1\ndone\n"), None),
    ("more marks than are allowed", "sleeps.py", sh("sleep 1 # time: it is so\n"), f"{sleeps.MOST + 1} fixed pauses, {sleeps.MOST} are allowed"),
    ("fewer tests than there were", "sleeps.py", fewer("tests/it/source"), "files were read"),
    ("the tree as it is", "prose.py", lambda root: None, None),
    ("a word that says too little", "prose.py", say("lib/base/planted.c", "/* who is told */\n", prose.MOST + 1), "lines say tell, tells, told or telling"),
    ("another form of it", "prose.py", say("docs/planted.md", "Telling it.\n", prose.MOST + 1), "lines say tell, tells, told or telling"),
    ("a longer word", "prose.py", say("docs/planted.md", "foretells retold\n", prose.MOST + 1), None),
    ("fewer sources than there were", "prose.py", fewer("collector"), "files were read"),
    ("the tree as it is", "strings.py", lambda root: None, None),
    ("a new message", "strings.py", say("lib/base/planted.c", 'log_warn(0, "this is not good");\n', 1), "strings.txt is stale"),
    ("a new text of the console", "strings.py", say("web/src/text/messages_planted.js", "export default { 'x': 'this is not good' };\n", 1), "strings.txt is stale"),
    ("a comment and SQL", "strings.py", say("collector/store/planted.c", '/* not a text */ "select node_id from node";\n', 1), None),
    ("a room without texts", "strings.py", fewer("probe"), "texts were read"),
]


def copy_to(root):
    command = ["git", "-C", TOP, "ls-files", "--cached", "--others", "--exclude-standard", *sleeps.FOLDERS, *prose.READ, "schema/def", strings.LIST]
    for name in sorted(set(subprocess.check_output(command, text=True).split("\n")) - {""}):
        if os.path.isfile(os.path.join(TOP, name)):
            os.makedirs(os.path.join(root, os.path.dirname(name)), exist_ok=True)
            shutil.copy(os.path.join(TOP, name), os.path.join(root, name))
    commit_all(root)


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as root:
        copy_to(root)
        for name, checker, plant, expected in CASES:
            plant(root)
            command = [sys.executable, os.path.join(HERE, checker), *(["--check"] if checker == "strings.py" else []), root]
            done = subprocess.run(command, capture_output=True, text=True)
            if (done.returncode == 0) if expected is None else (done.returncode == 1 and expected in done.stdout + done.stderr):
                passed += 1
            else:
                failed += 1
                print(f"not as expected: {checker}: {name}: rc {done.returncode}\n{done.stdout[-500:]}{done.stderr[-500:]}")
            git(root, "reset", "-q", "--hard")
            git(root, "clean", "-fdq")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
