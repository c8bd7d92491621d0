#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# keep.sh - what is normal on a route outlives the probe: over a whole stack, by a stop, a kill and a damaged file.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

stack_open
read -r port < <(free_ports 1)
"$B/tools/server" "$port" & started=$!
on_exit() { kill "$started"; }
state=$VAR/probe.state
first=300000 # the limit of a route that is not known, us
listening "$port"

ask_server() { # PATH
	curl -s -o /dev/null -m 5 "http://127.0.0.1:$port$1"
}

# The limit itself is not compared: on a busy machine a few of those learnt are late, and raise it.
rows_of() { # PATH: how many of those asked to be slow, and whether each was judged by what was learnt of it
	ask "select count(*) || ' ' || coalesce(bool_and(limit_us <> $first)::text, '') from request where local_port = $port and path = '$1' and request_us > 1900000"
}

learn() { # PATH: so often that it is known, and not slow enough to be a row
	curl -s -o /dev/null -m 20 "http://127.0.0.1:$port$1?n=[1-150]"
	await 300 counted "$1" 150
}

counted() { # PATH LEAST
	[ "$(ask "select coalesce(sum(n), 0) from red join red_key k using (node_id, key_id) where k.role = 0 and k.peer = ':$port' and k.route like '% $1'")" -ge "$2" ]
}

learn /known
ok "nothing is written before its time" test ! -e "$state"
ok "the probe stops" end_part probe TERM
ok "it leaves what it knows, for its own eyes" [ "$(stat -c '%a %U' "$state")" = "600 root" ]
ok "and nothing half written" test ! -e "$state.new"
ok "the stack starts again" stack_start
ask_server "/known?d=2000"
ask_server "/unknown?d=2000"
ok "a route that was known is judged by its own limit at its first request" await_value "1 true" rows_of /known
ok "one that was not, by 300 ms" await_value "1 false" rows_of /unknown

before=$(stat -c %i "$state")
ok "a probe is killed" end_part probe KILL
ok "the file of the one before is there still" [ "$(stat -c %i "$state")" = "$before" ]
truncate -s -3 "$state"
ok "a probe starts on a damaged file" stack_start
ok "says so once, with what it does about it" [ "$(cat "$VAR"/log/probe* | grep -c 'cannot be used (damaged).*learnt from scratch')" = 1 ]
ok "and counts it" await_value 1 coverage state_refused
ask_server "/known?d=2000"
ok "what was known is learnt anew" await_value "2 false" rows_of /known
learn /later
end_part probe TERM
stack_start
ask_server "/later?d=2000"
ok "and what is learnt then is kept again" await_value "1 true" rows_of /later
done_checking
