#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# keeper.sh - what make run started is started again when it ends by itself, PostgreSQL included, and this is said. make run
# names the sources that are off.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

export KEEPER=on
stack_open --cpu-stall-pct 0 --io-stall-pct 0 --memory-stall-pct 0

runs_anew() { # PART OLD_PID
	local pid
	pid=$(part_pid_of "$1")
	[ -n "$pid" ] && [ "$pid" != "$2" ]
}

restarted() { # PART: it ends by itself
	local pid
	pid=$(part_pid_of "$1")
	[ -n "$pid" ] && kill -KILL "$pid" && await 600 runs_anew "$1" "$pid"
}

well() {
	[ "$(curl -s -o /dev/null -w '%{http_code}' "http://$WEB/healthz")" = 200 ]
}

status_says() { # REGEX
	deploy/dev/stack.sh status >"$tmp/status"
	grep -qE "$1" "$tmp/status" || { cat "$tmp/status"; return 1; }
}

sees_rows() { # since the probe and the collector were started again
	ask "select 1 from node where last_seen > to_timestamp($since)" | grep -q 1
}

ok "make run names a source that is off, and why" grep -q "^Note: source stalls is off: turned off by cpu_stall_pct" "$tmp/stack.out"
ok "and no source that is merely not asked for" eval '! grep -q "source vfs is off" "$tmp/stack.out"'
ok "a keeper runs" status_says "^keeper runs, pid [0-9]+"
for part in probe collector postgres; do
	ok "a $part that is killed is started again" restarted $part
	ok "make status says so" status_says "^[0-9TZ:-]+ $part has ended and is started again"
done
since=$(date +%s)
ok "the collector is well afterwards" await 600 well
ok "and hears the probe" await 600 sees_rows
keeper=$(deploy/dev/stack.sh status | sed -n 's/^keeper runs, pid \([0-9]*\):.*/\1/p')
ok "make stop ends all of it" stack stop
ok "the keeper, too" await 300 eval '[ -n "$keeper" ] && [ ! -d "/proc/$keeper" ]'
ok "and nothing runs" eval '! deploy/dev/stack.sh status | grep -q "runs, pid"'
done_checking
