#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kernel.sh - what the kernel itself reports becomes events, over a whole stack: a kill for want of memory, a damaged file
# system, a task that hangs on a frozen one. What users write into the kernel's log becomes none. All is put back.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

limited=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/self/mounts)/seismo-test.$$
hung=(hung_task_timeout_secs hung_task_warnings hung_task_check_interval_secs)
was=() stuck=
for name in "${hung[@]}"; do
	was+=("$(cat /proc/sys/kernel/$name)")
done

set_hung() { # TIMEOUT WARNINGS INTERVAL
	local i=0 value
	for value; do
		echo "$value" >/proc/sys/kernel/"${hung[i]}"
		i=$((i + 1))
	done
}

on_exit() {
	set_hung "${was[@]}"
	fsfreeze -u "$tmp/frozen" 2>/dev/null
	[ -z "$stuck" ] || wait $stuck
	umount "$tmp/frozen" "$tmp/broken" 2>/dev/null
	rmdir "$limited" 2>/dev/null
}

events() { # WHERE COLUMNS
	ask "select $2 from event v where $1"
}

image() { # NAME: a small ext4, mounted there
	truncate -s 8M "$tmp/$1.img"
	mkfs.ext4 -q "$tmp/$1.img"
	mkdir -p "$tmp/$1"
	mount -o loop,errors=remount-ro "$tmp/$1.img" "$tmp/$1"
}

device() { # NAME
	losetup -j "$tmp/$1.img" | sed 's|^/dev/\([a-z0-9]*\):.*|\1|'
}

stack_open
probe_first
since=$(ask "select now()")
ok "each source of the kernel's own story is attached" await_value 4 ask "select count(*) from source where state = 1 and name in ('kmsg', 'oom', 'stuck', 'reclaim')"

# A line of a user's: whatever priority it asks for, its facility is not the kernel's.
for level in "" "<0>" "<4>"; do
	echo "${level}EXT4-fs error (device sdz$$): made up" >/dev/kmsg
done

mkdir "$limited" && echo 20M >"$limited/memory.limit_in_bytes"
(echo $BASHPID >"$limited/cgroup.procs" && exec python3 -c 'a = bytearray(100 << 20)') 2>/dev/null &
victim=$!
{ wait $victim; } 2>/dev/null
ok "a process is killed for want of memory" test $? = 137
o="v.kind = 'mem.oom' and v.pid = $victim"
ok "that is one event, with who and where" await_value "1 python3 /seismo-test.$$" events "$o" "count(*), min(comm), min(params ->> 'cgroup')"
ok "with the limit, and what it held" test "$(events "$o" "(params ->> 'limit_bytes')::numeric = 20 << 20 and (params ->> 'rss_bytes')::numeric between 15 << 20 and 60 << 20")" = t
ok "with who had most" test "$(events "$o" "params ->> 'top' like 'python3[$victim] %MiB%'")" = t
ok "with the stack from where it was asked for" await_value t ask \
	"select bool_or(exists (select from unnest(s.frames) f where f like '%oom%')) from event v join evidence e on e.owner_id = v.event_id join stack s using (stack_id) where $o"
ok "the reclaim before it was timed" await_value t ask "select count(*) > 0 from api.series where metric like 'memory_cgroup_reclaim_latency_us_%' and value > 0"

image broken
echo text >"$tmp/broken/file"
umount "$tmp/broken"
debugfs -w -R "clri file" "$tmp/broken.img" 2>/dev/null
mount -o loop,errors=remount-ro "$tmp/broken.img" "$tmp/broken"
dev=$(device broken)
for i in 1 2 3 4 5 6 7 8 9 10; do
	cat "$tmp/broken/file" 2>/dev/null
done
ok "a damaged file system is one event" await_value "1 fs.error" events "params ->> 'dev' = '$dev' and kind = 'fs.error'" "count(*), min(kind)"
ok "and that it takes no writes any more another" await_value 1 events "params ->> 'dev' = '$dev' and kind = 'fs.readonly'" "count(distinct event_id)"
ok "each has its line" test "$(events "params ->> 'dev' = '$dev'" "bool_and(params ->> 'line' like 'EXT4-fs%$dev%' or params ->> 'line' like 'Aborting journal%')")" = t
umount "$tmp/broken"

image frozen
set_hung 5 10 0
fsfreeze -f "$tmp/frozen"
dd if=/dev/zero of="$tmp/frozen/file" count=1 2>/dev/null &
stuck=$!
k="v.kind = 'task.stuck' and v.pid = $stuck"
logged() { dmesg | grep -c "INFO: task dd:$stuck blocked for more than 5 seconds"; }
ok "the kernel's log calls a task hung" await_value 1 logged
line=$(date +%s.%N)
ok "that is an event which goes on" await_value "1 t" events "$k and going_on = 1 and params ->> 'hung_task' = 'yes'" "count(distinct event_id), count(*) > 0"
ok "at most 3 s after the kernel's line" test "$(events "$k and params ->> 'hung_task' = 'yes'" "min(stored) - to_timestamp($line) < interval '3 s'")" = t
ok "it names who and in which call" test "$(events "$k and told = 1" "comm || ' ' || (params ->> 'call' ~ '^(openat|write|dup2|dup3|close)$')")" = "dd true"
ok "with its stack" await_value t ask "select bool_or(cardinality(s.frames) > 3) from event v join evidence e on e.owner_id = v.evidence_id join stack s using (stack_id) where $k"
fsfreeze -u "$tmp/frozen"
wait $stuck
ok "it is over when the task moves" await_value "0" events "$k and told = (select max(told) from event v where $k)" going_on
ok "and was reported 4 times at most" test "$(events "$k" "count(*) <= 4")" = t
ok "what the API says is one event that is over" await_value "1 0" ask \
	"select count(*), count(*) filter (where (body ->> 'goingOn')::bool) from api.event where kind = 'task.stuck' and (body ->> 'pid')::int = $stuck"
stuck=
umount "$tmp/frozen"

ok "lines of users are no events" test "$(events "params ->> 'line' like '%sdz$$%'" "count(*)")" = 0
ok "but are counted" test "$(ask "select sum(value) >= 3 from api.series where metric = 'kernel_log_user_total'")" = t
ok "no line was lost" test "$(coverage kernel_lines_lost)" = 0
done_checking
