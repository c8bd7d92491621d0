#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""paths.py NAME... - checks the explanations in files of JSON lines: {"of", "headline", "whole", "unexplained", "first", "graph", "text"}.
The first candidate is reached by calls from the headline's host, the parts of the graph and what is unexplained add up to the whole,
and the sentence names the first candidate. An explanation without candidates is not judged."""
import json
import sys

NEAR = 0.01


def reached(headline, graph):
    """All hosts that calls of the headline's host lead to."""
    found, new = set(), {headline}
    while new:
        found |= new
        new = {p['to'] for p in graph if p['to'] and p['from'] in found} - found
    return found


def wrong(e):
    hosts = reached(e.get('headline'), e['graph'])
    if e['first'] not in hosts:
        yield f'{e["first"]} is named, and no call from {e.get("headline")} leads there'
    for p in e['graph']:
        if p['from'] not in hosts:
            yield f'{p["from"]} has a part, and no call from {e.get("headline")} leads there'
    total = sum(p['value'] for p in e['graph']) + e.get('unexplained', 0)
    if abs(total - e['whole']) > NEAR * e['whole']:
        yield f'the parts add up to {total:.0f} of {e["whole"]:.0f}'
    if e.get('text') and e['first'] not in e['text']:
        yield f'{e["first"]} is first, and the sentence is: {e["text"]}'


def main():
    judged = failed = 0
    for name in sys.argv[1:]:
        with open(name, encoding='utf-8') as f:
            for e in map(json.loads, f):
                if not e['first']:
                    continue
                judged += 1
                found = list(wrong(e))
                failed += bool(found)
                for text in found:
                    print(f'{e["of"]}: {text}')
    print(f'explanations: {judged} judged, {failed} wrong')
    sys.exit(failed > 0 or judged == 0)


main()
