# SPDX-License-Identifier: Apache-2.0
"""bench.py BUILD DIR - the runs of the fleet bench, on collectors that run.sh started: WEB_global, WEB_eu, WEB_us, and
PORT_, KEY_, TOKEN_ of each; KIND, RUNS, AT_ONCE, QUIET, HOLD, HOURS as run.sh has them. Prints Markdown for RESULTS.md; fails where
the bench could not look, or the aims were missed."""
import os
import signal
import sys
import time

import faults
import fleethosts as fleet
import judge
import services
import traces

# 1,000 requests of a route, by windows that double, and its tail is known: an earlier fault would be learnt (probe/request/judge/baseline.h).
WARM_S, OPENED_S, RIGHT = 300, 30, 0.9


def say(what, text):
    print("  %-6s %s" % (what, text), file=sys.stderr, flush=True)


def collector_of(region):
    return region if "WEB_" + region in os.environ else "global"


class Bench:
    def __init__(self, build, where):
        self.quiet, self.hold = int(os.environ["QUIET"]), int(os.environ["HOLD"])
        self.services = services.Services(build, where, open(where + "/services.log", "w"))
        self.log = open(where + "/incidents.log", "w")
        self.consoles = {r: judge.Console(os.environ["WEB_" + r]) for r in ("global", "eu", "us")}

    def watches(self):
        return {r: judge.Watch(c) for r, c in self.consoles.items()}

    def start(self):
        s = self.services
        s.start()
        self.loads = s.clients(86400)
        time.sleep(3)  # what is slow only the first time is nobody's fault
        for h in fleet.ADDRESS:
            c = collector_of(h[:2])
            s.probe(h, os.environ["PORT_" + c], os.environ["KEY_" + c], os.environ["TOKEN_" + c])
        until = time.time() + 120
        while not set(fleet.ADDRESS) <= self.consoles["global"].nodes():
            self.is_well()
            if time.time() > until:
                raise judge.Blind("the global console does not know %s" % sorted(set(fleet.ADDRESS) - self.consoles["global"].nodes()))
            time.sleep(1)
        say("WARM", "ten hosts are seen; %d s to learn what is usual" % WARM_S)
        time.sleep(WARM_S)
        self.settle()

    def is_well(self):
        gone = self.services.well()
        if gone:
            raise judge.Blind("ended: " + ", ".join(gone))

    def settle(self):
        """Until nothing is open anywhere."""
        until = time.time() + 2 * self.quiet + 120
        while any(i["state"] == "open" for c in self.consoles.values() for i in c.incidents().values()):
            if time.time() > until:
                raise judge.Blind("an incident stays open: " + "; ".join(
                    i["text"]["en"] for i in self.consoles["global"].incidents().values() if i["state"] == "open"))
            time.sleep(2)

    def calm(self, hours):
        """Without any fault: the incidents that there are nevertheless."""
        w = self.watches()
        until = time.time() + hours * 3600
        while time.time() < until:
            judge.keep_looking(w, min(until, time.time() + 60), lambda: False)
            self.is_well()
            say("CALM", "%.2f h to go, %d incidents" % (max(0, until - time.time()) / 3600, len(w["global"].new)))
        return {r: [i["text"]["en"] for i in x.new.values()] for r, x in w.items()}

    def some(self, asked):
        """[(KIND, FAULT)], each of another region, at once."""
        self.is_well()
        self.settle()
        began = time.time()
        list_of = judge.run([f for _, f in asked], self.watches(), self.hold, self.quiet, self.log)
        for (kind, f), v in zip(asked, list_of):
            v["traces"] = traces.judge(self.consoles["global"], f.region, began, began + self.hold) if f.traced else None
            say(kind.upper(), "%s: %s" % (f.region, "; ".join("%s %s" % (k, "%.1f" % x if isinstance(x, float) else x) for k, x in v.items() if k != "region")))
        self.is_well()
        return list_of


def slots(asked, at_once):
    """[(KIND, FAULT)] in order, in lists of at most so many, of which each is of another region."""
    left = list(asked)
    while left:
        now, regions = [], set()
        for a in left:
            if len(now) < at_once and a[1].region not in regions:
                now.append(a)
                regions.add(a[1].region)
        left = [a for a in left if a not in now]
        yield now


def share(list_of, key):
    asked = [v[key] for v in list_of if v[key] is not None]
    return "%d of %d" % (sum(asked), len(asked)) if asked else ""


def row(kind, list_of):
    opened = [v["opened"] for v in list_of if v["opened"] is not None]
    return "| %s | %d | %d | %s | %s | %s | %s | %s |" % (
        kind, len(list_of), sum(v["incidents"] == 1 for v in list_of), share(list_of, "same"),
        "%.0f to %.0f" % (min(opened), max(opened)) if opened else "", share(list_of, "closed"), share(list_of, "right"), share(list_of, "named"))


def reached(list_of):
    n = len(list_of)
    return all(v["incidents"] == 1 and v["closed"] and v["opened"] <= OPENED_S and v["same"] is not False and v["named"] is not False for v in list_of) \
        and sum(v["right"] for v in list_of) >= RIGHT * n


def report(calm, hours, runs):
    if hours:
        print("Without a fault, %.2f h: %d incidents at the global console, %d and %d in the regions.\n" % (
            hours, len(calm["global"]), len(calm["eu"]), len(calm["us"])))
        for text in calm["global"]:
            print("- %s" % text)
    if runs:
        print("| fault | runs | exactly one incident | same id in its region | seen open after, s | closed after the quiet time | right first | named |")
        print("|---|---|---|---|---|---|---|---|")
    for kind, list_of in runs.items():
        print(row(kind, list_of))
    followed = [v["traces"] for r in runs.values() for v in r if v["traces"]]
    if followed:
        print("\nRequests followed over three hosts: %d whole and right, %d end before and say so, %d wrong." % tuple(
            sum(f[k] for f in followed) for k in ("whole", "cut", "wrong")))
    return not any(calm.values()) and not any(f["wrong"] for f in followed) and all(reached(r) for r in runs.values())


def main(build, where):
    hours = float(os.environ["HOURS"])
    runs, calm = {k: [] for k in os.environ["KIND"].split()}, {}
    bench = Bench(build, where)
    try:
        bench.start()
        calm = bench.calm(hours) if hours else {}
        asked = [(k, faults.KINDS[k](bench.services, n)) for n in range(int(os.environ["RUNS"])) for k in runs]
        for now in slots(asked, int(os.environ["AT_ONCE"])):
            for (kind, _), v in zip(now, bench.some(now)):
                runs[kind].append(v)
        sent = {r: p.poll() for r, p in bench.loads.items()}
        if any(rc is not None for rc in sent.values()):
            raise judge.Blind("clients ended early")
        return 0 if report(calm, hours, {k: r for k, r in runs.items() if r}) else 1
    except KeyboardInterrupt:
        report(calm, hours if calm else 0, {k: r for k, r in runs.items() if r})
        print("\nInterrupted: not all runs that were asked for.")
        return 130
    except (judge.Blind, OSError, KeyError) as e:
        print("Seismo: the fleet bench could not look: %s: %s" % (type(e).__name__, e), file=sys.stderr)
        return 1
    finally:
        bench.services.stop()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main(*sys.argv[1:]))
