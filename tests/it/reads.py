# SPDX-License-Identifier: Apache-2.0
"""reads.py - tests/tools/reads.c from Python: the sources of the probe, each read when asked to."""
import collections
import subprocess


class Reads:
    """The program, and how often it was asked to read a source."""

    def __init__(self, program, *args):
        self.process = subprocess.Popen([program, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.asked = {"reads": 0}
        self.off = {}
        for line in self.lines():
            if line[0] == "source" and line[2]:
                self.off[line[1]] = line[2]

    def lines(self):
        while (line := self.process.stdout.readline()) and line != "done\n":
            yield line.rstrip("\n").split("\t")

    def ask(self, source):
        self.asked["reads"] += source != "cost"
        self.process.stdin.write(f"{source}\n")
        self.process.stdin.flush()
        told = collections.defaultdict(dict)
        for _, layout, _, entity, values in self.lines():
            told[layout][entity] = {n: float(v) for n, v in (pair.split("=") for pair in values.split())}
        return told

    def end(self):
        self.process.stdin.close()
        self.lines()
        return self.process.wait(timeout=30)
