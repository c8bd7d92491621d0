#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# spool.sh - what a probe could not deliver waits on disk, over a stop and a kill of the probe, and comes once.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

stack_open
read -r port < <(free_ports 1)
"$B/tools/server" "$port" & started=$!
on_exit() { kill "$started"; }
listening "$port"
spool=$VAR/spool

fail_n() { # PATH N: requests that must become rows
	curl -s -o /dev/null -m 20 "http://127.0.0.1:$port$1?s=503&n=[1-$2]"
}

rows_of() { # PATH: how many, and how many different ones
	ask "select count(*) || ' ' || count(distinct request_id) from request where local_port = $port and path = '$1'"
}

segments() {
	find "$spool" -name '*.seg' | wc -l
}

some_segments() {
	[ "$(segments)" -gt 0 ]
}

said() { # SENTENCE: how often since the probe last started
	tac "$VAR/log/probe.log" | sed '/^--- probe started/q' | grep -c "$1"
}

bytes() {
	du -sb "$spool" | cut -f1
}

written() { # more than there was, and all that comes
	local now
	now=$(bytes)
	sleep 1 # time: it writes several times a second
	[ "$now" -gt "$before" ] && [ "$(bytes)" = "$now" ]
}

fail_n /before 10
ok "a collector that is there gets rows at once" await_value "10 10" rows_of /before
sleep 6 # time: what waits goes to disk after 5 s
ok "and nothing is written to disk" [ "$(segments)" = 0 ]
ok "the spool is for the probe alone" [ "$(stat -c '%a %U' "$spool")" = "700 root" ]

end_part collector KILL
fail_n /waits 200
ok "what waits for 5 s is on disk" eval 'for i in $(seq 100); do some_segments && break; sleep 0.1; done; some_segments'
before=$(bytes)
fail_n /waits 50
ok "and what comes after it" await 300 written
ok "a probe is killed" end_part probe KILL
ok "the stack starts again" stack_start
ok "it says what it sends first" [ "$(said 'batches of the last run are sent first')" = 1 ]
ok "every request that waited is a row, once" await_value "250 250" rows_of /waits
ok "and no file is left of it" await_value 0 segments
fail_n /after 10
ok "then come the new ones" await_value "10 10" rows_of /after

key_of_probe() {
	sed -n 's/^# Its public key is //p' "$VAR/keys/probe/node.key"
}

was=$(key_of_probe)
ok "the stack's own collector takes commands" make -s collector ARGS="node rotate test"
ok "the probe makes itself a new key, behind its filter" eval 'for i in $(seq 150); do [ "$(key_of_probe)" = "$was" ] || break; sleep 0.1; done; [ "$(key_of_probe)" != "$was" ]'
fail_n /rotated 20
ok "and goes on under it" await_value "20 20" rows_of /rotated
ok "which is the only one" await_value "1" ask "select count(*) from node_key where state = 1"

end_part collector KILL
fail_n /stopped 100
ok "a probe is stopped before anything has waited for 5 s" end_part probe TERM
ok "it says that the next start sends the rest" [ "$(said 'the next start sends them')" = 1 ]
ok "the stack starts again after that" stack_start
ok "every request from before the stop is a row, once" await_value "100 100" rows_of /stopped
ok "no batch is missing, and none is in quarantine" [ "$(ask "select (select count(*) from gap) + (select count(*) from quarantine)")" = 0 ]

PROBE_FLAGS="--spool /proc/nowhere"
ok "a probe whose spool cannot be made starts" stack_start
ok "and says so, and that it goes on in memory" [ "$(said 'cannot be the spool.*in memory only')" = 1 ]
fail_n /memory 10
ok "it delivers" await_value "10 10" rows_of /memory
PROBE_FLAGS=
ok "the stack is as it was" stack_start

mount -t tmpfs -o size=64k none "$spool" && mounted=1
on_exit() { kill "$started"; stack stop >/dev/null 2>&1; umount "$spool"; }
ok "a probe starts on a small disk" end_part probe TERM
stack_start
end_part collector KILL
for i in 1 2 3 4; do
	fail_n /full 100
	sleep 3 # time: each part goes to disk by itself
done
ok "a full disk is logged once" [ "$(said 'cannot write to the spool.*No space left')" = 1 ]
ok "the collector comes back" stack_start
ok "every request is a row, from disk and from memory" await_value "400 400" rows_of /full
done_checking
