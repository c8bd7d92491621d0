#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fuzz_cover.sh [CORPUS] - which lines of each decoder the corpus in CORPUS/FUZZER (tests/fuzz/corpus) reaches.
set -eu
cd "$(dirname "$0")/.."
corpus=${1:-tests/fuzz/corpus} tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
covers() { # FUZZER: the files whose reading of outside bytes it is for
	case $1 in
	fuzz_mp) echo lib/wire/mp.c ;;
	fuzz_wire) echo lib/wire/wire_decode.c lib/wire/wire_body.c lib/wire/wire_encode.c lib/wire/mp.c ;;
	fuzz_http) echo probe/request/record/http.c probe/request/record/route.c ;;
	fuzz_event) echo probe/request/record/request_event.c probe/request/record/http.c probe/request/explain/verdict.c ;;
	fuzz_state) echo probe/request/judge/baseline_pack.c probe/request/judge/detect.c ;;
	fuzz_elf) echo probe/symbol/user/elf_file.c probe/symbol/user/perf_map.c ;;
	fuzz_config) echo lib/config/config.c probe/core/probe_config.c collector/core/collector_config.c ;;
	fuzz_manifest) echo probe/source/custom/custom_manifest.c probe/source/custom/custom_layout.c lib/config/config.c ;;
	fuzz_uplink) echo lib/uplink/uplink.c lib/uplink/uplink_answer.c lib/spool/spool.c ;;
	fuzz_spool) echo lib/spool/segment.c lib/spool/segment_scan.c lib/spool/spool.c lib/spool/spool_disk.c ;;
	fuzz_receive) echo collector/ingest/receive.c collector/ingest/watermarks.c collector/pipeline/decode.c collector/pipeline/enrich.c collector/store/row/store.c \
		collector/db/copy.c collector/db/jsonb.c lib/base/text.c ;;
	fuzz_web) echo collector/web/call/web_param.c collector/web/call/web_filter.c collector/web/call/web_call.c collector/web/web_route.c \
		collector/web/call/web_file.c ;;
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
