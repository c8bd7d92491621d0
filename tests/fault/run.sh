#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [none|losses] - the fault bench (`make faults`): CELLS="threaded/fsync node/*" runs only these, N= so many abnormal
# requests of each (110), HOOKS=sockets|syscalls, PROBE_ARGS= more flags
# of the probe. Needs root; leaves nothing but build/fault/out.
# none: no fault but what neighbours do (neighbours.py); losses: each segment that was lost, counted (control.py).
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

[ "$(id -u)" = 0 ] || { echo "Seismo: the fault bench makes network namespaces and cgroups: use sudo make faults." >&2; exit 1; }
deploy/dev/deps.sh test || exit 1
# One at a time on a machine: the hosts have fixed names. The lock goes with the last who was started from here.
exec 8</sys/fs/cgroup
flock -w 100 8 || { echo "Seismo: another fault bench runs on this machine." >&2; exit 1; }
neighbours=
on_exit() {
	[ -z "$neighbours" ] || kill "$neighbours"
	python3 -B tests/fault/rig.py remove
}
python3 -B tests/fault/rig.py make || { on_exit; exit 1; }
scope=cgroup=$(python3 -B tests/fault/rig.py scope)
mkdir -m 755 "$tmp/files"
case ${1:-} in
none)
	stack_open --scope "$scope" --hooks "${HOOKS:-auto}" ${PROBE_ARGS:-}
	python3 -B tests/fault/neighbours.py "$tmp/ambient" & neighbours=$!
	python3 -B tests/fault/control.py none "$B" "$tmp/files" "$WEB"
	;;
losses) stack_open --scope "$scope" --hooks "${HOOKS:-auto}" --slow-ms 0 && python3 -B tests/fault/control.py losses "$B" "$tmp/files" "$WEB" ;;
*) stack_open --scope "$scope" --hooks "${HOOKS:-auto}" ${PROBE_ARGS:-} && python3 -B tests/fault/bench.py "$B" "$tmp/files" "$WEB" ;;
esac
