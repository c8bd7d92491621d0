#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs.py [ROOT] - checks every *.md of the tree against the tree. B: where the programs are built (ROOT/build).

Links: each relative link and anchor resolves, and README.md leads to every page of docs/.
Paths: each path between backticks exists. Figures in RESULTS.md are records of their day and may name what is gone.
Commands: each command of a ```sh block, or between backticks, uses a make target, a program option or verb, or a script
that exists; each `key = value` is a key of the configuration.
Sizes: README.md has at most 120 lines. Generated pages are up to date.
Prints how much it read, and fails if that is less than there is."""
import itertools
import os
import re
import shlex
import subprocess
import sys

README_LINES = 120
AT_LEAST = {"pages": 28, "links": 76, "paths": 320, "commands": 105, "keys": 10}
PROGRAMS = ("seismo-probe", "seismo-collector", "seismo-replay")
GENERATORS = ("docs/gen/diagnoses.py", "docs/gen/rooms.py")
PAGES = """getting-started console diagnoses install operating configuration security regions tags troubleshooting limits overhead
architecture writing-a-source custom-programs testing reference/api reference/wire reference/chunk""".split()
SYSTEM = set("""createdb createuser dropdb pg_basebackup pg_dump pg_dumpall pg_restore pg_verifybackup psql cp curl clang install journalctl nft runuser systemctl useradd node npm sudo xz git""".split())
# Words that stand for a name, and what a build or an installation makes.
PLACEHOLDER = re.compile(r"(?<![A-Za-z])(X|NNN|NAME|ID|PID|FILE|PATH|DIR|ROOM)(?![A-Za-z])|…|\.\.\.")
MADE = ("build/", "build-", "var/", "web/node_modules/")
SUFFIXES = (".c", ".h", ".def", ".sql", ".jsx", ".js", ".mjs", ".py", ".sh", ".md", ".conf", ".mk", ".list", ".service", ".nft", ".css")


class Tree:
    """The tracked files of a checkout, and those about to be."""

    def __init__(self, root):
        self.root = root
        command = ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"]
        names = set(subprocess.check_output(command, text=True).split("\n")) - {""}
        self.files = {n for n in names if os.path.exists(os.path.join(root, n))}
        self.folders = {"/".join(n.split("/")[:i]) for n in self.files for i in range(1, n.count("/") + 1)}
        self.basenames = {n.rsplit("/", 1)[-1] for n in self.files}
        self.tops = {n.split("/")[0] for n in self.files}

    def read(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as f:
            return f.read()

    def has(self, name):
        return name.rstrip("/") in self.files or name.rstrip("/") in self.folders

    def pages(self):
        return sorted(n for n in self.files if n.endswith(".md") and "/corpus/" not in n)


class Page:
    """A markdown file: its text without code, its code spans, its sh blocks, each with the line."""

    def __init__(self, name, text):
        self.name = name
        self.prose, self.spans, self.shell, self.headings = [], [], [], []
        fence = None
        for number, line in enumerate(text.split("\n"), 1):
            mark = re.match(r"\s*```(.*)", line)
            if mark:
                fence = None if fence is not None else mark.group(1).strip()
                continue
            if fence is not None:
                if fence == "sh":
                    self.shell.append((number, line))
                continue
            self.spans += [(number, s) for s in re.findall(r"`([^`]+)`", line)]
            if line.startswith("#"):
                self.headings.append(line.lstrip("#").strip())
            self.prose.append((number, re.sub(r"`[^`]*`", "", line)))

    def anchors(self):
        """As GitHub makes them."""
        seen = {}
        for heading in self.headings:
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            count = seen.get(slug, 0)
            seen[slug] = count + 1
            yield slug if count == 0 else f"{slug}-{count}"


class Programs:
    """What the programs and the Makefile know."""

    def __init__(self, tree):
        self.makefile = tree.read("Makefile")
        self.targets = set(re.findall(r"^([a-z][a-z-]*(?: [a-z][a-z-]*)*):(?!=)", self.makefile, re.M))
        self.targets = set(itertools.chain.from_iterable(t.split() for t in self.targets))
        self.variables = set(re.findall(r"\b([A-Z]+)\b", self.makefile + tree.read("deploy/dev/help.sh")))
        build = os.environ.get("B", "build")
        self.help = {p: self.read_help(tree.root, build, p) for p in PROGRAMS}
        self.options = {p: set(re.findall(r"(?<![\w-])(--[a-z0-9][a-z0-9-]*)", text)) for p, text in self.help.items()}
        self.keys = {o[2:].replace("-", "_") for options in self.options.values() for o in options}

    @staticmethod
    def read_help(root, build, program):
        path = os.path.join(root, build, program)
        if not os.path.exists(path):
            subprocess.check_call(["make", "-s", "-C", root, f"{build}/{program}"], stdout=subprocess.DEVNULL)
        return subprocess.check_output([path, "--help"], text=True)

    def is_verb(self, program, words):
        """node list is a line of the help that begins so; doctor is one, too."""
        pattern = r"^\s+" + r"\s+".join(re.escape(w) for w in words) + r"(\s|$)"
        return re.search(pattern, self.help[program], re.M) is not None

    def is_key(self, key):
        return any(k == key or k.endswith("_" + key) for k in self.keys)


class Check:
    def __init__(self, root):
        self.tree = Tree(root)
        self.pages = {n: Page(n, self.tree.read(n)) for n in self.tree.pages()}
        self.programs = Programs(self.tree)
        self.counts = dict.fromkeys(AT_LEAST, 0)
        self.counts["pages"] = len(self.pages)
        self.faults = []
        self.reached = set()

    def fault(self, page, line, text):
        self.faults.append(f"{page.name}:{line}: {text}")

    def check_link(self, page, line, target):
        if re.match(r"[a-z]+:", target):
            return
        self.counts["links"] += 1
        path, _, anchor = target.partition("#")
        name = os.path.normpath(os.path.join(os.path.dirname(page.name), path)) if path else page.name
        if not self.tree.has(name):
            return self.fault(page, line, f"links to {target}, which is not there")
        self.reached.add((page.name, name))
        if anchor and (name not in self.pages or anchor not in set(self.pages[name].anchors())):
            self.fault(page, line, f"links to {target}, a heading that is not there")

    def expand(self, path):
        """a/{b,c}.[ch] as the paths that it stands for."""
        braces = re.search(r"\{([^{}]*)\}|\[([a-z]{2})\]", path)
        if not braces:
            return [path]
        choices = braces.group(1).split(",") if braces.group(1) is not None else list(braces.group(2))
        return [p for c in choices for p in self.expand(path[:braces.start()] + c + path[braces.end():])]

    def check_path(self, page, line, span):
        if re.search(r"[\s<>()=:]", span):
            return
        span = re.sub(r"^\./", "", span).split("#")[0]
        rooted = "/" in span and span.split("/")[0] in self.tree.tops
        file = span.endswith(SUFFIXES) and re.match(r"[\w{}\[\]*][\w.{}\[\],*/-]+$", span)
        if not (rooted or file) or span.startswith(("/",) + MADE) or PLACEHOLDER.search(span):
            return
        for path in self.expand(span):
            self.counts["paths"] += 1
            beside = os.path.normpath(os.path.join(os.path.dirname(page.name), path))
            if "*" in path:
                pattern = re.compile("(^|/)" + re.escape(path).replace(r"\*", "[^/]*") + "$")
                found = any(pattern.search(f) for f in self.tree.files)
            else:
                found = self.tree.has(path) or self.tree.has(beside) or "/" not in path and path in self.tree.basenames
                found = found or any(f.endswith("/" + path) for f in self.tree.files) and not rooted
            if not found and path not in self.known_names():
                self.fault(page, line, f"`{path}` is not there")

    @staticmethod
    def known_names():
        """Files of an installation, of the user or of a host, not of this tree."""
        return {"pg_hba.conf", "pg_ident.conf", "nsswitch.conf", "mine.bpf.c", "vmlinux.h", "nginx.conf"}

    def check_make(self, page, line, words):
        for word in words:
            name, equals, _ = word.partition("=")
            if equals:
                if name not in self.programs.variables:
                    self.fault(page, line, f"make has no variable {name}")
            elif not word.startswith("-") and word not in self.programs.targets:
                self.fault(page, line, f"make has no target {word}")

    def check_program(self, page, line, program, words):
        verbs = list(itertools.takewhile(lambda w: re.match(r"[a-z]+$", w), words))
        for word in words:
            option = word.split("=")[0]
            if option.startswith("--") and option != "--help" and option not in self.programs.options[program]:
                self.fault(page, line, f"{program} has no option {option}")
        if not verbs or program == "seismo-replay":
            return
        known = any(self.programs.is_verb(program, verbs[:n]) for n in (2, 1) if n <= len(verbs))
        if len(verbs) >= 2 and verbs[0] in ("node", "incident", "key"):
            known = self.programs.is_verb(program, verbs[:2])
        if not known:
            self.fault(page, line, f"{program} has no command {' '.join(verbs[:2])}")

    def check_command(self, page, line, text):
        try:
            words = shlex.split(text, comments=True)
        except ValueError:
            return self.fault(page, line, f"no shell reads: {text}")
        while words and re.match(r"[A-Za-z_]+=", words[0]):
            words.pop(0)
        if words and words[0] == "sudo":
            words.pop(0)
        if not words:
            return
        self.counts["commands"] += 1
        name = words[0].rsplit("/", 1)[-1]
        if name == "make":
            self.check_make(page, line, words[1:])
        elif name in PROGRAMS:
            self.check_program(page, line, name, words[1:])
        elif name == "systemctl":
            for unit in (w for w in words if w.startswith("seismo-")):
                if f"{unit}.service" not in self.tree.basenames:
                    self.fault(page, line, f"there is no unit {unit}")
        elif "/" in words[0]:
            if not self.tree.has(words[0]) and not words[0].startswith(MADE):
                self.fault(page, line, f"there is no script {words[0]}")
        elif name not in SYSTEM:
            self.fault(page, line, f"{name} is no command that a reader has")

    def check_shell(self, page):
        line, text = 0, ""
        for number, piece in page.shell:
            line = line if text else number
            text += piece
            if text.endswith("\\"):
                text = text[:-1]
                continue
            text = re.sub(r"<\(.*?\)", "FILE", text)
            for command in re.split(r"\s(?:&&|;|\|)\s", text):
                self.check_command(page, line, command)
            text = ""

    def check_span(self, page, line, span):
        key = re.match(r"([a-z][a-z0-9_]*) = \S", span)
        if key:
            self.counts["keys"] += 1
            if not self.programs.is_key(key.group(1)):
                self.fault(page, line, f"no program has the key {key.group(1)}")
        elif re.match(r"(make|%s)\s" % "|".join(PROGRAMS), span):
            self.check_command(page, line, span.replace("NAME", "name") if span.startswith("make") else span)
        else:
            self.check_path(page, line, span)

    def check_page(self, page):
        for line, text in page.prose:
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                self.check_link(page, line, target)
        if not page.name.endswith("RESULTS.md"):
            for line, span in page.spans:
                self.check_span(page, line, span)
        self.check_shell(page)

    def check_reach(self):
        """README.md leads to every page of docs/."""
        seen, left = set(), ["README.md"]
        while left:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                left += [to for come, to in self.reached if come == name]
        for name in self.pages:
            if name.startswith("docs/") and name not in seen and not name.startswith("docs/man/"):
                self.faults.append(f"{name}: no link leads here from README.md")
        for page in PAGES:
            if f"docs/{page}.md" not in self.pages:
                self.faults.append(f"docs/{page}.md is missing")

    def check_sizes(self):
        lines = self.tree.read("README.md").count("\n")
        if lines > README_LINES:
            self.faults.append(f"README.md: {lines} lines, {README_LINES} are allowed")

    def check_generated(self):
        for script in GENERATORS:
            if self.tree.has(script):
                done = subprocess.run([sys.executable, os.path.join(self.tree.root, script), "--check"], capture_output=True, text=True)
                if done.returncode:
                    self.faults.append((done.stderr + done.stdout).strip())

    def run(self):
        for page in self.pages.values():
            self.check_page(page)
        self.check_reach()
        self.check_sizes()
        self.check_generated()
        for what, least in AT_LEAST.items():
            if self.counts[what] < least:
                self.faults.append(f"only {self.counts[what]} {what} were read, there are at least {least}")
        print("docs: " + ", ".join(f"{n} {what}" for what, n in self.counts.items()) + f" read, {len(self.faults)} faults")
        for fault in self.faults:
            print(fault)
        return 1 if self.faults else 0


if __name__ == "__main__":
    sys.exit(Check(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", ".."))).run())
