#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fuzz_cover.sh [CORPUS] - which lines of each decoder the corpus in CORPUS/FUZZER (tests/fuzz/corpus) reaches.
set -eu
cd "$(dirname "$0")/.."
corpus=${1:-tests/fuzz/corpus} tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
covers() { # FUZZER: the files whose reading of outside bytes it is for
	case $1 in
	fuzz_mp) echo lib/mp.c ;;
	fuzz_wire) echo lib/wire_decode.c lib/wire_body.c lib/wire_encode.c lib/mp.c ;;
	fuzz_http) echo probe/http.c probe/route.c ;;
	fuzz_event) echo probe/request_event.c probe/http.c probe/verdict.c ;;
	fuzz_state) echo probe/baseline_pack.c probe/detect.c ;;
	fuzz_elf) echo probe/elf_file.c probe/perf_map.c ;;
	fuzz_config) echo lib/config.c probe/config.c collector/config.c ;;
	fuzz_manifest) echo probe/own_manifest.c probe/own_layout.c lib/config.c ;;
	fuzz_uplink) echo lib/uplink.c lib/uplink_answer.c lib/spool.c ;;
	fuzz_spool) echo lib/segment.c lib/segment_scan.c lib/spool.c lib/spool_disk.c ;;
	fuzz_receive) echo collector/receive.c collector/marks.c collector/decode.c collector/enrich.c collector/store.c \
		collector/copy.c collector/jsonb.c lib/text.c ;;
	fuzz_web) echo collector/web_param.c collector/web_filter.c collector/web_call.c collector/web_route.c \
		collector/web_file.c ;;
	esac
}

LDFLAGS=-fprofile-instr-generate make -s -j"$(nproc)" CC=clang SAN=fuzzer-no-link B=build-cover \
	OPT='-O1 -fprofile-instr-generate -fcoverage-mapping' fuzzers >&2
printf '%-13s %6s  %s\n' fuzzer inputs 'lines reached of each file'
for f in build-cover/fuzz/fuzz_*; do
	name=${f##*/}
	LLVM_PROFILE_FILE="$tmp/$name.raw" "$f" -runs=0 -max_len=4096 "$corpus/$name" >"$tmp/$name.log" 2>&1 ||
		{ tail -n 20 "$tmp/$name.log" >&2; exit 1; }
	llvm-profdata merge -o "$tmp/$name.data" "$tmp/$name.raw"
	printf '%-13s %6s  ' "$name" "$(find "$corpus/$name" -type f | wc -l)"
	llvm-cov report "$f" -instr-profile="$tmp/$name.data" $(covers "$name") |
		awk '$1 ~ /\.c$/ { sub(ENVIRON["PWD"] "/", "", $1); printf "%s %d/%d  ", $1, $8 - $9, $8 } END { print "" }'
done
