#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts traces in Jaeger's JSON (as its page and its API give them) to the files of seismo-replay."""
import spans


def tags(list_):
    return {t["key"]: t.get("value") for t in list_ or [] if isinstance(t, dict) and "key" in t}


def parent(span):
    """A span names its parent as a reference, in old recordings as parentSpanID."""
    for reference in span.get("references") or []:
        if reference.get("refType") == "CHILD_OF" and reference.get("traceID") == span.get("traceID"):
            return reference.get("spanID", "")
    return span.get("parentSpanID", "")


def microseconds(number):
    return int(number) if isinstance(number, (int, float)) and number > 0 else 0


def of_trace(trace, hosts):
    processes = {name: {"service.name": p.get("serviceName", ""), **tags(p.get("tags"))} for name, p in trace.get("processes", {}).items()}
    for span in trace.get("spans") or []:
        attributes = tags(span.get("tags"))
        kind = attributes.get("span.kind")
        start = microseconds(span.get("startTime"))
        yield spans.Span(
            trace=span.get("traceID", ""), id=span.get("spanID", ""), parent=parent(span),
            kind=kind if kind in (spans.SERVER, spans.CLIENT) else spans.OTHER, name=span.get("operationName", ""),
            host=spans.first(processes.get(span.get("processID"), {}), hosts),
            start_ns=start * 1000, end_ns=(start + microseconds(span.get("duration"))) * 1000,
            failed=str(attributes.get("error", "")).lower() == "true", attributes=attributes)


def of_document(document, hosts):
    if not isinstance(document, dict) or not isinstance(document.get("data"), list):
        raise ValueError('it has no list of traces in "data"')
    for trace in document["data"]:
        yield from of_trace(trace, hosts)


spans.convert("Jaeger JSON", of_document)
