#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh DIR SECONDS - runs each fuzzer in DIR for SECONDS, as many at once as there are CPUs, from the inputs that
# tests/fuzz/corpus holds. New inputs are kept in build-clang/corpus: tests/fuzz/pack.sh adds them to the archives.
set -u
TIMEFORMAT='%U + %S'
passed=0 failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

one() { # FUZZER SECONDS; the next run begins with the inputs that this one finds
	local name=${1##*/} corpus=build-clang/corpus/${1##*/} dict=tests/fuzz/${1##*/}.dict
	mkdir -p "$corpus" build-clang/found "$tmp/corpus/$name"
	tar -xJf "tests/fuzz/corpus/$name.tar.xz" -C "$tmp/corpus/$name" || return
	{ time "$1" -max_total_time="$2" -max_len=4096 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="build-clang/found/$name-" $([ ! -e "$dict" ] || echo "-dict=$dict") \
		"$corpus" "$tmp/corpus/$name" >"$tmp/$name" 2>&1; } 2>"$tmp/$name.cpu"
	echo $? >"$tmp/$name.rc"
}

for f in "$1"/fuzz_*; do
	while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
		wait -n
	done
	one "$f" "$2" &
done
wait
for f in "$1"/fuzz_*; do
	name=${f##*/}
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$tmp/$name")
	if [ "$(cat "$tmp/$name.rc")" = 0 ] && [ "${runs:-0}" -gt 0 ]; then
		at=$(sed -n 's/.* cov: \([0-9]*\) ft: \([0-9]*\) .*/\1 edges, \2 features/p' "$tmp/$name" | tail -n 1)
		echo "$name: $runs runs in $2 s ($(cat "$tmp/$name.cpu") s of CPU), $at, nothing found"
		passed=$((passed + 1))
	else
		tail -n 40 "$tmp/$name"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
