# SPDX-License-Identifier: Apache-2.0
"""control.py - what is not a cell: servers without a fault, and losses counted one by one.

  control.py none BUILD DIR WEB    requests while nothing is injected, with the machine as it is: a reason that is named is wrong
                                   if the kernel's own counters explain less than a fifth of the excess by it
  control.py losses BUILD DIR WEB  uploads through nginx to an upstream over a network that loses segments, every request a row:
                                   losses by kind beside the counters of that namespace"""
import datetime
import json
import os
import sys
import time

import bench
import servers

EXPLAINS = 0.2
KINDS = (("syn", "TCPSynRetrans"), ("fast", "TCPFastRetrans"), ("slow-start", "TCPSlowStartRetrans"), ("tlp", "TCPLossProbes"))


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def explained_ms(code, row, sent, record, up):
    """What the kernel's counters, or a log, say of that cause in this request; None: none is known for it."""
    account = {"cpu.wait": "runq", "cpu.own": "cpu", "io.block": "blkio", "mem.reclaim": "reclaim"}.get(code)
    if account:  # of the processes there were when it was sent, or, of one that was made for it, by its own account
        return max(sent[account], record.get(account) or 0) / 1e3
    if code == "net.loss":
        return row["totalTime"] if sent["retrans"] else 0
    if code == "up.slow":  # the upstream's own time, or the wire's: what its log cannot say, nginx's can
        return max(up.get("wall", 0) / 1e3, float(record.get("upSeconds") or 0) * 1e3)
    if code in ("queue.app", "queue.accept", "loop.busy"):
        read = record.get("read", 0)
        return max(sent["runq"] / 1e3, (read - sent["sent"]) / 1e6 if read else 0)
    return 0 if code != "unknown" else None


def with_waits(logs):
    """runq of each request: what its thread waited for a CPU since it ended the one before, so also before it was read."""
    ever = {}
    for record in logs.values():
        if "runqEver" in record:
            record["runq"] = record["runqEver"] - ever.get(record["tid"], 0)
            ever[record["tid"]] = record["runqEver"]
    return logs


def without_fault(rig, kind, n):
    cell = bench.Cell(rig, kind, "none")
    since = now()
    cell.upstream, cell.server = servers.Server("upstream", rig), servers.Server(kind, rig)
    try:
        rig.hosts.cgroups.share("server", cell.server.pids())
        rig.client(cell.plan(bench.WARM, 60, cell.cause.plain, "warm"), 1)
        sent = {s["path"]: s for s in rig.client(cell.plan(n, cell.cause.rate, cell.cause.plain, "fault"), 1)}
        logs, ups = with_waits(cell.server.lines()), cell.upstream.lines()
    finally:
        cell.server.stop()
        cell.upstream.stop()
    time.sleep(1.5)
    named = wrong = rows = 0
    for row in rig.rows(cell.prefix, since):
        s = sent.get(row["path"])
        if not s or "cpu" not in s:
            continue
        rows += 1
        code = row["reason"]["code"]
        ms = explained_ms(code, row, s, logs.get(row["path"], {}), ups.get(row["path"], {}))
        if ms is None:
            continue
        named += 1
        excess = max(row["totalTime"] - (row["normalTime"] or 0), 0.001)
        if ms < EXPLAINS * excess:
            wrong += 1
            print("  wrong: %s %s %s, counters: %.1f ms of %.1f: %s" % (row["path"], code, row["reason"]["params"], ms, excess, json.dumps(s)))
    print("%-9s no fault: %d requests, %d abnormal, %d with a cause, %d wrong" % (kind, n, rows, named, wrong), flush=True)
    return {"n": n, "rows": rows, "named": named, "wrong": wrong}


def losses(rig, n):
    cell = bench.Cell(rig, "nginx", "losses")
    since = now()
    cell.upstream, cell.server = servers.Server("upstream", rig), servers.Server("nginx", rig)
    try:
        rig.client(cell.plan(20, 60, cell.cause.plain, "warm"), 4)
        with cell.cause.fault(rig, cell.server) as fault:
            rig.client(cell.plan(n, cell.cause.rate, cell.cause.faulty, "fault"), cell.cause.clients)
    finally:
        cell.server.stop()
        cell.upstream.stop()
    time.sleep(2)
    rows = rig.rows(cell.prefix, since)
    reported = {}
    for row in rows:
        for x in row.get("losses") or []:
            reported[x["side"], x["kind"]] = reported.get((x["side"], x["kind"]), 0) + x["count"]
    syn = fault.counted["TCPSynRetrans"]
    counted = {kind: fault.counted[name] for kind, name in KINDS}
    counted["rto"] = fault.counted["TCPTimeouts"] - syn
    dropped = sum(e["what"] == "dropped" for e in fault.events)
    lost = {k: reported.get(("upstream", k), 0) for k in ("syn", "fast", "slow-start", "rto", "tlp")}
    print("losses: %d requests, %d rows, %d segments dropped" % (n, len(rows), dropped))
    for kind in lost:
        print("  %-10s reported %5d  counted %5d" % (kind, lost[kind], counted[kind]))
    print("  %-10s reported %5d  counted %5d  (on the client's side reported: %d)" % (
        "all", sum(lost.values()), fault.counted["RetransSegs"], sum(v for (side, _), v in reported.items() if side == "client")), flush=True)
    return {"n": n, "rows": len(rows), "dropped": dropped, "reported": lost, "counted": counted, "all": fault.counted["RetransSegs"]}


def main():
    what, build, dir, web = sys.argv[1:5]
    os.makedirs(build + "/fault/out", exist_ok=True)
    rig = bench.Rig(build, dir, web)
    servers.make_files(dir)
    n = int(os.environ.get("N", "600"))
    result = losses(rig, n) if what == "losses" else {k: without_fault(rig, k, n) for k in servers.KINDS}
    with open("%s/fault/out/%s.control" % (build, what), "w") as f:
        json.dump(result, f)


main()
