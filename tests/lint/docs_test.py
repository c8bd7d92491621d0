#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs_test.py - plants faults in a copy of the documentation; docs.py must find each. Faults that do not hide each
other are planted together, as one reading takes a second."""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
COPIED = (".md", ".def", ".py", ".txt", ".js", "Makefile", "help.sh", "verdict.c")


def append(name, text):
    def act(root):
        with open(os.path.join(root, name), "a", encoding="utf-8") as f:
            f.write(text)
    return act


def write(name, text):
    def act(root):
        with open(os.path.join(root, name), "w", encoding="utf-8") as f:
            f.write(text)
    return act


FAULTS = [
    ("a link to a page that is not there", append("docs/tags.md", "\n[x](gone.md)\n"), "links to gone.md, which is not there"),
    ("a link to a heading that is not there", append("docs/tags.md", "\n[x](limits.md#gone)\n"), "links to limits.md#gone, a heading that is not there"),
    ("a path that is not there", append("docs/tags.md", "\n`probe/gone/gone.c`\n"), "`probe/gone/gone.c` is not there"),
    ("a file name that is not there", append("docs/tags.md", "\n`gone_for_good.c`\n"), "`gone_for_good.c` is not there"),
    ("one of two files that is not there", append("docs/tags.md", "\n`probe/core/config.[cx]`\n"), "`probe/core/config.x` is not there"),
    ("a make target that is not there", append("docs/tags.md", "\n```sh\nmake gone\n```\n"), "make has no target gone"),
    ("one between backticks", append("docs/tags.md", "\n`make lost`\n"), "make has no target lost"),
    ("a make variable that is not there", append("docs/tags.md", "\n```sh\nmake run GONE=1\n```\n"), "make has no variable GONE"),
    ("a program option that is not there", append("docs/tags.md", "\n```sh\nseismo-probe --gone 1\n```\n"), "seismo-probe has no option --gone"),
    ("a program verb that is not there", append("docs/tags.md", "\n```sh\nseismo-collector node gone web-1\n```\n"), "seismo-collector has no command node gone"),
    ("a script that is not there", append("docs/tags.md", "\n```sh\ntests/it/gone.sh\n```\n"), "there is no script tests/it/gone.sh"),
    ("a unit that is not there", append("docs/tags.md", "\n```sh\nsystemctl start seismo-gone\n```\n"), "there is no unit seismo-gone"),
    ("a command that nobody has", append("docs/tags.md", "\n```sh\nfrobnicate\n```\n"), "frobnicate is no command"),
    ("a key that is not there", append("docs/tags.md", "\n`gone_key = 5`\n"), "no program has the key gone_key"),
    ("a page that no link leads to", write("docs/lonely.md", "# Lonely\n"), "docs/lonely.md: no link leads here"),
    ("a README that is too long", append("README.md", "\n" * 120), "120 are allowed"),
    ("a stale page of diagnoses", append("docs/diagnoses.md", "x\n"), "docs/diagnoses.md is stale"),
]
ALONE = [
    ("a rule of no reason", append("docs/gen/reason_rules.txt", "gone.code: never\n"), "has a rule for gone.code, which is no reason"),
    ("a page that is missing", lambda root: os.remove(os.path.join(root, "docs/regions.md")), "docs/regions.md is missing"),
    ("fewer pages than there were", lambda root: shutil.rmtree(os.path.join(root, "docs/reference")), "were read, there are at least"),
]


def check(root):
    env = dict(os.environ, B=os.path.abspath(os.path.join(TOP, os.environ.get("B", "build"))))
    done = subprocess.run([sys.executable, os.path.join(HERE, "docs.py"), root], capture_output=True, text=True, env=env)
    return done.returncode, done.stdout + done.stderr


def copy_to(root):
    """The text that docs.py reads, and each other file of the tree by its name alone."""
    command = ["git", "-C", TOP, "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.check_output(command, text=True).splitlines():
        source, target = os.path.join(TOP, name), os.path.join(root, name)
        if "/corpus/" in name or not os.path.isfile(source):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if name.endswith(COPIED):
            shutil.copy(source, target)
        else:
            open(target, "w", encoding="utf-8").close()
    commit_all(root)


def git(root, *words):
    subprocess.check_call(["git", "-C", root, *words])


def commit_all(root):
    """Makes a repository of the directory."""
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x")


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as root:
        copy_to(root)
        for faults in ([], FAULTS, *([fault] for fault in ALONE)):
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
            git(root, "reset", "-q", "--hard")
            git(root, "clean", "-fdq")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
