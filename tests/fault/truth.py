# SPDX-License-Identifier: Apache-2.0
"""truth.py - what was done to each request: by the log of the server, of the upstream, of the client,
of the network that loses segments, and of whoever stopped the server. Nothing here comes from the probe."""
import causes


def overlap_ms(a, b, c, d):
    return max(0, min(b, d) - max(a, c)) / 1e6


class Truth:
    """ms: injected, of the server's own time; codes: right reasons; parts: where the split has it."""

    def __init__(self, cause, sent):
        self.path, self.sent, self.end = sent["path"], sent.get("sent", 0), sent["end"]
        self.client_ms = (sent["end"] - sent.get("sent", sent["end"])) / 1e6
        self.codes, self.parts, self.ms = cause.codes, cause.parts, 0
        self.kinds, self.noise_ms, self.faulty, self.record = None, 0, sent["tag"] == "fault", {}


def by_server(t, r):
    """The handler's own account: how long it did it, and what it had to wait for a CPU meanwhile."""
    t.record = r
    t.ms = r["us"] / 1e3
    t.noise_ms = r["runq"] / 1e3


def of_window(t, s, window):
    t.ms = overlap_ms(s["pauseFrom"], s["pauseTo"], s["sent"], s["end"]) if window else (s["pauseTo"] - s["pauseFrom"]) / 1e6


def hit(s, windows):
    return any(overlap_ms(start, end, s.get("sent", 0), s["end"]) > 30 for start, end, _ in windows)


def of_stop(cause, t, s, windows):
    """It waits from its arrival on; what was read before the stop is stopped, what came later is queued."""
    for start, end, overflows in windows:
        ms = overlap_ms(start, end, s["sent"], s["end"])
        if ms <= t.ms:
            continue
        t.ms = ms
        if isinstance(cause, causes.AcceptQueue):
            t.codes = ("queue.accept",) if overflows else ("queue.app",)
        elif s["sent"] < start:
            t.codes, t.parts = ("stopped", "queue.app"), ("stopped", "queue")
        else:
            t.codes, t.parts = ("queue.app",), ("queue",)


def of_cpu(cause, t, s, record):
    """A processor it did not get, or did; where the server itself does not log, by its schedstat."""
    cpu, delay = record.get("cpu", s.get("cpu", 0)) / 1e3, record.get("runq", s.get("runq", 0)) / 1e3
    wall = record.get("wall", t.client_ms * 1e3) / 1e3
    if isinstance(cause, causes.CpuHog):
        t.ms, t.noise_ms = delay, 0
    elif isinstance(cause, causes.OwnBusy):
        t.ms, t.noise_ms = cpu, delay
    else:  # by the cgroup's counter, which may have begun before; some kernels count it as a delay as well
        t.ms = max(0, min(s.get("throttled", 0) / 1e3, wall - cpu))
        t.noise_ms = max(0, delay - t.ms)


def of_io(t, s, record):
    """What was neither computed nor waited for a CPU: the handler did nothing but this."""
    wall = record["wall"] / 1e3 if record else t.client_ms
    delay, cpu = record.get("runq", s.get("runq", 0)) / 1e3, record.get("cpu", s.get("cpu", 0)) / 1e3
    t.ms, t.noise_ms = max(0, wall - delay - cpu), delay


def of_memory(t, s, record):
    """What delay accounting says went into reclaim."""
    own = record if record.get("reclaim") else s
    t.ms, t.noise_ms = own.get("reclaim", 0) / 1e3, own.get("runq", 0) / 1e3


def of_loss(t, flow):
    if flow and flow["lost"]:
        t.ms, t.kinds = flow["ms"], flow["modes"]


def upstream_flows(fault):
    """Of each connection to the upstream, by the path that it begins with."""
    found = {}
    for flow in fault.flows("sport").values():
        word = flow["head"].split(" ")
        if len(word) > 1:
            path = word[1].partition("?")[0]
            found[path[3:] if path.startswith("/up/") else path] = flow
    return found


def find(cause, server, upstream, fault, sent):
    """path -> Truth, of all requests."""
    logs, ups, out = server.lines(), upstream.lines(), {}
    flows = {}
    if isinstance(cause, causes.ClientLoss):
        flows = fault.flows("dport")
    elif isinstance(cause, causes.UpstreamLoss):
        flows = upstream_flows(fault)
    for s in sent:
        t = out[s["path"]] = Truth(cause, s)
        record = logs.get(s["path"], {}) if server.kind != "nginx" else {}
        t.record = record
        if not t.faulty:
            continue
        if isinstance(cause, causes.ClientLoss):
            of_loss(t, flows.get(s.get("port")))
        elif isinstance(cause, causes.UpstreamLoss):
            of_loss(t, flows.get(s["path"]))
        elif isinstance(cause, (causes.ClosedWindow, causes.SlowClient)) and "pauseTo" in s:
            of_window(t, s, isinstance(cause, causes.ClosedWindow))
        elif isinstance(cause, (causes.AppStopped, causes.AcceptQueue)):
            of_stop(cause, t, s, fault.windows)
        elif isinstance(cause, (causes.CpuHog, causes.OwnBusy, causes.Quota)):
            of_cpu(cause, t, s, record)
        elif isinstance(cause, (causes.BusyFsync, causes.ColdRead)):
            of_io(t, s, record)
        elif isinstance(cause, causes.Reclaim) and record:
            of_memory(t, s, record)
        elif isinstance(cause, causes.SlowUpstream):
            by_server(t, ups.get(s["path"]) or ups.get("/up" + s["path"]) or {"us": 0, "runq": 0})
        elif record and not cause.fails:
            by_server(t, record)
    return out
