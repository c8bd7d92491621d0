#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clock.sh - what looking at busy threads costs, REQ_PROFILE_HZ times a second on every processor: the program at each
# tick (by the kernel's own statistics, which add some 50 ns), the tick itself, and what the probe does with the stacks.
# Prints Markdown for RESULTS.md. SECONDS_EACH=5.
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build} each=${SECONDS_EACH:-5}
bpftool=$(command -v bpftool || echo /usr/sbin/bpftool)
tmp=$(mktemp -d) || exit 1
. tests/lib/check.sh
read -r port nobody < <(free_ports 2 | tr '\n' ' ')
stats=$(cat /proc/sys/kernel/bpf_stats_enabled)
probe=
trap 'kill $probe $server 2>/dev/null; echo "$stats" >/proc/sys/kernel/bpf_stats_enabled; rm -rf "$tmp"' EXIT
gcc -O1 -fno-omit-frame-pointer -o "$tmp/busy" tests/it/profile/stacks_server.c || exit 1
"$tmp/busy" "$port" fork & server=$!

counts() { # now, in ns; ns and runs of our program so far; ns of the probe's CPU
	local id
	date +%s%N
	for id in $(sed -n 's/^prog_id:\t//p' /proc/"$probe"/fdinfo/* 2>/dev/null | sort -u); do
		"$bpftool" prog show id "$id" | grep -q ' name on_clock ' || continue
		"$bpftool" -j prog show id "$id" | python3 -c 'import json, sys
p = json.load(sys.stdin)
print(p.get("run_time_ns", 0), p.get("run_cnt", 0))'
		break
	done
	cut -d' ' -f1 "/proc/$probe/schedstat"
}

load() { # that many at a time, until killed
	while :; do curl -s -o /dev/null "http://127.0.0.1:$port/"; done
}

measure() { # NAME
	local at ns n cpu at1 ns1 n1 cpu1
	read -r at ns n cpu < <(counts | tr '\n' ' ')
	sleep "$each"
	read -r at1 ns1 n1 cpu1 < <(counts | tr '\n' ' ')
	awk -v name="$1" -v ns=$((ns1 - ns)) -v n=$((n1 - n)) -v cpu=$((cpu1 - cpu)) -v s="$((at1 - at))e-9" -v cpus="$(nproc)" 'BEGIN {
		printf "| %s | %.0f | %.0f | %.4f %% | %.2f %% |\n", name, n / s / cpus, n ? ns / n : 0, ns / (s * cpus * 1e9) * 100, cpu / (s * 1e9) * 100 }'
}

"$B/seismo-probe" --slow-ms 50 --node bench --collector "tcp://127.0.0.1:$nobody" --collector-key "$nobodys_key" --keys "$tmp/keys" 2>"$tmp/probe.log" & probe=$!
sleep 2
echo 1 >/proc/sys/kernel/bpf_stats_enabled
echo "| | ticks a second and processor | ns of the program at each | share of the processors | the probe's own CPU, of one |"
echo "|---|---|---|---|---|"
measure "no request is served"
loads=()
for _ in $(seq 4); do load & loads+=($!); done
sleep 1
measure "every processor serves requests of 100 ms of CPU each"
kill "${loads[@]}"
echo
echo "A tick itself, without a program: $("$B/tools/ticks" 4900 31) ns (at 4,900 a second, so that it can be seen)."
