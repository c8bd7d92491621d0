#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# files.sh - slow operations on files become events, by the clock of whoever was slow; and nothing else does. No server
# is involved: a training script that writes checkpoints, one that only computes, and a storm of syncs.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

cgroup=
on_exit() { cgroup_gone; }

# Of the operations that the script says were slow: how many there are, and how many of them have this.
slow_ones() { # CALL|others KEY; others: all but write and fsync
	awk -F '\t' -v call="$1" -v key="\"$2\": true" '
		$2 != "fast" && (call == "others" ? $1 != "write" && $1 != "fsync" : $1 == call) { n++; good += index($2, key) > 0 }
		END { print n + 0, good + 0 }' "$tmp/train"
}

all_are() { # CALL KEY; and there are some
	read -r n good < <(slow_ones "$1" "$2")
	[ "$n" -gt 0 ] && [ "$n" = "$good" ]
}

# A machine whose host takes its CPU away looks later, and says so in the error.
most_are() { # CALL KEY
	read -r n good < <(slow_ones "$1" "$2")
	[ $((good * 2)) -gt "$n" ]
}

others_are() { # N KEY: at least N were slow, and all that were have this
	all_are others "$2" && [ "$n" -ge "$1" ]
}

events_of() { # PID SINCE
	ask "select count(*) from event where kind = 'io.slow' and pid = $1 and ts >= to_timestamp($2)"
}

total() { # METRIC: all ticks of this probe together
	ask "select coalesce(sum(value), 0)::bigint from api.series where metric = '$1' and entity = '' and ts > to_timestamp($since)"
}

lost() {
	echo $(($(total file_slow_withheld) + $(total file_ring_full)))
}

storm() { # THREADS SECONDS DIR: syncs
	python3 - "$@" <<-'END'
	import os, sys, threading, time
	until = time.monotonic() + float(sys.argv[2])
	def sync(i):
	    fd = os.open(f"{sys.argv[3]}/storm-{i}", os.O_CREAT | os.O_RDWR)
	    while time.monotonic() < until:
	        os.pwrite(fd, b"x" * 4096, 0)
	        os.fdatasync(fd)
	threads = [threading.Thread(target=sync, args=(i,)) for i in range(int(sys.argv[1]))]
	for t in threads: t.start()
	for t in threads: t.join()
	END
}

within() { # COMMAND...: in the cgroup that is watched
	(cgroup_join && "$@")
}

left_over() { # slow operations that are neither reported nor counted as lost
	echo $(($(total file_slow_operations_total) - $(total file_slow_told_total) - $(lost)))
}

rows() {
	ask "select count(*) from event where kind = 'io.slow' and ts > to_timestamp($since)"
}

settle() { # until the counts of this probe stand still, for longer than from one to the next
	local was=none now i
	for ((i = 0; i < 20; i++)); do
		now="$(total file_slow_operations_total) $(total file_slow_told_total) $(lost) $(rows)"
		[ "$now" != "$was" ] || return
		was=$now
		sleep 4
	done
}

# Only what runs in one cgroup: all that is counted, and may be withheld for being too much, is the test's.
cgroup_make
stack_open --scope "cgroup=$cgroup"
mkdir "$tmp/data"
# At real-time priority: its own clock also runs while others have its CPU before and after a call.
within chrt -f 1 python3 tests/it/files/files.py "$WEB" "$tmp/data" >"$tmp/train" 2>&1 || cat "$tmp/train"
cat "$tmp/train"
for call in write fsync; do
	ok "$call: every slow one is an event" all_are $call seen
	ok "$call: one operation is one event, however often it slept" all_are $call one
	ok "$call: it names the process and the thread" all_are $call process
	ok "$call: it has the bytes" all_are $call bytes
	ok "$call: it names the disk" all_are $call device
	ok "$call: its time is the caller's, within the stated error" all_are $call within
	ok "$call: that error is at most 10 ms for most" most_are $call small
	ok "$call: its begin is the caller's" all_are $call when
	ok "$call: on a CPU, blocked and waiting for a CPU add up to it" all_are $call parts
	ok "$call: it has a kernel stack, by name" all_are $call stack
	ok "$call: which begins with what it did, not with what looked" all_are $call bare
done

ok "every other call that is slow is an event" others_are 4 seen
ok "every other call has its bytes" others_are 4 bytes
ok "every other call has the caller's time" others_are 4 within
ok "every other call has a kernel stack" others_are 4 stack

# A second sync that begins while nobody looks is not the first one's end.
read -r syncs sure perhaps reported longest reported_longest error < <(within chrt -f 1 python3 tests/it/files/files.py "$WEB" "$tmp/data" loop)
ok "of $syncs syncs in a row, $sure to $perhaps slow, $reported are reported" test "$reported" -ge "$sure" -a "$reported" -le "$perhaps"
ok "and none is longer than the longest was ($longest ms, $reported_longest reported, within $error)" test $((reported_longest - error)) -le $((longest + 3))

read -r slow reported other_slow other_reported < <(within python3 tests/it/files/files.py "$WEB" "$tmp/data" twins)
# Not all: its own clock also runs while the other has its CPU before and after a call.
ok "the slow writes of two threads that share one slot are reported, of either ($reported of $slow, $other_reported of $other_slow)" \
	test "${slow:-0}" -gt 0 -a "${other_slow:-0}" -gt 0 -a $((${reported:-0} * 2)) -ge "${slow:-1}" -a $((${other_reported:-0} * 2)) -ge "${other_slow:-1}"

since=0
(cgroup_join && exec python3 tests/it/files/files.py - quiet) >"$tmp/quiet" & quiet=$!
wait $quiet
sleep 3 # time: an event would be there
ok "who computes and reads sockets and pipes makes no event" test "$(events_of $quiet "$(cat "$tmp/quiet")")" = 0
ok "nothing was lost so far" test "$(lost)" = 0

PROBE_FLAGS="--slow-file-ms 1 --slow-files-per-s 20 --scope cgroup=$cgroup"
stack_start
since=$(date +%s)
storm 4 3 "$tmp/data" & outside=$!
within storm 32 3 "$tmp/data"
wait $outside
settle
ok "of hundreds in a second only some are reported" test "$(total file_slow_withheld)" -gt 100
ok "each of $(total file_slow_operations_total) is reported, or counted as lost" test "$(left_over)" = 0
ok "the reported ones are stored, and none of a process outside" test "$(rows)" = "$(total file_slow_told_total)"
# Who starts it is in the cgroup, too: a shell that writes its script, and may be several that look for the right python.
ok "they are all of one process" test "$(ask "select count(distinct pid) from event where ts > to_timestamp($since) and params ->> 'file' like '%/storm-%'")" = 1

PROBE_FLAGS="--slow-file-clock timer" # as where the kernel's tick does not serve
stack_start
chrt -f 1 python3 tests/it/files/files.py "$WEB" "$tmp/data" others >"$tmp/train" 2>&1 || cat "$tmp/train"
cat "$tmp/train"
for key in seen within stack bare; do
	ok "by a timer, too, every slow call is $key" others_are 4 $key
done

PROBE_FLAGS="--slow-file-ms 0"
stack_start
since=$(date +%s)
storm 4 2 "$tmp/data"
sleep 3 # time: an event would be there
ok "turned off, it reports nothing" test "$(rows)" = 0
ok "turned off, it says so" await 100 sh -c "curl -sf 'http://$WEB/api/v1/nodes' | grep -q 'turned off by slow_file_ms'"
done_checking
