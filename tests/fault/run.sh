#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - the fault bench (`make faults`): CELLS="threaded/fsync node/*" runs only these, N= so many abnormal
# requests of each (110), HOOKS=sockets|syscalls, PROBE_ARGS= more flags
# of the probe. Needs root; leaves nothing but build/fault/out.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/check.sh
. tests/stack.sh

[ "$(id -u)" = 0 ] || { echo "Seismo: the fault bench makes network namespaces and cgroups: use sudo make faults." >&2; exit 1; }
on_exit() {
	python3 -B tests/fault/rig.py remove
}
python3 -B tests/fault/rig.py make || { on_exit; exit 1; }
stack_open --scope "cgroup=$(python3 -B tests/fault/rig.py scope)" --hooks "${HOOKS:-auto}" ${PROBE_ARGS:-}
mkdir -m 755 "$tmp/files"
python3 -B tests/fault/bench.py "$B" "$tmp/files" "$WEB"
