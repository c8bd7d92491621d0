#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cgroups.sh - the metrics of cgroups against their own files: CPU time, throttling (an event, too), memory limit and OOM kills, the names
# of containers, pods and jobs, and 600 of them at once; and the I/O of their tasks against /proc/PID/io.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

where() { # TYPE [CONTROLLER]: the directory of that hierarchy
	awk -v t="$1" -v c="${2:-}" '$3 == t && (c == "" || "," $4 "," ~ "," c ",") { print $2; exit }' /proc/self/mounts
}

cpu=$(where cgroup cpu) cpuacct=$(where cgroup cpuacct) memory=$(where cgroup memory) v2=$(where cgroup2)
[ -n "$cpu" ] && [ -n "$cpuacct" ] && [ -n "$memory" ] && [ -n "$v2" ] || { echo "this test needs cgroups of both versions"; echo "0 passed, 1 failed"; exit 1; }
mine=seismo-cgroups.$$ hog= live= loop=
on_exit() {
	local i d
	for i in $hog $live; do kill -9 "$i" 2>/dev/null; done
	[ -z "$loop" ] || losetup -d "$loop"
	for ((i = 0; i < 50; i++)); do # one that had tasks just now is busy for a moment
		for d in "$cpu" "$cpuacct" "$memory" "$v2"; do
			[ ! -d "$d/$mine" ] || find "$d/$mine" -depth -type d -exec rmdir {} + 2>/dev/null
		done
		[ -d "$cpu/$mine" ] || [ -d "$cpuacct/$mine" ] || [ -d "$memory/$mine" ] || [ -d "$v2/$mine" ] || return
		sleep 0.1
	done
}

reported() { # ENTITY METRIC: the sum over all ticks
	ask "select round(coalesce(sum(value), 0)::numeric, 6)::float8 from api.series where entity like '$1' and entity_kind = 'cgroup' and metric = '$2'"
}

is_about() { # A B: as near as float32 is
	awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= 0.00001 + b * 0.00001) }'
}

await_about() { # VALUE ENTITY METRIC: until that much of it is reported, for 40 s
	local i
	for ((i = 0; i < 40; i++)); do
		is_about "$(reported "$2" "$3")" "$1" && return
		sleep 1
	done
	echo "$3 of $2: $(reported "$2" "$3"), not $1"
	return 1
}

line() { # FILE KEY
	awk -v k="$2" '$1 == k { print $2 }' "$1"
}

seconds() { # NS
	awk -v n="$1" 'BEGIN { printf "%.6f", n / 1e9 }'
}

labels_of() { # LABEL...: all labels of those that have these
	local l args=()
	for l; do args+=(--data-urlencode "label=$l"); done
	curl -sG "http://$WEB/api/v1/series" -d metric=container_cgroups "${args[@]}" |
		python3 -c 'import json, sys; print(*(json.dumps(s["labels"], sort_keys=True) for s in json.load(sys.stdin)["series"]))'
}

has_label() { # LABEL PATH: the one that has it
	local i
	for ((i = 0; i < 30; i++)); do
		[[ "$(labels_of "$1")" == *"\"path\": \"$2\""* ]] && return
		sleep 1
	done
	labels_of "$1"
	return 1
}

foreign() { # cgroups that are not ours
	find "$cpu" "$v2" -type d -not -path "*/$mine*" 2>/dev/null | sort
}

# I/O of a program of its own name in a cgroup, as it says itself: READS, WRITES and then its seven numbers in $io.
io_in() { # CGROUP_DIR NAME READS WRITES: $live is stopped
	local i
	cp "$B/tools/diskio" "$tmp/$2"
	(echo $BASHPID >"$1/cgroup.procs" && exec "$tmp/$2" "$loop" "$3" "$4") & live=$!
	for ((i = 0; i < 300; i++)); do
		[ "$(awk '{ print $3 }' "/proc/$live/stat")" = T ] && break
		sleep 0.1
	done
	io=$(awk '{ v[$1] = $2 } END { print v["read_bytes:"], v["write_bytes:"], v["cancelled_write_bytes:"], v["rchar:"], v["wchar:"], v["syscr:"], v["syscw:"] }' "/proc/$live/io")
}

io_reported() { # KIND ENTITY: the same seven numbers as stored, each the sum over all ticks
	ask "select coalesce(sum(value) filter (where metric = 'task_read_bytes_total'), 0), sum(value) filter (where metric = 'task_write_bytes_total'),
		sum(value) filter (where metric = 'task_cancelled_write_bytes_total'), sum(value) filter (where metric = 'task_rchar_bytes_total'),
		sum(value) filter (where metric = 'task_wchar_bytes_total'), sum(value) filter (where metric = 'task_read_calls_total'),
		sum(value) filter (where metric = 'task_write_calls_total') from api.series where entity_kind = '$1' and entity = '$2'"
}

io_is_right() { # KIND ENTITY
	local i
	for ((i = 0; i < 40; i++)); do
		[ "$(io_reported "$@")" = "$io" ] && return
		sleep 1
	done
	echo "$2: $(io_reported "$@"), not $io"
	return 1
}

new_disk() {
	truncate -s 64M "$tmp/disk.img"
	loop=$(losetup -f --show "$tmp/disk.img")
}

stack_open
new_disk || { echo "no loop device here"; echo "0 passed, 1 failed"; exit 1; }
has_root() {
	ask "select count(*) > 0 from entity where kind = 'cgroup' and name = '/'"
}
ok "the root cgroup is reported" await_value t has_root

# One with a quota, in which somebody burns CPU; one with a memory limit, in which somebody takes more; and names.
for d in "$cpu" "$cpuacct" "$v2"; do mkdir -p "$d/$mine/hog"; done
mkdir -p "$memory/$mine/mem"
echo 262144 >"$cpu/$mine/cpu.shares" # it is stopped by its quota, whoever else wants the processors
echo 10000 >"$cpu/$mine/hog/cpu.cfs_quota_us"
(for d in "$cpu" "$cpuacct" "$v2"; do echo $BASHPID >"$d/$mine/hog/cgroup.procs"; done; while :; do :; done) & hog=$!
echo 16M >"$memory/$mine/mem/memory.limit_in_bytes"
{ (echo $BASHPID >"$memory/$mine/mem/cgroup.procs" && exec python3 tests/it/source/cgroups.py eat 64); } 2>/dev/null
ok "more memory than the limit ends a process" test "$(line "$memory/$mine/mem/memory.oom_control" oom_kill)" -ge 1
id=$(printf '%064x' $$) uid=$(printf '0a1b2c3d-4e5f-6071-8293-%012x' $$)
docker=/$mine/docker/$id
pod=/$mine/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${uid//-/_}.slice/cri-containerd-${id//0/f}.scope
job=/$mine/slurm/uid_1000/job_$$/step_0
mkdir -p "$memory$docker" "$memory$pod" "$memory$job"
ok "a container is found by its id" has_label "container=$id" "$docker"
ok "a pod by its uid" has_label "pod=$uid" "$pod"
ok "a job by its number" has_label "job=$$" "$job"
ok "a pod has all labels that its path gives" test "$(labels_of "pod=${uid%-*}*" "container=${id//0/f}")" = \
	"{\"container\": \"${id//0/f}\", \"kind\": \"cgroup\", \"path\": \"$pod\", \"pod\": \"$uid\", \"qos\": \"burstable\", \"runtime\": \"containerd\", \"slice\": \"kubepods-burstable-pod${uid//-/_}.slice\"}"

# I/O: of one that is made and gone between two looks, and of one that lives, in either version.
mkdir -p "$memory/$mine/io/made" "$v2/$mine/io2"
made=0
io_in "$memory/$mine/io/made" "made$$" 100 50
kill -9 "$live"
wait "$live" 2>/dev/null
for _ in $(seq 50); do # it may be busy for a moment
	rmdir "$memory/$mine/io/made" 2>/dev/null && made=1 && break
	sleep 0.1
done
made_io=$io
io_in "$memory/$mine/io" "live$$" 300 200
live_io=$io first=$live
io_in "$v2/$mine/io2" "two$$" 10 20
ok "a cgroup of version 2: bytes and calls are those of /proc/PID/io ($io)" io_is_right cgroup "/$mine/io2"
kill -9 "$live"
wait "$live" 2>/dev/null
io=$live_io live=$first
ok "of a cgroup that lives as well ($io)" io_is_right cgroup "/$mine/io"
ok "and of the program" io_is_right program "live$$"
ok "the bytes are those that were read and written" test "${io%% 0 *}" = "$((300 * 65536)) $((200 * 4096))"
io=$made_io
ok "of one that is made and removed meanwhile" test "$made" = 1
ok "bytes and calls are stored under its name" io_is_right cgroup "/$mine/io/made"
ok "and under that of the program" io_is_right program "made$$"
io=$live_io
kill -9 "$live"
wait "$live" 2>/dev/null
live=

# 600 with a quota each, in each of which somebody burns CPU: beyond 512 they are one, with nothing lost.
before=$(foreign)
mkdir "$cpu/$mine/many"
(cd "$cpu/$mine/many" && mkdir $(seq 600) && for i in $(seq 600); do echo 1000 >"$i/cpu.cfs_quota_us"; echo 10000 >"$i/cpu.cfs_period_us"; done) 2>/dev/null
count=$(ls -d "$cpu/$mine/many"/*/ | wc -l)
others() {
	ask "select coalesce(max(value), 0)::int > 80 from api.series where entity = '(others)' and metric = 'container_cgroups'"
}
ok "600 more are made" test "$count" = 600
ok "those beyond 512 are others" await_value t others
python3 tests/it/source/cgroups.py spend "$cpu/$mine/many"/*/
kill -9 $hog
wait $hog 2>/dev/null
hog=
all=$(cat "$cpu/$mine/many"/*/cpu.stat | awk '$1 == "throttled_time" { n += $2 } END { printf "%.6f", n / 1e9 }')
listed_and_others() {
	ask "select round(coalesce(sum(value), 0)::numeric, 6)::float8 from api.series where metric = 'container_cpu_cfs_throttled_seconds_total'
		and (entity = '(others)' or entity like '/$mine/many/%')"
}
total_is_right() {
	local i
	for ((i = 0; i < 40; i++)); do
		is_about "$(listed_and_others)" "$all" && return
		sleep 1
	done
	[ "$before" != "$(foreign)" ] && awk -v a="$(listed_and_others)" -v b="$all" 'BEGIN { exit !(a >= b - 0.001) }' && return
	echo "$(listed_and_others), not $all"
	return 1
}
ok "somebody was throttled in them ($all s)" awk -v a="$all" 'BEGIN { exit !(a > 0.5) }'
ok "throttled time is complete over listed cgroups and others" total_is_right
ok "no count ever ran backwards" test "$(ask "select count(*) from api.series where entity_kind = 'cgroup' and counter and value < 0")" = 0
ok "no more than 512 are listed" test "$(ask "select count(distinct entity) <= 512 from api.series where entity like '/%' and entity_kind = 'cgroup' and metric = 'container_cgroups'
	and ts = (select max(ts) from api.series where entity = '(others)')")" = t

throttled_event() { # WHAT: of the event of the one whose quota stops it
	ask "select $1 from event where kind = 'cpu.quota' and params ->> 'cgroup' = '/$mine/hog'"
}
ok "that a quota stops a cgroup is one event, which names it and its quota" test \
	"$(throttled_event "count(distinct event_id) || ' ' || max(params ->> 'cpus') || ' ' || (max((params ->> 'lost_s')::float) > 1) || ' ' || (max((params ->> 'pct')::float) > 80)")" = "1 0.1 true true"
used=$(seconds "$(cat "$cpuacct/$mine/hog/cpuacct.usage")") throttled=$(seconds "$(line "$cpu/$mine/hog/cpu.stat" throttled_time)")
ok "the CPU time of a cgroup is its own ($used s)" await_about "$used" "/$mine/hog" container_cpu_usage_seconds_total
ok "the time that its quota stopped it as well ($throttled s)" await_about "$throttled" "/$mine/hog" container_cpu_cfs_throttled_seconds_total
ok "and there was some" awk -v a="$throttled" 'BEGIN { exit !(a > 1) }'
ok "and the periods" await_about "$(line "$cpu/$mine/hog/cpu.stat" nr_periods)" "/$mine/hog" container_cpu_cfs_periods_total
ok "the quota is reported" test "$(ask "select max(value) from api.series where entity = '/$mine/hog' and metric = 'container_spec_cpu_quota'")" = 10000
ok "nothing is counted twice at the end of a program" io_is_right cgroup "/$mine/io"
ok "hits of a memory limit are counted" await_about "$(cat "$memory/$mine/mem/memory.failcnt")" "/$mine/mem" container_memory_failcnt
ok "OOM kills are counted" await_about "$(line "$memory/$mine/mem/memory.oom_control" oom_kill)" "/$mine/mem" container_oom_events_total
ok "the memory limit is reported" test "$(ask "select max(value) from api.series where entity = '/$mine/mem' and metric = 'container_spec_memory_limit_bytes'")" = 16777216
throttled_is_over() {
	[ "$(throttled_event "$(in_last_report going_on)")" = 0 ]
}
ok "and the event is closed when the throttling is over" await 450 throttled_is_over
done_checking
