#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""distributed.py FILE... - what Citus refuses, or does wrong, of the SQL in these files (.sql whole, of .c its strings).

A fleet that outgrows one machine goes to Citus, with tables spread by node_id; the same text must run there. Every rule
has an example that breaks it and one that does not: with no FILE only those are tried. Prints FILE: RULE: what it found.
"""
import re
import sys

# Small tables that every worker has whole, or that stay where the collector writes; whatever else has a node_id is spread.
NOT_SPREAD = {
    "node_key": "one row for each key that knocked",
}

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
SQL = re.compile(r"^\s*(select|insert|update|delete|with|create|alter|copy|truncate|drop)\s|\b(from|where|join|conflict|lateral)\s", re.I)


def plain(text):
    """Without comments and the insides of quoted strings."""
    text = re.sub(r"--[^\n]*", " ", text)
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"'(?:[^']|'')*'", "''", text)


def of_c(text):
    """The strings of a C file that look like a query or a piece of one; those that stand one after another are one."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^#.*$", " ", text, flags=re.M)
    found = []
    for run in re.findall(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', text):
        query = "".join(LITERAL.findall(run)).replace("\\n", "\n").replace('\\"', '"')
        if SQL.search(query):
            found.append(query)
    return found


def inside(text, start):
    """What stands between the bracket at start and its end, without what stands in brackets of its own."""
    depth, out = 0, []
    for c in text[start:]:
        depth += (c == "(") - (c == ")")
        if depth == 0:
            break
        if depth == 1 and c not in "()":
            out.append(c)
    return "".join(out)


def statements(text):
    return [s for s in re.split(r";", text) if s.strip()]


def spread_tables(texts):
    """Names of tables that have a node_id, also those made like one."""
    spread, like = set(), []
    for text in texts:
        for m in re.finditer(r"create\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)\s*\(", text, re.I):
            body = inside(text, m.end() - 1)
            if re.search(r"\bnode_id\s+bigint", body, re.I):
                spread.add(m[1].lower())
            like += [(m[1].lower(), t.lower()) for t in re.findall(r"\blike\s+(\w+)", body, re.I)]
    spread.update(name for name, of in like if of in spread)
    return spread - NOT_SPREAD.keys()


def trigger(s, spread):
    return re.search(r"create\s+(or\s+replace\s+)?(constraint\s+)?(trigger|rule)\b", s, re.I)


def locking(s, spread):
    m = re.search(r"\bfor\s+(no\s+key\s+)?(update|share|key\s+share)\b", s, re.I)
    named = set(re.findall(r"\b(?:from|join)\s+(\w+)", s.lower()))
    return m and named & spread and not re.search(r"\bnode_id\s*=\s*[$\d(]", s, re.I) and m


def lateral(s, spread):
    for m in re.finditer(r"\blateral\s*\(", s, re.I):
        body = inside(s, m.end() - 1)
        if re.search(r"\blimit\b", body, re.I) and re.search(r"\bfrom\s+\w", body, re.I):
            return re.search(r"\blimit\b[^)]*", body, re.I)
    return None


def unique(s, spread):
    """Every unique key of a spread table has node_id in it."""
    for m in re.finditer(r"create\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)\s*\(", s, re.I):
        if m[1].lower() not in spread:
            continue
        for line in s[m.end():].split("\n"):
            key = re.search(r"\b(primary\s+key|unique)\b(?:\s*\(([^)]*)\))?", line, re.I)
            if key and "node_id" not in (key[2] or line.split()[0]).lower():
                return key
    m = re.search(r"create\s+unique\s+index\s+(?:\w+\s+)?on\s+(\w+)\s*\((.*)\)", s, re.I | re.S)
    return m if m and m[1].lower() in spread and "node_id" not in m[2].lower() else None


def conflict(s, spread):
    m = re.search(r"insert\s+into\s+(\w+)\b.*?\bon\s+conflict\s*\(([^)]*)\)", s, re.I | re.S)
    return m if m and m[1].lower() in spread and "node_id" not in m[2].lower() else None


def sequence(s, spread):
    return re.search(r"\b(small|big)?serial\b|\bgenerated\s+\w+(\s+\w+)?\s+as\s+identity\b|\bnextval\s*\(|create\s+sequence\b", s, re.I)


def foreign(s, spread):
    return re.search(r"\b(foreign\s+key|references\s+\w+)\b", s, re.I)


def moved(s, spread):
    m = re.search(r"\bupdate\s+(?:only\s+)?(\w+)\b.*?\bset\b(.*?)(\bwhere\b|\bfrom\b|$)", s, re.I | re.S)
    return re.search(r"\bnode_id\s*=[^=]", m[2]) if m and m[1].lower() in spread else None


def default(s, spread):
    return re.search(r"partition\s+of\s+\w+\s+default\b", s, re.I)


TABLE = "create table fact (ts timestamptz, node_id bigint not null, n int);"
RULES = [  # what it says, who finds it, what breaks it, what does not
    ("no trigger and no rule: they would run on no worker, or on all", trigger,
     "create trigger t after insert on fact execute function f()", "create function rule() returns int language sql as ''"),
    ("rows of many nodes cannot be locked", locking,
     "select n from fact where ts > now() for update", "select n from fact where node_id = $1 for update"),
    ("LATERAL with LIMIT: use DISTINCT ON or row_number()", lateral,
     "select * from node n, lateral (select n from fact f where f.node_id = n.node_id order by ts desc limit 1) l",
     "select * from fact f, lateral (select f.ts + interval '1 s' as t) l limit 5"),
    ("a unique key of what is spread has node_id in it", unique,
     "create unique index i on fact (ts, n)", "create unique index i on fact (node_id, ts)"),
    ("a unique key of what is spread has node_id in it", unique,
     "create table fact (\n\tnode_id bigint not null,\n\tn int primary key\n)", "create table fact (\n\tnode_id bigint primary key\n)"),
    ("ON CONFLICT names node_id", conflict,
     "insert into fact values (1) on conflict (n) do nothing", "insert into fact values (1) on conflict (node_id, n) do nothing"),
    ("ids are hashes, not sequences: those of two regions would be the same", sequence,
     "create table t (id bigserial)", "create table t (id bigint)"),
    ("no foreign key: what it points to is on another machine", foreign,
     "create table t (node_id bigint references node)", "create table t (node_id bigint)"),
    ("node_id says where a row is: it cannot be changed", moved,
     "update fact set node_id = 2 where n = 1", "update fact set n = 2 where node_id = 1"),
    ("no default partition: rows in it stop the next one from being made", default,
     "create table f_default partition of fact default", "create table f_1 partition of fact for values from (1) to (2)"),
]


def broken(text, spread):
    for s in statements(plain(text)):
        for says, finds, _, _ in RULES:
            m = finds(s, spread)
            if m:
                yield says, " ".join(m[0].split())


def examples():
    for says, finds, bad, good in RULES:
        spread = spread_tables([plain(TABLE)])
        if says not in [b[0] for b in broken(bad, spread)]:
            yield f"the rule finds nothing in: {bad}"
        yield from (f"found in what is right ({b[0]}): {good}" for b in broken(good, spread))


def main(files):
    texts = {}
    for f in files:
        text = open(f, encoding="utf-8").read()
        texts[f] = of_c(text) if f.endswith(".c") else [text]
    spread = spread_tables([plain(t) for f in files for t in texts[f]])
    wrong = list(examples())
    if files and not spread:
        wrong.append("no table with a node_id: are these the right files?")
    for f in files:
        wrong += [f"{f}: {says}: {what}" for t in texts[f] for says, what in dict.fromkeys(broken(t, spread))]
    if files and not any(f.endswith(".sql") for f in files):
        wrong.append("no .sql file was read: are these the right files?")
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"distributed.py: {len(files)} files read, {sum(f.endswith('.sql') for f in files)} of them .sql, {len(spread)} tables are spread by node_id")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1:]))
