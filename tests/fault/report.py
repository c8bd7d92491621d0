# SPDX-License-Identifier: Apache-2.0
"""report.py - figures of cells as a line, and all that there are as tables."""
import json
import os
import sys

import causes
import servers


def figure(x, form="%.0f"):
    return "-" if x is None else form % x


def line(r):
    if "never" in r:
        return "n/a: " + r["never"]
    codes = " ".join("%s:%d" % c for c in sorted(r["codes"].items(), key=lambda c: -c[1]))
    return "n %3d right %3s %%  injected %3s %%  unattributed %s/%s %%  named %s %%  sums %s %%  (%s ms of %s; aside %d, missed %d, %s s) %s" % (
        r["n"], figure(r["right"]), figure(r["injected"]), figure(r["unattributed"], "%.1f"), figure(r["unattributed99"], "%.1f"),
        figure(r["named"]), figure(r["summed"]), figure(r["truth"]), figure(r["total"]), r["aside"], r["missed"], r["seconds"], codes)


def load(out):
    cells = {}
    for name in causes.CAUSES:
        for kind in servers.KINDS:
            path = "%s/%s-%s.json" % (out, kind, name)
            if os.path.exists(path):
                cells[name, kind] = json.load(open(path))
    return cells


def cell_text(r):
    if r is None:
        return "not run"
    if "never" in r:
        return "n/a"
    return "%s %% of %d" % (figure(r["right"]), r["n"])


def by_cell(cells):
    rows = ["| cause | " + " | ".join(servers.KINDS) + " |", "|---" * (len(servers.KINDS) + 1) + "|"]
    for name, cause in causes.CAUSES.items():
        rows.append("| %s | %s |" % (cause.__doc__, " | ".join(cell_text(cells.get((name, k))) for k in servers.KINDS)))
    return "\n".join(rows)


def confusion(cells):
    """What was injected, and the top reasons that were given for it."""
    counts, codes = {}, []
    for (name, _), r in cells.items():
        for code, n in r.get("codes", {}).items():
            counts[name, code] = counts.get((name, code), 0) + n
            if code not in codes:
                codes.append(code)
    rows = ["| injected \\ reported | " + " | ".join(codes) + " |", "|---" * (len(codes) + 1) + "|"]
    for name, cause in causes.CAUSES.items():
        rows.append("| %s | %s |" % (cause.__doc__, " | ".join(str(counts.get((name, c), "")) for c in codes)))
    return "\n".join(rows)


def totals(cells):
    real = [r for r in cells.values() if "never" not in r]
    n = sum(r["n"] for r in real)
    right = sum(r["n"] * (r["right"] or 0) / 100 for r in real)
    return "%d real cells, %d abnormal requests, top reason right %.1f %%; %d n/a" % (
        len(real), n, 100 * right / max(1, n), len(cells) - len(real))


def figures(cells):
    rows = ["| cell | n | right | injected part of its true length, median | unattributed, median / p99 | names right | sums | true length, median ms | aside | no row |",
            "|---|---|---|---|---|---|---|---|---|---|"]
    for (name, kind), r in cells.items():
        if "never" in r:
            rows.append("| %s/%s | n/a: %s |||||||||" % (kind, name, r["never"]))
            continue
        rows.append("| %s/%s | %d | %s %% | %s %% | %s / %s %% | %s %% | %s %% | %s | %d | %d |" % (
            kind, name, r["n"], figure(r["right"], "%.1f"), figure(r["injected"]), figure(r["unattributed"], "%.1f"),
            figure(r["unattributed99"], "%.1f"), figure(r["named"], "%.1f"), figure(r["summed"]), figure(r["truth"]), r["aside"], r["missed"]))
    return "\n".join(rows)


def matrix(out):
    cells = load(out)
    return "\n\n".join((by_cell(cells), confusion(cells), totals(cells)))


if __name__ == "__main__":
    cells = load(sys.argv[1])
    print("\n\n".join((by_cell(cells), confusion(cells), figures(cells), totals(cells))))
