#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""web_rooms_test.py - plants faults in a copy of web/src; web_rooms.py must find each. Faults that do not hide each other are
planted together, as one reading takes half a second."""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
TABLE = "tests/lint/web_rooms.def"


def append(name, text):
    return lambda root: open_for(root, name, "a").write(text)


def open_for(root, name, mode):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return open(path, mode, encoding="utf-8", buffering=1)


def crowd(root):
    for i in range(26):
        open_for(root, f"web/src/chart/extra_{i}.js", "w").write("// nothing\n")


def replace(name, old, new):
    def act(root):
        text = open(os.path.join(root, name), encoding="utf-8").read()
        assert old in text, old
        open_for(root, name, "w").write(text.replace(old, new))
    return act


TOGETHER = [
    ("an arrow that the table does not name", append("web/src/base/store.js", "import '../data/filters.js';\n"), "no arrow base -> data"),
    ("a dynamic import against the table", append("web/src/text/format.js", "import('../ui/elements.jsx');\n"), "no arrow text -> ui"),
    ("a feature that imports another", append("web/src/features/node/panel.jsx", "import '../request/nearby.jsx';\n"), "no arrow features/node -> features/request"),
    ("a room that the table does not name", append("web/src/shared/misc.js", "// nothing\n"), "room shared is not in the table"),
    ("a module outside the rooms", append("web/src/misc.js", "import './base/store.js';\n"), "no arrow . -> base"),
    ("a folder of more than 25 files", crowd, "25 are allowed"),
    ("a module name that occurs twice", append("web/src/data/table_position.jsx", "// nothing\n"), "one name twice"),
    ("an import of a file that is not there", append("web/src/base/api.js", "import './gone.js';\n"), "which is not there"),
]
ALONE = [
    ("a circle of files in one room", append("web/src/base/store.js", "import './router.js';\n"), "circle of files"),
    ("a circle in the table", replace(TABLE, "base: -", "base: text"), "circle of rooms in the table"),
    ("an arrow that no file needs", replace(TABLE, "style: -", "style: base"), "no file needs the arrow style -> base"),
    ("a room without a file", append(TABLE, "spare: -\n"), "room spare is in the table and has no file"),
    ("fewer imports than there were", replace(TABLE, "at least: 500", "at least: 50000"), "there are at least 50000"),
]


def check(root):
    done = subprocess.run([sys.executable, os.path.join(HERE, "web_rooms.py"), root], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def copy_to(root):
    shutil.copytree(os.path.join(TOP, "web/src"), os.path.join(root, "web/src"))
    os.makedirs(os.path.join(root, "tests/lint"))
    shutil.copy(os.path.join(TOP, TABLE), os.path.join(root, TABLE))
    subprocess.check_call(["git", "init", "-q", root])


def main():
    passed = failed = 0
    for faults in ([], TOGETHER, *([fault] for fault in ALONE)):
        with tempfile.TemporaryDirectory() as root:
            copy_to(root)
            for _, plant, _ in faults:
                plant(root)
            status, text = check(root)
        missed = [name for name, _, expected in faults if expected not in text]
        if status != bool(faults):
            missed.append(f"rc {status}")
        passed += max(0, max(1, len(faults)) - len(missed))
        failed += len(missed)
        if missed:
            print(f"not found: {missed}\n{text}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
