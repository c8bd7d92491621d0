#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# drops.sh - packets that the kernel drops are counted by its reason: as many as were sent and did not arrive.
# As this stack has little to do, also the overhead that the probe reports, and that a source keeps to its budget.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

reported() { # REASON: the sum over all ticks
	ask "select coalesce(sum(value), 0)::int from api.series where entity = '$1' and metric = 'skb_drops_total'"
}

reported_at_least() { # REASON N: others may send to nobody, too
	[ "$(reported "$1")" -ge "$2" ] && echo so
}

# 2,000 datagrams to a socket with no room for them, and to one that is not there. Prints how many did not arrive.
send() {
	python3 - <<-END
	import socket
	full, gone, out = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3))
	full.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
	full.bind(("127.0.0.1", 0))
	gone.bind(("127.0.0.1", 0))
	nobody = gone.getsockname()
	gone.close()
	for _ in range(2000):
	    out.sendto(bytes(500), full.getsockname())
	full.setblocking(False)
	arrived = 0
	try:
	    while full.recv(1000):
	        arrived += 1
	except BlockingIOError:
	    pass
	lost = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	for _ in range(2000):
	    lost.sendto(bytes(500), nobody)
	print(2000 - arrived)
	END
}

latest() { # METRIC ENTITY: as the newest sample that has it says
	ask "select value from api.series where metric = '$1' and entity = '$2' and value <> 'nan' order by ts desc limit 1"
}

sum_of() { # METRIC ENTITY
	ask "select coalesce(sum(value) filter (where value <> 'nan'), 0) from api.series where metric = '$1' and entity = '$2'"
}

cpu_of() { # PID: seconds
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/$1/stat"
}

is_about() { # VALUE OF PART: within this part of it
	awk -v a="${1:-0}" -v b="$2" -v part="$3" 'BEGIN { d = a - b; exit !(d * d <= part * part * b * b) }'
}

# Each of these asks the database, which is dearer than to wait for it.
slowly() {
	sleep 1 # time: between two looks
}

process_reported() { # PID: as /proc has it, within the part that ten seconds may change
	slowly
	is_about "$(latest process_resident_memory_bytes "")" "$(awk '/^VmRSS/ { print $2 * 1024 }' "/proc/$1/status")" 0.2 &&
		is_about "$(sum_of process_cpu_seconds_total "")" "$(cpu_of "$1")" 0.3
}

programs_reported() { # of a source as many as the kernel has of its descriptors, with maps and runs
	slowly
	[ "$(latest source_programs drops)" -ge 1 ] && [ "$(latest source_map_bytes drops)" -gt 1000 ] &&
		[ "$(sum_of source_program_runs_total drops)" -ge 1000 ]
}

reads_reported() {
	slowly
	[ "$(sum_of source_reads_total proc)" -gt 2 ]
}

throttled() {
	slowly
	curl -sf "http://$WEB/api/v1/nodes" | grep -q '"name" *: *"proc", *"state" *: *"throttled"' &&
		curl -sf "http://$WEB/api/v1/events?kind=probe.budget" | grep -q '"source" *: *"proc"'
}

stack_open
full=$(reported SOCKET_RCVBUFF) gone=$(reported NO_SOCKET)
dropped=$(send)
ok "each datagram that finds no room ($dropped) is counted" await_value $((full + dropped)) reported SOCKET_RCVBUFF
ok "and there were some" test "$dropped" -gt 1000
ok "so is one that nobody listens for" await_value so reported_at_least NO_SOCKET $((gone + 2000))
ok "the API names them" eval 'curl -sf "http://$WEB/api/v1/series?metric=skb_drops_total&entity=SOCKET_RCVBUFF" | grep -q SOCKET_RCVBUFF'
probe_pid=$(part_pid_of probe)
ok "the probe reports its memory and its CPU time as /proc has them" await 300 process_reported "$probe_pid"
ok "and the kernel programs, maps and runs of a source" await 300 programs_reported
ok "reads of a source are counted" await 300 reads_reported
ok "and none failed" test "$(sum_of source_read_errors_total proc)" = 0
PROBE_FLAGS="--budget-percent 0.0001" stack_start
ok "a source that exceeds its budget is read less often, shown by an event and by the node" await 900 throttled
ok "and what it left out is counted" await 900 eval 'slowly; [ "$(sum_of source_reads_skipped_total proc)" -ge 1 ]'
done_checking
