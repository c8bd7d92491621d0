#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pack.sh [DIR] - minimises and packs the corpus of each fuzzer in DIR (build-clang/fuzz) into corpus/FUZZER.tar.xz: the
# inputs of the archive and those that `make fuzz` has found since. Drops inputs that add no coverage, except those with a
# name: seeds written by hand, and inputs that once crashed. The same inputs make the same bytes.
set -eu
cd "$(dirname "$0")/../.."
fuzzers=${1:-build-clang/fuzz}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C

files() { # DIR
	find "$1" -type f | wc -l
}

coverage() { # FUZZER CORPUS: "EDGES FEATURES", the most of five orders of the inputs, as a few edges depend on the order
	local seed
	for seed in 1 2 3 4 5; do
		"$1" -seed=$seed -runs=0 -max_len=4096 "$2" 2>&1 | sed -n 's/.*INITED cov: \([0-9]*\) ft: \([0-9]*\) .*/\1 \2/p'
	done | sort -k1,1n -k2,2n | tail -n 1
}

merge() { # FUZZER FROM TO
	mkdir "$3"
	find "$2" -type f -regextype egrep -not -regex '.*/[0-9a-f]{40}' -exec cp -t "$3" {} +
	"$1" -merge=1 -max_len=4096 "$3" "$2" >"$tmp/log" 2>&1 || { tail -n 20 "$tmp/log" >&2; return 1; }
}

minimise() { # FUZZER ALL LEFT: until it drops nothing more
	local next="$3.next"
	merge "$1" "$2" "$3"
	while merge "$1" "$3" "$next" && [ "$(files "$next")" -lt "$(files "$3")" ]; do
		rm -r "$3"
		mv "$next" "$3"
	done
}

pack() { # FUZZER
	local name=${1##*/} edges features edges_left features_left
	local archive=tests/fuzz/corpus/$name.tar.xz found=build-clang/corpus/$name all=$tmp/$name.all left=$tmp/$name
	mkdir "$all"
	[ ! -e "$archive" ] || tar -xJf "$archive" -C "$all"
	[ ! -d "$found" ] || find "$found" -type f -exec cp -t "$all" {} +
	minimise "$1" "$all" "$left"
	read -r edges features < <(coverage "$1" "$all")
	read -r edges_left features_left < <(coverage "$1" "$left")
	[ "$edges_left" -ge "$edges" ] && [ "$features_left" -ge "$features" ] ||
		{ echo "$name: $edges edges, $features features became $edges_left, $features_left: not packed" >&2; return 1; }
	(cd "$left" && find . -type f | sort | tar --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 --format=ustar \
		--transform 's|^\./||' -T - -cf -) | xz -9e -T1 >"$tmp/packed"
	mv "$tmp/packed" "$archive"
	printf '%-14s %4d of %4d inputs, %d edges, %d features, %d bytes\n' "$name" "$(files "$left")" "$(files "$all")" \
		"$edges_left" "$features_left" "$(stat -c %s "$archive")"
}

mkdir -p tests/fuzz/corpus
for f in "$fuzzers"/fuzz_*; do
	pack "$f"
done
