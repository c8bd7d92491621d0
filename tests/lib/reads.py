# SPDX-License-Identifier: Apache-2.0
"""reads.py - tests/tools/reads.c from Python: the sources of the probe, each read when asked to."""
import collections
import subprocess


def numbers(pairs):
    return {n: float(v) for n, v in (pair.split("=") for pair in pairs.split())}


class Reads:
    """The program, and how often it was asked to read a source."""

    def __init__(self, program, *args):
        self.process = subprocess.Popen([program, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.asked = {"reads": 0}
        self.off, self.said = {}, []
        for line in self.lines():
            if line[0] == "source" and line[2]:
                self.off[line[1]] = line[2]

    def lines(self):
        while (line := self.process.stdout.readline()) and line != "done\n":
            yield line.rstrip("\n").split("\t")

    def ask(self, source):
        self.asked["reads"] += source not in ("cost", "watch")
        self.process.stdin.write(f"{source}\n")
        self.process.stdin.flush()
        values_of = collections.defaultdict(dict)
        for what, *fields in self.lines():
            if what == "sample":
                values_of[fields[0]][fields[2]] = numbers(fields[3])
            else:
                self.said.append((what, *fields))
        return values_of

    def watch(self):
        """What is reported of the budget of kernel programs."""
        self.said = []
        self.ask("watch")
        return self.said

    def end(self):
        self.process.stdin.close()
        self.lines()
        return self.process.wait(timeout=30)
