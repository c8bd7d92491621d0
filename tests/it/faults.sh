#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# faults.sh - a few cells of the fault bench (`make faults`), with few requests each: the cause is found, its time is found,
# its name is right, and parts add up to the total.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/check.sh
B=${B:-build}

cells="threaded/sleep nginx/slow-upstream node/lock forking/client-loss"
make -s B="$B" fault-tools >/dev/null || { echo "0 passed, 1 failed"; exit 1; }
for cell in $cells; do
	rm -f "$B/fault/out/${cell%/*}-${cell#*/}.json"
done
N=${N:-10} CELLS=$cells tests/fault/run.sh

figure() { # CELL NAME: whole number; -1: there is none
	python3 -c 'import json, sys; v = json.load(open(sys.argv[1])).get(sys.argv[2]); print(-1 if v is None else int(v))' \
		"$B/fault/out/${1%/*}-${1#*/}.json" "$2" 2>/dev/null || echo -1
}

for cell in $cells; do
	ok "$cell: most of its requests are abnormal" test "$(figure "$cell" n)" -ge 6
	ok "$cell: the reason is right" test "$(figure "$cell" right)" -ge 80
	ok "$cell: the injected time is found" test "$(figure "$cell" injected)" -ge 80
	ok "$cell: its parts add up to the total" test "$(figure "$cell" summed)" -eq 100
	ok "$cell: little is not attributed" test "$(figure "$cell" unattributed)" -le 5
	case $cell in
	*/sleep) ;;
	*) ok "$cell: the name is right" test "$(figure "$cell" named)" -ge 80 ;;
	esac
done
done_checking
