# SPDX-License-Identifier: Apache-2.0
"""judge.py - what the consoles of the fleet bench say of a fault: the global one and that of its region."""
import datetime
import json
import time
import urllib.request


class Blind(Exception):
    """Something could not be looked at: the run counts as failed."""


class Console:
    def __init__(self, web):
        self.web = web

    def get(self, path):
        try:
            with urllib.request.urlopen("http://127.0.0.1:%s/api/v1/%s" % (self.web, path), timeout=30) as r:
                return json.load(r)
        except (OSError, ValueError) as e:
            raise Blind("%s: %s" % (path, e))

    def nodes(self):
        return {n["name"] for n in self.get("nodes")["nodes"]}

    def incidents(self):
        """Of the last day, but the merged: id -> INCIDENT."""
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 86400))
        return {i["id"]: i for i in self.get("incidents?limit=1000&from=" + since)["incidents"]}

    def whole(self, incident):
        """With all that it rests on."""
        return self.get("incidents/" + incident["id"])


def first(incident):
    """Its first candidate, with what it is made of; None: there is none."""
    ranking = "errors" if incident["code"].startswith("failed") else "time"
    for c in incident["candidates"]:
        if c["ranking"] == ranking and c["place"] == 1:
            return c
    return None


class Watch:
    """The incidents of one console that were not there when it began."""

    def __init__(self, console):
        self.console = console
        self.before, self.seen_at, self.new = set(console.incidents()), {}, {}

    def look(self):
        self.new = {k: i for k, i in self.console.incidents().items() if k not in self.before}
        for k in self.new:
            self.seen_at.setdefault(k, time.time())

    def over(self):
        return all(i["state"] != "open" for i in self.new.values())


def run(faults, watches, hold, quiet, log):
    """watches: by region, and "global". Faults of as many regions, that begin and end together; what came of each, when all
    is quiet again. The log has all of it."""
    began = time.time()
    begun = []
    try:
        for f in faults:
            begun.append(f)
            f.begin()
        keep_looking(watches, began + hold, lambda: False)
    finally:
        for f in begun:
            f.end()
    ended = time.time()
    keep_looking(watches, ended + 15, lambda: False)  # what comes late is a second one
    keep_looking(watches, ended + quiet + 90, lambda: all(w.over() for w in watches.values()))
    names = " ".join("%s-%s" % (f.region, type(f).__name__) for f in faults)
    for name, w in watches.items():
        for i in w.new.values():
            log.write(json.dumps({"at": name, "faults": names, "began": began, "incident": w.console.whole(i)}) + "\n")
    log.flush()
    return [verdict(f, {g.region for g in faults} - {f.region}, watches, began, quiet) for f in faults]


def keep_looking(watches, until, enough):
    while time.time() < until and not enough():
        for w in watches.values():
            w.look()
        time.sleep(1)


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def not_of(regions, incidents):
    """Without those that are of one of these regions alone: of nowhere, and of two, they count for each."""
    return {k: i for k, i in incidents.items() if len({n[:2] for n in i["nodes"]}) != 1 or i["nodes"][0][:2] not in regions}


def verdict(fault, elsewhere, watches, began, quiet):
    """elsewhere: the regions of the other faults of that time."""
    whole, new = watches["global"], not_of(elsewhere, watches["global"].new)
    of_region = watches.get(fault.region)
    v = {"region": fault.region, "incidents": len(new), "same": None, "opened": None, "closed": False, "right": False,
         "named": None, "text": " | ".join(i["text"]["en"] for i in new.values()) or "no incident"}
    if of_region:
        v["same"] = len(of_region.new) == 1 and set(new) == set(of_region.new)
        v["regional"] = len(of_region.new)
    if len(new) != 1:
        return v
    (k, i), = new.items()
    v["opened"] = whole.seen_at[k] - began
    v["closed"] = i["state"] == "closed" and abs(seconds(i["closed"]) - seconds(i["last"]) - quiet) < 1
    v["right"] = fault.right(i, first(whole.console.whole(i)))
    v["named"] = fault.named(i)
    return v
