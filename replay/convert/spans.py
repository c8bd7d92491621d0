# SPDX-License-Identifier: Apache-2.0
"""Writes spans of a tracing system as the requests and calls that seismo-replay reads.

A server span is a request of its host. A client span is a call of its host, if the host that answered is known: by the
server span that is its child, or else by an attribute of the peer. The upstream time of a request is the time during which
at least one of its calls was open. Spans that cannot be used are counted by cause and reported.
"""
import argparse
import csv
import json
import sys
from collections import Counter
from dataclasses import dataclass, field

SERVER, CLIENT, OTHER = "server", "client", "other"
PEER = ("server.address", "net.peer.name", "peer.hostname", "peer.service", "db.name", "db.system", "net.peer.ip", "peer.ipv4")
STATUS = ("http.response.status_code", "http.status_code")
ROUTE = ("http.route", "rpc.method")
NAME_MAX = 120  # bytes; seismo-replay keeps 128
FIRST_NS, LAST_NS = 631152000 * 10**9, 4102444800 * 10**9  # 1990 to 2099, as seismo-replay takes them


@dataclass
class Span:
    trace: str
    id: str
    parent: str
    kind: str
    name: str
    host: str
    start_ns: int
    end_ns: int
    failed: bool = False
    attributes: dict = field(default_factory=dict)


def arguments(what):
    parser = argparse.ArgumentParser(description=f"Converts {what} to the files of seismo-replay.")
    parser.add_argument("file", nargs="+", help="recording; - is standard input")
    parser.add_argument("--requests", required=True, metavar="FILE", help="file of requests to write")
    parser.add_argument("--calls", required=True, metavar="FILE", help="file of calls to write")
    parser.add_argument("--host", action="append", metavar="ATTRIBUTE", help="attribute that names the host; may be repeated, the first "
                        "that a process has is taken (default: host.name, hostname, k8s.node.name, service.name)")
    options = parser.parse_args()
    options.host = options.host or ["host.name", "hostname", "k8s.node.name", "service.name"]
    return options


def documents(path):
    """The JSON values of a file: one, or one a line."""
    try:
        text = sys.stdin.read() if path == "-" else open(path, encoding="utf-8-sig").read()
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{path}: cannot be read: {error}")
    try:
        return [json.loads(text)]
    except ValueError:
        pass
    values = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            values.append(json.loads(line))
        except ValueError as error:
            sys.exit(f"{path}:{number}: this is no JSON: {error}")
    return values


def plain(text):
    """A name that fits on a line of CSV and into a name of Seismo."""
    line = "".join(" " if ord(c) < 32 or ord(c) == 127 else c for c in str(text)).strip()
    return line.encode("utf-8", "replace")[:NAME_MAX].decode("utf-8", "ignore")


def first(attributes, names):
    return next((str(attributes[n]) for n in names if attributes.get(n) not in (None, "")), "")


def status(span):
    code = first(span.attributes, STATUS)
    if code.isdigit() and 100 <= int(code) <= 999:
        return int(code)
    return 500 if span.failed or first(span.attributes, ("rpc.grpc.status_code",)) not in ("", "0") else 200


def busy_ns(spans, begin, end):
    """Time from begin to end during which at least one of these spans was open."""
    total, until = 0, begin
    for start, stop in sorted((max(s.start_ns, begin), min(s.end_ns, end)) for s in spans):
        if stop > max(start, until):
            total += stop - max(start, until)
            until = stop
    return total


def usable(span, skipped):
    if not span.host:
        skipped["without a host"] += 1
    elif not FIRST_NS <= span.start_ns < LAST_NS:
        skipped["that begin at no time from 1990 to 2099"] += 1
    elif span.end_ns < span.start_ns:
        skipped["that end before they begin"] += 1
    elif span.end_ns - span.start_ns > 86400 * 10**9:
        skipped["longer than a day"] += 1
    else:
        return True
    return False


class Traces:
    def __init__(self, spans):
        self.skipped = Counter()
        self.spans = {}
        for span in spans:
            if not usable(span, self.skipped):
                continue
            if (span.trace, span.id) in self.spans:
                self.skipped["that were recorded twice"] += 1
                continue
            self.spans[span.trace, span.id] = span
        self.answer = {}  # of a client span: the server span that is its child
        self.calls = {}  # of a server span: the client spans below it
        for span in self.spans.values():
            parent = self.parent(span)
            if span.kind == SERVER and parent and parent.kind == CLIENT:
                self.answer[parent.trace, parent.id] = span
            if span.kind == CLIENT:
                server = self.server_of(span)
                if server:
                    self.calls.setdefault((server.trace, server.id), []).append(span)

    def parent(self, span):
        return self.spans.get((span.trace, span.parent)) if span.parent else None

    def server_of(self, span):
        """The request of the same host that made this call, through whatever lies between."""
        seen = set()
        at = self.parent(span)
        while at and at.id not in seen and at.host == span.host:
            if at.kind == SERVER:
                return at
            seen.add(at.id)
            at = self.parent(at)
        return None

    def requests(self):
        for span in self.spans.values():
            if span.kind != SERVER:
                continue
            caller = self.parent(span)
            up = busy_ns(self.calls.get((span.trace, span.id), []), span.start_ns, span.end_ns)
            yield (span.start_ns, plain(span.host), plain(caller.host) if caller else "", plain(first(span.attributes, ROUTE) or span.name),
                   (span.end_ns - span.start_ns) // 1000, up // 1000, status(span))

    def client_calls(self):
        for span in self.spans.values():
            if span.kind != CLIENT:
                continue
            answer = self.answer.get((span.trace, span.id))
            callee = answer.host if answer else first(span.attributes, PEER)
            if not plain(callee):
                self.skipped["that call nobody who is named"] += 1
                continue
            yield (span.start_ns, plain(span.host), plain(callee), plain(span.name), (span.end_ns - span.start_ns) // 1000, status(span))


def write_file(path, names, rows):
    rows = sorted(rows)
    try:
        with open(path, "w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(names)
            writer.writerows(rows)
    except OSError as error:
        sys.exit(f"{path}: cannot be written: {error}")
    return len(rows)


def convert(what, spans_of):
    """Converts the files of the command line. spans_of(document, hosts) gives the spans of a JSON value, or raises ValueError."""
    options, found = arguments(what), []
    for path in options.file:
        try:
            for document in documents(path):
                found.extend(spans_of(document, options.host))
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            sys.exit(f"{path}: this is no {what}: {error}")
    write_files(Traces(found), options)


def write_files(traces, options):
    requests = write_file(options.requests, ("start_ns", "host", "client_host", "operation", "request_us", "upstream_us", "status"), traces.requests())
    calls = write_file(options.calls, ("start_ns", "caller_host", "callee_host", "operation", "caller_us", "status"), traces.client_calls())
    print(f"{requests} requests, {calls} calls", file=sys.stderr)
    for cause, n in sorted(traces.skipped.items()):
        print(f"skipped: {n} spans {cause}", file=sys.stderr)
    if not requests + calls:
        sys.exit("no span is a request or a call: their kind must be server or client")
