#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fuzz_cover.sh [CORPUS] - which lines of each decoder are reached by the inputs of CORPUS/FUZZER, or of the archives in
# tests/fuzz/corpus.
set -eu
cd "$(dirname "$0")/.."
corpus=${1:-} tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

covers() { # FUZZER: the sources whose reading of outside bytes it tests
	case $1 in
	fuzz_mp) sources lib mp.c ;;
	fuzz_wire) sources lib wire_read.c wire_decode.c wire_body.c wire_encode.c mp.c ;;
	fuzz_http) sources probe http.c route.c ;;
	fuzz_event) sources probe request_event.c http.c verdict.c ;;
	fuzz_state) sources probe baseline_pack.c detect.c ;;
	fuzz_elf) sources probe elf_file.c perf_map.c ;;
	fuzz_nginx) sources probe nginx_offsets.c nginx_record.c nginx_join.c nginx_verify.c ;;
	fuzz_names) sources lib cgroup_name.c && sources probe cgroup_path.c proc_text.c conntrack.c nat.c netlink.c files_event.c hung_tasks.c ;;
	fuzz_kmsg) sources probe kmsg_fold.c kmsg_line.c oom_event.c ;;
	fuzz_config) sources lib config.c && sources probe probe_config.c && sources collector collector_config.c ;;
	fuzz_manifest) sources probe custom_manifest.c custom_layout.c && sources lib config.c ;;
	fuzz_uplink) sources lib uplink.c uplink_state.c uplink_answer.c spool.c spool_queue.c ;;
	fuzz_spool) sources lib segment.c segment_scan.c spool.c spool_queue.c spool_disk.c ;;
	fuzz_receive) sources collector receive.c watermarks.c decode.c enrich.c store.c copy.c && sources lib json.c text.c text_clean.c ;;
	fuzz_chunk) sources collector chunk.c column.c column_decode.c row_codec.c ;;
	fuzz_web) sources collector web_param.c web_filter.c web_call.c web_route.c web_file.c ;;
	esac
}

sources() { # PROGRAM FILE...: where these files lie, each in one place
	local file path
	for file in "${@:2}"; do
		path=$(find "$1" -name "$file")
		[ "$(wc -l <<<"$path")" = 1 ] && [ -f "$path" ] || { echo "fuzz_cover.sh: no $file in $1/" >&2; return 1; }
		echo "$path"
	done
}

inputs() { # FUZZER: their directory
	[ -z "$corpus" ] || { echo "$corpus/$1"; return; }
	mkdir -p "$tmp/corpus/$1"
	tar -xJf "tests/fuzz/corpus/$1.tar.xz" -C "$tmp/corpus/$1"
	echo "$tmp/corpus/$1"
}

LDFLAGS=-fprofile-instr-generate make -s -j"$(nproc)" CC=clang SAN=fuzzer-no-link B=build-cover \
	OPT='-O1 -fprofile-instr-generate -fcoverage-mapping' fuzzers >&2
printf '%-13s %6s  %s\n' fuzzer inputs 'lines reached of each file'
for f in build-cover/fuzz/fuzz_*; do
	name=${f##*/}
	from=$(inputs "$name")
	files=$(covers "$name")
	LLVM_PROFILE_FILE="$tmp/$name.raw" "$f" -runs=0 -max_len=4096 "$from" >"$tmp/$name.log" 2>&1 ||
		{ tail -n 20 "$tmp/$name.log" >&2; exit 1; }
	llvm-profdata merge -o "$tmp/$name.data" "$tmp/$name.raw"
	printf '%-13s %6s  ' "$name" "$(find "$from" -type f | wc -l)"
	llvm-cov report "$f" -instr-profile="$tmp/$name.data" $files |
		awk '$1 ~ /\.c$/ { sub(ENVIRON["PWD"] "/", "", $1); printf "%s %d/%d  ", $1, $8 - $9, $8 } END { print "" }'
done
