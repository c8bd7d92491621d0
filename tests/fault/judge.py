# SPDX-License-Identifier: Apache-2.0
"""judge.py - rows of the API against the truth."""
import statistics

EXCESS_MS = 25  # a request that lost less may be none that is abnormal
SUM_MS = 0.01  # what rounding to the microsecond may leave


def shares_of(row):
    return {s["code"]: s["ms"] for s in row.get("shares") or []}


def name_right(wanted, found):
    """A file is known by the last parts of its path, a process by name or by name and number."""
    if not found:
        return False
    found = str(found)
    return any(w and (w in found or (len(found) > 4 and w.endswith(found))) for w in wanted)


class Verdict:
    """One abnormal request that was injected."""

    def __init__(self, truth, row, cause, names, usual_ms):
        self.id, self.path, self.truth_ms = row["id"], truth.path, truth.ms
        self.code = row["reason"]["code"]
        self.want = truth.codes
        self.right = self.code in truth.codes
        # Something else took more of it than the fault did, by the kernel's own account, or by the client's
        # clock: then the fault is not the reason, and nobody knows what would be right.
        excess = truth.client_ms - usual_ms
        self.aside = not cause.fails and (truth.noise_ms > truth.ms * 0.5 or truth.ms < excess * 0.5)
        shares = shares_of(row)
        self.summed = abs(sum(shares.values()) - row["totalTime"]) <= SUM_MS if shares else None
        total = max(row["totalTime"], 0.001)
        self.unattributed = 100 * shares.get("unattributed", 0) / total if shares else None
        held = sum(shares.get(p, 0) for p in truth.parts)
        self.injected = 100 * held / truth.ms if shares and truth.ms > 1 and truth.parts else None
        self.named = None
        if names is not None:
            params = row["reason"].get("params") or {}
            self.found = params.get(cause.name_key)
            self.named = name_right(names, self.found)
        self.has_evidence = bool(row.get("evidence"))
        self.row = row


def quantile(values, q):
    values = sorted(v for v in values if v is not None)
    return values[min(len(values) - 1, int(q * len(values)))] if values else None


def share_of(values):
    values = [v for v in values if v is not None]
    return 100 * sum(values) / len(values) if values else None


def summary(verdicts):
    """The figures of one cell."""
    kept = [v for v in verdicts if not v.aside]
    codes = {}
    for v in kept:
        codes[v.code] = codes.get(v.code, 0) + 1
    return {
        "n": len(kept), "aside": len(verdicts) - len(kept), "right": share_of([v.right for v in kept]), "codes": codes,
        "injected": quantile([v.injected for v in kept], 0.5), "unattributed": quantile([v.unattributed for v in kept], 0.5),
        "unattributed99": quantile([v.unattributed for v in kept], 0.99), "named": share_of([v.named for v in kept]),
        "summed": share_of([v.summed for v in kept]), "evidence": share_of([v.has_evidence for v in kept]),
        "truth": quantile([v.truth_ms for v in kept], 0.5), "total": quantile([v.row["totalTime"] for v in kept], 0.5),
    }


def median(values):
    return statistics.median(values) if values else None
