#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""foreign_test.py - plants opens of foreign files in a copy of probe/: foreign.py must find each."""
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import foreign

PLANTED = {
    "a file that has none": ("probe/request/explain/explain.c", '\nint f(void) { return open("/proc/1/maps", 0); }\n'),
    "one more where some are": ("probe/procfs/pressure.c", '\nFILE *f(char *p) { return fopen(p, "re"); }\n'),
    "a new file": ("probe/procfs/fresh.c", '\nint f(int d) { return (int)syscall(1), openat(d, "x", 0); }\n'),
    "a list": ("probe/symbol/user/usym.c", '\nDIR *f(char *p) { return opendir (p); }\n'),
    "a link": ("probe/main.c", '\nssize_t f(char *p) { return readlink(p, p, 1); }\n'),
}
HARMLESS = '\n/* open(path) */ const char *s = "open(x)"; int g(struct s *x) { return x->open(x) + source_open(x); }\n'


def copy(to):
    for name in foreign.sources("."):
        if pathlib.Path(name).is_file():
            pathlib.Path(to, name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, pathlib.Path(to, name))
    pathlib.Path(to, "tests/lint").mkdir(parents=True)
    shutil.copy("tests/lint/foreign.def", pathlib.Path(to, "tests/lint"))


def append(root, name, text):
    with open(pathlib.Path(root, name), "a") as f:
        f.write(text)


def main():
    failed = []
    with tempfile.TemporaryDirectory() as root:
        copy(root)
        append(root, "probe/main.c", HARMLESS)
        failed += foreign.check(root)
        for what, (name, text) in PLANTED.items():
            path = pathlib.Path(root, name)
            before = path.read_text() if path.exists() else None
            append(root, name, text)
            if not any(name in e for e in foreign.check(root)):
                failed.append(f"not found: {what}")
            path.unlink() if before is None else path.write_text(before)
        append(root, "tests/lint/foreign.def", "probe/gone.c: 1 nothing\n")
        if not any("gone.c" in e for e in foreign.check(root)):
            failed.append("not found: a file that is not there")
    print("\n".join(failed) if failed else f"{len(PLANTED) + 1} planted faults are found")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
