#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# crowded.sh - an event loop that sleeps inside the kernel in the midst of a request, here for the lock of its address
# space, is still at that request: what it calls then belongs to it. For each way to see requests.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

started=
on_exit() { kill $started 2>/dev/null; }
stack_open --slow-ms 0
read -r port upstream < <(free_ports 2 | tr '\n' ' ')
"$B/tools/server" "$upstream" & started=$!
"$B/tools/crowded" "$port" "$upstream" & started+=" $!"
listening "$port" "$upstream"

slept() { # requests for which the loop slept
	ask "select count(*) from request where local_port = $port and path like '/$rung/%' and status = 500"
}

for rung in $(rungs); do
	probe_by "$rung" --slow-ms 0
	for ((i = 0; i < 50; i++)); do
		curl -s -o /dev/null -m 10 "http://127.0.0.1:$port/$rung/[1-20]"
		[ "$(slept)" -lt 20 ] || break
		sleep 0.2
	done
	ok "$rung: a loop slept in the midst of twenty requests" test "$(slept)" -ge 20
	ok "$rung: and each has the call that it made then" test "$(ask "select count(*) from request where local_port = $port
		and path like '/$rung/%' and status = 500 and upstreams -> 0 ->> 'addr' is distinct from '127.0.0.1:$upstream'")" = 0
done
done_checking
