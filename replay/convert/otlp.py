#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts traces in OpenTelemetry's JSON (as the collector's file exporter writes it) to the files of seismo-replay."""
import spans

KINDS = {2: spans.SERVER, "SPAN_KIND_SERVER": spans.SERVER, 3: spans.CLIENT, "SPAN_KIND_CLIENT": spans.CLIENT}


def value(v):
    """An AnyValue: {"stringValue": "x"}, {"intValue": "5"}, ..."""
    return next(iter(v.values()), None) if isinstance(v, dict) else v


def attributes(list_):
    return {a["key"]: value(a.get("value")) for a in list_ or [] if isinstance(a, dict) and "key" in a}


def whole(text):
    return int(text) if str(text).isdigit() else 0


def of_resource(resource_spans, hosts):
    resource = attributes(resource_spans.get("resource", {}).get("attributes"))
    host = spans.first(resource, hosts)
    scopes = resource_spans.get("scopeSpans") or resource_spans.get("instrumentationLibrarySpans") or []
    for span in (s for scope in scopes for s in scope.get("spans") or []):
        yield spans.Span(
            trace=span.get("traceId", ""), id=span.get("spanId", ""), parent=span.get("parentSpanId", ""),
            kind=KINDS.get(span.get("kind"), spans.OTHER), name=span.get("name", ""), host=host,
            start_ns=whole(span.get("startTimeUnixNano", 0)), end_ns=whole(span.get("endTimeUnixNano", 0)),
            failed=span.get("status", {}).get("code") in (2, "STATUS_CODE_ERROR"), attributes=attributes(span.get("attributes")))


def of_document(document, hosts):
    if not isinstance(document, dict) or "resourceSpans" not in document:
        raise ValueError("it has no resourceSpans")
    for resource_spans in document["resourceSpans"]:
        yield from of_resource(resource_spans, hosts)


spans.convert("OpenTelemetry JSON of traces", of_document)
