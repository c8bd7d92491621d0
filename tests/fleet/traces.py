# SPDX-License-Identifier: Apache-2.0
"""traces.py - requests across hosts, as the global console follows them: the path has the id that each of a request's rows
must have, and the chain of hosts is known."""
import collections
import time

MOST = 200


def iso(t):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(t))


def judge(console, region, began, ended):
    """Abnormal requests of that time as their first host has them: {"whole", "cut", "wrong", "why"}. whole: each host of the
    chain, in order; cut: it ends before, and says so: why, how often; wrong: a row of another request, or a host that was not asked."""
    chain = ["%s-%s" % (region, role) for role in ("web", "shop", "stock")]
    found = {"whole": 0, "cut": 0, "wrong": 0, "why": collections.Counter()}
    rows = console.get("requests?node=%s&from=%s&to=%s&limit=%d" % (chain[0], iso(began), iso(ended + 1), MOST))["requests"]
    for row in rows:
        hops = console.get("requests/%s/trace" % row["id"])["hops"]
        known = [h for h in hops if h["id"]]
        if any(h["request"] != row["request"] for h in known) or [h["node"] for h in known] != chain[:len(known)]:
            found["wrong"] += 1
        elif len(known) == len(chain):
            found["whole"] += 1
        else:
            found["cut"] += 1
            found["why"]["%s: %s" % (hops[-1]["node"], hops[-1]["silence"] or hops[-1]["ends"])] += 1
    return found
