#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""strings.py [--check] [TOP] - tests/lint/strings.txt is every text that a user can see, to be read in one go: help, log lines,
errors, answers of the API, events, reasons, the console. One a line, below its file, without line numbers. `make docs`
writes it; --check fails when it is stale.

Of C sources it has each literal with a word, a blank and another word that is no SQL; of the console the messages, in
English. Literals that stand side by side are one text; a macro between them is PRI."""
import os
import re
import subprocess
import sys

LIST = "tests/lint/strings.txt"
PATTERNS = "schema/def/kmsg.def"  # lines of the kernel, not ours
LEAST = 1950
C_FILES = ("lib", "probe", "collector", "replay", "schema/def")
WEB_FILES = ("web/src/text", "web/src/data", "web/src/pages", "web/src/features", "web/src/ui", "web/src/app")
TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"((?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)*'|([A-Za-z_]\w*)|(\S)""", re.S)
JS_TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`""", re.S)
WORDS = re.compile(r"[A-Za-z]{2,}[,.:;)\]]*\s+\S*[A-Za-z]{2}|[a-z]{2,}:? (%|\{)|(%\w+|\}) [a-z]{2,}")
SQL = re.compile(r"""^[\s()]*(select|insert|update|delete|with|create|alter|drop|copy|set|begin|commit|rollback|lock|analyze|vacuum|grant|revoke
	|notify|listen|declare|fetch|truncate|values|explain|do|reset|from|where|and|or|on|order|group|left|join|cross|lateral|union|having|limit
	|returning|using|in|as|not|case|when|then|else|end|exists|offset|partition|for|coalesce|any|between|nulls|filter|over|is)\b(?=[\s(])""", re.X)
SQL_INSIDE = re.compile(r"""\b(select\ .*\ from|from\ \w+(\.\w+)?\ (where|join|order|group|limit)|where\ \w+\ (=|in|and)|order\ by|group\ by|on\ conflict
	|is\ not\ null|timestamptz|interval\ '|date_bin|materialized|unnest\(|jsonb|case\ when|partition\ by|float8|\w+_id\b|time\ zone|like\ any
	|from\ unnest|partition\ of|set\ \w+\ =\ |extract\(|coalesce\(|where\ %s)|\$\d|::\w+|[sS]elect\ \w+\(|\w\.\w+_\w+|\ as\ (select|is_|c\b)|^,\ ?\w+[,)]|^,\ \(|^,\ \w+\(|^,line|^\(\(""", re.X)
SQL_LIST = re.compile(r"\w+, \w+, \w+, \w+[,.(]|^ts |^, \w+, ")
SYSTEM = ("out of memory", "eventfd: %s", "signalfd: %s")
CJK = re.compile(r"[\u3000-\u9fff\uff00-\uffef]")


def texts_of_c(source):
    """Literals, those side by side joined."""
    text, open_text = "", False
    for m in TOKEN.finditer(source):
        if m[1] is not None:
            text, open_text = text + m[1], True
        elif m[2] and open_text and m[2].startswith("PRI"):
            text += "PRI"
        elif m[0].startswith(("/*", "//")):
            continue
        elif open_text:
            yield text
            text, open_text = "", False
    if open_text:
        yield text


def texts_of_js(source):
    for m in JS_TOKEN.finditer(source):
        text = next((g for g in m.groups() if g is not None), None)
        if text is not None:
            yield text


def is_text(text, sql):
    if not WORDS.search(text) or CJK.search(text) or text in SYSTEM:
        return False
    return not (sql and (SQL.match(text) or SQL_INSIDE.search(text) or SQL_LIST.search(text) and " and " not in text))


def is_prose(text):
    """No class names, paths of an SVG, media queries or templates of markup."""
    return not re.match(r"[a-z0-9 _-]+$", text) and not re.search(r"^[MmLl]\d|=>|\$\{.*\$\{.*\$\{|^[.#@]|;$|^import |^\.\.?/", text)


def clean(text):
    text = re.sub(r"^(\\n|\\t|\s)+|(\\n|\\t|\s)+$", "", text)
    return re.sub(r"\\?\n\s*", " ", text)


def list_files(top):
    command = ["git", "-C", top, "ls-files", "--cached", "--others", "--exclude-standard", *C_FILES, *WEB_FILES]
    names = sorted(set(subprocess.check_output(command, text=True).split("\n")) - {""})
    return [n for n in names if n.endswith((".c", ".h", ".def", ".js", ".jsx")) and n != PATTERNS and os.path.isfile(os.path.join(top, n))]


def texts_of(top, name):
    with open(os.path.join(top, name), encoding="utf-8") as f:
        source = f.read()
    if name.startswith("web/"):
        found = [t for t in texts_of_js(source) if is_text(t, False) and ("/text/messages" in name or is_prose(t))]
    else:
        source = re.sub(r"^\s*#\s*include[^\n]*|_?[sS]tatic_assert\(.*?\);", "", source, flags=re.M | re.S)
        found = [t for t in texts_of_c(source) if is_text(t, name.startswith("collector/"))]
    return list(dict.fromkeys(clean(t) for t in found))


def make_list(top):
    out, count = [], 0
    for name in list_files(top):
        found = texts_of(top, name)
        if found:
            out += [f"## {name}", *found, ""]
            count += len(found)
    return "\n".join(out), count


def main():
    words = [w for w in sys.argv[1:] if w != "--check"]
    top = words[0] if words else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    text, count = make_list(top)
    path = os.path.join(top, LIST)
    if count < LEAST:
        sys.exit(f"strings.py: only {count} texts were read, there are at least {LEAST}")
    if "--check" in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            if f.read() != text:
                sys.exit(f"strings.py: {LIST} is stale: run make docs, and read the lines that it changed")
    else:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    print(f"strings.py: {count} texts in {LIST}")


if __name__ == "__main__":
    main()
