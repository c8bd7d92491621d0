# SPDX-License-Identifier: Apache-2.0
"""budget.py READS TMP - the budget of kernel programs, by two readers (tests/tools/reads.c) of the same load: one that may take what
it takes, which says what there was, and one that may not. TMP is a file system in memory. For budget.sh."""
import math
import os
import signal
import sys
import time

sys.path.insert(0, "tests/lib")
import reads  # noqa: E402

PROGRAM, TMP = sys.argv[1:]
BUDGET, LITTLE, LOOK_S, WATCH_S = 2.0, 0.02, 1, 0.05  # percent; a look is short, so that all of this is
SECONDS = 6  # of what is compared
TRIES = 3  # times of a busy machine: the best of so many comparisons
passed = failed = 0


def ok(sentence, good, seen=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {sentence}" + (f": {seen}" if seen != "" else ""))


def calls():
    fd = os.open(f"{TMP}/a", os.O_RDWR | os.O_CREAT)
    os.write(fd, b"x")
    while True:
        os.pread(fd, 1, 0)


def names():
    i = 0
    while True:
        i += 1
        os.path.exists(f"{TMP}/none{i}")


def writers():
    """Of one file; who finds another at it waits."""
    for _ in range(3):
        if not os.fork():
            break
    fd, much = os.open(f"{TMP}/both", os.O_RDWR | os.O_CREAT), bytes(16 << 10)
    while True:
        os.pwrite(fd, much, 0)


class Load:
    """A process group, of this function, until it is over."""

    def __init__(self, function):
        self.function = function

    def __enter__(self):
        self.pid = os.fork()
        if not self.pid:
            os.setpgid(0, 0)
            self.function()
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class Thrifty(reads.Reads):
    """The reader with a budget, which looks at it when it is due."""

    def __init__(self, budget):
        super().__init__(PROGRAM, "", str(budget), str(LOOK_S))
        self.budget, self.state, self.events = budget, {}, []

    def look(self):
        time.sleep(WATCH_S)  # time: over which the budget is judged
        for what, *fields in self.watch():
            if what == "state":
                self.state[fields[0]] = fields[1]
            elif what == "budget" and fields[1] == "probe.sampled":  # the other is of its reads
                self.events.append((fields[0], fields[2], reads.numbers(fields[3])))

    def until(self, done, seconds):
        end = time.monotonic() + seconds
        while not done() and time.monotonic() < end:
            self.look()
        return done()

    def of(self, source):
        """It looks at 1 in so many."""
        return next((int(n["of"]) for s, _, n in reversed(self.events) if s == source), 1)


def total(values, layout, metric):
    return sum(v[metric] for v in values[layout].values())


def counted(reader, source, metric):
    """How many since the last time, and what they took of its kernel programs, in s."""
    many = total(reader.ask(source), source, metric)
    return many, reader.ask("cost")["cost"][source]["source_program_seconds_total"]


def compared(exact, thrifty, source, metric):
    """Of the same seconds."""
    for _ in range(8):  # names are looked up a few at a time
        for reader in (exact, thrifty):
            counted(reader, source, metric)
    thrifty.until(lambda: False, SECONDS)
    return counted(exact, source, metric), counted(thrifty, source, metric)


def best_compared(exact, thrifty, source, metric, part):
    """What the same seconds cost both, of the comparison in which the thrifty one spared most; one that spares enough is the last."""
    best = None
    for _ in range(TRIES):
        pair = compared(exact, thrifty, source, metric)
        if best is None or pair[1][1] * best[0][1] < best[1][1] * pair[0][1]:
            best = pair
        if best[1][1] <= best[0][1] * part:
            break
    return best


def over(exact, thrifty, source, metric, load, enough, part):
    """Its programs are over their budget: what is done, and what comes of it. Looking at less, they take at most that part."""
    with Load(load):
        ok(f"the programs of {source} cost too much under load, and look at less", thrifty.until(lambda: thrifty.of(source) >= 4, 60), thrifty.events)
        at_first = thrifty.of(source)
        (there, cost), (seen, spent) = best_compared(exact, thrifty, source, metric, part)
    of = thrifty.of(source)
    error = 4 * math.sqrt(there * (of - 1)) + 0.02 * there
    print(f"{source}: 1 in {at_first} to {of}: {seen:.0f} of {there:.0f}, in {spent:.4f} s, not {cost:.4f}")
    ok(f"there was enough of {source} to compare", there > enough, there)
    ok(f"what {source} counts is right within its error", abs(seen - there) <= error, f"{seen:.0f}, not {there:.0f} +- {error:.0f}")
    ok(f"and costs {part} at most of what it does where all is looked at", spent <= cost * part, f"{spent:.4f} s, not {cost:.4f}")
    ok(f"the state of {source} says so", f"they process 1 in {of} of" in thrifty.state.get(source, ""), thrifty.state)
    first = [e for e in thrifty.events if e[0] == source][:1]
    ok(f"an event says what {source} costs and may", first and first[0][1] == "going on" and first[0][2]["percent"] >= first[0][2]["budget"] == thrifty.budget, first)  # both are rounded


def main():
    exact, thrifty = reads.Reads(PROGRAM, "", "0", str(LOOK_S)), Thrifty(BUDGET)
    ok("the sources are on", not {"vfs", "locks", "dentries"} & set(thrifty.off), thrifty.off)
    over(exact, thrifty, "vfs", "vfs_reads_total", calls, 20000, 0.7)  # the rest is that its hooks are called
    over(exact, thrifty, "dentries", "dentry_misses_total", names, 20000, 0.5)
    less = Thrifty(LITTLE)
    over(exact, less, "locks", "lock_waits_total", writers, 200, 0.7)
    ok("that reader ends well", less.end() == 0)
    ok("the readers end well", thrifty.end() == 0 and exact.end() == 0)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
