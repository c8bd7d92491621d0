#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sched.sh - how long tasks of a cgroup waited for a CPU is what the kernel itself has counted of them (schedstat), within
# 1 %; and program starts and process ends are all counted, by name and by how they ended.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

hogs=()
cgroup_make
on_exit() {
	[ ${#hogs[@]} -eq 0 ] || kill "${hogs[@]}" 2>/dev/null
	cgroup_gone
}
trap 'on_exit; rm -rf "$tmp"' EXIT

reported() { # ENTITY METRIC: the sum over all ticks; a metric that ends in % is the whole histogram
	ask "select coalesce(sum(value), 0) from api.series where entity like '$1' and metric like '$2'"
}

within() { # VALUE LEAST MOST
	awk -v v="$1" -v least="$2" -v most="$3" 'BEGIN { print v, "of", least, "to", most; exit !(v >= least && v <= most) }'
}

waits_reported() { # the last ones come with the next read
	within "$(reported "%${cgroup##*/}" 'cpu\_wait\_latency\_us\_%')" "$(awk -v n="$times" 'BEGIN { print n * 0.99 }')" $((times + 100))
}

seconds_reported() {
	within "$(reported "%${cgroup##*/}" cpu_wait_seconds_total)" "$(awk -v ns="$waited" 'BEGIN { print ns * 0.99e-9 }')" \
		"$(awk -v ns="$((waited + own))" 'BEGIN { print ns * 1.01e-9 }')"
}

is_watched() {
	[ "$(ask "select count(*) from api.series where metric = 'cpu_wait_watched_seconds_total' and value > 0.5")" -gt 0 ]
}

stack_open --cpu-wait-share 100
ok "both sources are attached" await_value 2 ask "select count(*) from source where state = 1 and name in ('runq', 'starts')"

for ((i = 0; i <= $(nproc); i++)); do
	timeout 60 sh -c 'while :; do :; done' & hogs+=($!)
done
ok "waiting for a CPU is watched when there is some" await 150 is_watched
read -r times waited own < <(python3 tests/it/source/sched.py "$cgroup" 3)
ok "as many waits are counted as the kernel gave its tasks a CPU: $times" await 100 waits_reported
ok "and all of their time: $((waited / 1000000)) ms" await 20 seconds_reported
ok "none was missed" test "$(reported % cpu_waits_missed)" = 0
kill "${hogs[@]}"
wait "${hogs[@]}" 2>/dev/null
hogs=()

good=sg$$ bad=sb$$ ended=sk$$
cp /bin/true "$tmp/$good" && cp /bin/false "$tmp/$bad" && cp /bin/sleep "$tmp/$ended"
for ((i = 0; i < 40; i++)); do
	"$tmp/$good"
done
for ((i = 0; i < 30; i++)); do
	"$tmp/$bad"
done
for ((i = 0; i < 10; i++)); do
	"$tmp/$ended" 60 & killed=$!
	await 50 grep -qsx "$ended" "/proc/$killed/comm"
	kill -KILL $killed
	wait $killed 2>/dev/null
done
while read -r name execs exits failed kills; do
	ok "$name: programs executed" await_value "$execs" reported "$name" program_execs_total
	ok "$name: processes ended" await_value "$exits" reported "$name" program_exits_total
	ok "$name: with an error" await_value "$failed" reported "$name" program_exits_failed_total
	ok "$name: by a signal" await_value "$kills" reported "$name" program_exits_killed_total
done <<END
$good 40 40 0 0
$bad 30 30 30 0
$ended 10 10 0 10
END
while read -r metric least; do
	ok "the node has them all, and others: $metric" await 200 eval 'within "$(reported % "$metric")" "$least" 1000000'
done <<END
process_execs_total 80
process_exits_total 80
process_exits_failed_total 30
process_exits_killed_total 10
END
done_checking
