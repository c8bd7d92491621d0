#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# switch.sh - what the hooks on the scheduler and the clock on each CPU cost threads that they are not about: CPU time per
# switch of two processes that hand a byte to and fro, and per direct read of a disk, with the probe and without it in
# turn. Prints Markdown for RESULTS.md. ROUNDS=7 SWITCHES=200000.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
. tests/lib/bench_rig.sh
switches=${SWITCHES:-200000} reads=${READS:-5000}
read -r nobody served < <(free_ports 2 | tr '\n' ' ')
trap '[ -z "$probe" ] || kill $probe 2>/dev/null; sysctl -q kernel.bpf_stats_enabled=0; rm -rf "$tmp"' EXIT
mkfifo "$tmp/held"; exec 7<>"$tmp/held"
dd if=/dev/urandom of="$tmp/data" bs=1M count=64 conv=fsync status=none

probe_on() { # FLAG...
	"$B/seismo-probe" "$@" --node bench --collector "tcp://127.0.0.1:$nobody" --collector-key "$nobodys_key" --keys "$tmp/keys" 2>"$tmp/probe.log" & probe=$!
	sleep 1.5
	kill -0 $probe || { cat "$tmp/probe.log" >&2; exit 1; }
}

empty_on() {
	"$B/tools/emptyhook" <&7 >/dev/null 2>&1 & probe=$!
	sleep 0.5
}

probe_off() {
	kill $probe && wait $probe 2>/dev/null
	probe=
}

a_switch() {
	"$B/tools/pingpong" 1 "$switches"
}

# One of the two serves a request meanwhile: the probe follows it.
a_served_switch() {
	"$B/tools/pingpong" 1 "$switches" "$served"
}

# ns of CPU time; the page cache has no part in it
a_read() {
	local t
	t=$({ TIMEFORMAT='%U %S'; time taskset -c 1 dd if="$tmp/data" of=/dev/null bs=4k count="$reads" iflag=direct status=none; } 2>&1)
	awk -v n="$reads" '{ print ($1 + $2) * 1e9 / n }' <<<"$t"
}

measure() { # WHAT NAME ON [FLAG...]
	local i off again on
	: >"$tmp/off"; : >"$tmp/added"
	for ((i = 0; i < rounds; i++)); do
		off=$("$1")
		"${@:3}"
		on=$("$1")
		probe_off
		again=$("$1")
		awk -v a="$off" -v b="$again" 'BEGIN { print (a + b) / 2 }' >>"$tmp/off"
		awk -v a="$off" -v b="$again" -v on="$on" 'BEGIN { print on - (a + b) / 2 }' >>"$tmp/added"
	done
	echo "| $2 | $(median <"$tmp/off") | $(median <"$tmp/added") |"
}

# By the kernel's own figures, without what they cost themselves: runs a switch, and ns of each.
in_kernel() { # WHAT NAME FLAG...
	local id
	probe_on "${@:3}"
	sysctl -q kernel.bpf_stats_enabled=1
	"$1" >/dev/null
	sysctl -q kernel.bpf_stats_enabled=0
	for id in $(sed -n 's/^prog_id:\s*//p' /proc/$probe/fdinfo/* | sort -un); do
		bpftool prog show id "$id"
	done | awk -v what="$2" -v n="$switches" -v empty="$empty" '/ name (on_switch|on_waking|on_sample|on_tick) / { for (i = 1; i < NF; i++) f[$i] = $(i + 1)
		if (f["run_cnt"]) printf "| %s | %s | %.3f | %d |\n", what, f["name"], f["run_cnt"] / n, f["run_time_ns"] / f["run_cnt"] - empty; delete f }'
	probe_off
}

empty=$(empty_ns)
echo "| what | ns of CPU time without the probe | added by it |"
echo "|---|---|---|"
measure a_switch "a switch, an empty program there: the least a hook can cost" empty_on
measure a_switch "a switch, slow files only" probe_on --split=no
measure a_switch "a switch, the time of requests only" probe_on --slow-file-ms 0
measure a_switch "a switch, both" probe_on --slow-file-ms 10
measure a_served_switch "a switch to or from one that serves a request, both" probe_on --slow-file-ms 10
measure a_read "a direct read of 4 KiB that sleeps, slow files only" probe_on --split=no
echo
echo "| switch | program | runs of it a switch | ns each, by the kernel's figures |"
echo "|---|---|---|---|"
PATH=$PATH:/usr/sbin
in_kernel a_switch "of nobody's" --split=no
in_kernel a_switch "of nobody's" --slow-file-ms 0
in_kernel a_served_switch "of one that serves" --slow-file-ms 0
