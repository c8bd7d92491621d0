#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# unit.sh - runs the unit tests that `make unit` built in B (build), as many at a time as there are processors. Prints the
# output of each that fails, then "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
logs=$(mktemp -d) || exit 1
trap 'rm -rf "$logs"' EXIT

run_one() { # TEST LOGS: the log stays if it fails
	timeout -k 10 120 "$1" >"$2/${1##*/}" 2>&1 || mv "$2/${1##*/}" "$2/${1##*/}.failed"
}
export -f run_one
ls "$B"/test/test_* 2>/dev/null | xargs -P "$(nproc)" -I{} bash -c 'run_one "$1" "$2"' - {} "$logs"
for log in "$logs"/*.failed; do
	[ -e "$log" ] && { echo "${log##*/}"; tail -n 20 "$log"; }
done
passed=$(ls "$logs" | grep -cv '\.failed$') failed=$(ls "$logs" | grep -c '\.failed$')
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 100 ]
