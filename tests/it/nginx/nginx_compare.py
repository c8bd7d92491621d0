#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# nginx_compare.py LOG PORT PREFIX path|order [GATE] <rows - rows of the store beside nginx's own log, field by field.
# LOG has lines port|remote|method|uri|status|request_time|upstream_addr|upstream_status|upstream_response_time. A row's
# line is that of its path, or of its place on its connection. GATE: an upstream that a subrequest calls first, which
# the log does not have. A time is equal if it lies within the log's millisecond. Prints "name value" lines.
import json, sys
from collections import Counter, defaultdict

log, port, prefix, key = sys.argv[1:5]
gate = sys.argv[5] if len(sys.argv) > 5 else None
fields = "port remote method path status seconds addrs statuses times".split()
lines = [dict(zip(fields, l.rstrip("\n").split("|"))) for l in open(log)]
lines = [l for l in lines if l["port"] == port and l["path"].startswith(prefix)]
rows = sorted((json.loads(r) for r in sys.stdin), key=lambda r: r["at"])


def keyed(items):
    if key == "path":
        return {(i["path"],): i for i in items}
    places, out = defaultdict(int), {}
    for i in items:
        places[i["remote"]] += 1
        out[(i["remote"], places[i["remote"]])] = i
    return out


def split(text):  # " : " parts tries of a redirect, ", " those of one upstream
    return [] if text in ("", "-") else text.replace(" : ", ", ").split(", ")


def off(us, seconds):  # by how much it is not in that millisecond
    return max(0, abs(us - round(float(seconds) * 1e6)) - 999)


n, worst, seen = Counter(), 0, keyed(rows)
offs = []
for k, l in keyed(lines).items():
    r = seen.get(k)
    if not r:
        n["missing"] += 1
        continue
    n["matched"] += 1
    if (r["remote"], r["method"], r["path"], str(r["status"])) != (l["remote"], l["method"], l["path"], l["status"]):
        n["unequal"] += 1
    ups = r["upstreams"] or []
    if gate:
        n["gated"] += ups[:1] != [] and ups[0]["addr"] == gate
        ups = ups[1:]
    n["tries"] += len(ups)
    n["retried"] += len(ups) > 1
    n["unknown"] += (r["flags"] & 8) != 0
    n["addr_unequal"] += [u["addr"] for u in ups] != split(l["addrs"])
    n["status_unequal"] += [str(u.get("status") or "-") for u in ups] != split(l["statuses"])
    times = split(l["times"])
    n["time_unequal"] += len(ups) != len(times) or any(t != "-" and off(u["responseUs"], t) for u, t in zip(ups, times))
    n["outside"] += any(u["startUs"] + u["responseUs"] > r["us"] + 2000 for u in ups)
    offs.append(abs(r["us"] - round(float(l["seconds"]) * 1e6)))
    n["request_exact"] += r["us"] == round(float(l["seconds"]) * 1e6)
print("lines", len(lines))
print("rows", len(rows))
for name in "matched missing unequal tries retried gated unknown addr_unequal status_unequal time_unequal outside request_exact".split():
    print(name, n[name])
print("request_p99_us", sorted(offs)[len(offs) * 99 // 100] if offs else -1)
