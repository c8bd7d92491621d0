#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""frames.py OBJECT... - what kernel programs keep on the stack, with all that they call, fits every kernel: 512 bytes, where kernels before 6.9
count each function's in steps of 32 (kernel/bpf/verifier.c, check_max_stack_depth()). A newer one would not say it."""
import re
import subprocess
import sys

LIMIT, STEP = 512, 32
LDX, ST, STX, ALU32, ALU64 = 1, 2, 3, 4, 7  # classes of instructions (include/uapi/linux/bpf.h)
ADD_IMM, MOV, ADDRESS, CALL = 0x07, 0xBF, 0x18, 0x85
SECTION = re.compile(r"^Disassembly of section (.+):$")
FUNCTION = re.compile(r"^[0-9a-f]+ <([A-Za-z_]\w*)>:$")
INSN = re.compile(r"^ *(\d+):\t((?:[0-9a-f]{2}[ \t]){8})")
RELOC = re.compile(r"^\t+ *[0-9a-f]+:  R_BPF_64_(?:32|64)\t(\S+)$")


class Function:
    def __init__(self, name, section, at):
        self.name, self.section, self.at, self.bytes, self.calls = name, section, at, 0, []
        self.copies = set()  # registers that point into its frame


def signed(b):
    return int.from_bytes(b, "little", signed=True)


def read(path):
    """Its functions. What they call is (section or name, instruction there)."""
    out = subprocess.run(["llvm-objdump", "-dr", path], capture_output=True, text=True, check=True).stdout
    found, section, name, pending = [], None, None, None
    for line in out.splitlines():
        if m := SECTION.match(line):
            section = m[1]
        elif (m := FUNCTION.match(line)) and not m[1].startswith("LBB"):
            name = m[1]
        elif m := INSN.match(line):
            at, b = int(m[1]), bytes.fromhex(m[2])
            if name:
                found.append(Function(name, section, at))
                name = None
            pending = take(found[-1], at, b)
        elif (m := RELOC.match(line)) and pending:
            kind, imm = pending
            if kind == "call":
                found[-1].calls.pop()
            found[-1].calls.append((m[1], imm + 1 if kind == "call" else imm // 8))
    return found


def take(f, at, b):
    """What the instruction says of f's frame, and whom it calls. What the relocation behind it may say otherwise: (kind, where); else None."""
    op, dst, src, imm = b[0], b[1] & 15, b[1] >> 4, signed(b[4:8])
    kind = op & 7
    if kind in (LDX, ST, STX) and (src if kind == LDX else dst) == 10:
        f.bytes = max(f.bytes, -signed(b[2:4]))
    if op == ADD_IMM and dst in f.copies:
        f.bytes = max(f.bytes, -imm)
    if op == MOV and src == 10:
        f.copies.add(dst)
    elif kind in (LDX, ALU32, ALU64) or op == ADDRESS:
        f.copies.discard(dst)
    if op == CALL and src == 1:
        f.calls.append((f.section, at + 1 + imm))
        return "call", imm
    return ("address", imm) if op == ADDRESS else None


def deepest(f, functions):
    """(bytes, names) of the longest way from f."""
    ways = [(0, [])]
    for where, at in f.calls:
        ways += [deepest(g, functions) for g in functions if (g.name == where and f is not g) or (g.section == where and g.at == at)]
    most = max(ways, key=lambda w: w[0])
    return most[0] + max(-(-f.bytes // STEP), 1) * STEP, [f"{f.name} {f.bytes}", *most[1]]


def main():
    bad, most = False, 0
    for path in sys.argv[1:]:
        functions = read(path)
        if not functions:
            sys.exit(f"{path}: llvm-objdump shows no functions as this script reads them")
        for f in functions:
            total, names = deepest(f, functions)
            most = max(most, total)
            if f.section != ".text" and total > LIMIT:
                print(f"{path}: {total} bytes of stack, {LIMIT} are allowed: {' > '.join(names)}")
                bad = True
    sys.exit(bad or most <= STEP)  # no program keeps anything there: it was not read


main()
