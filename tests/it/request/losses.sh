#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# losses.sh - requests that a probe cannot take are counted exactly and reported, and those it takes are right: the reader of a
# small ring is stopped for 20,000 requests, and a thousand clients come where 64 connections are followed. For each way to see
# requests; the probe watches a cgroup with nothing but the server in it.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

server=
cgroup_make
on_exit() {
	[ -z "$server" ] || kill $server
	cgroup_gone
}
trap 'on_exit; rm -rf "$tmp"' EXIT
read -r port < <(free_ports 1)
touch "$tmp/served"
(cgroup_join && exec "$B/tools/server" "$port" --log "$tmp/served") & server=$!
stack_open --slow-ms 0

load() { # PREFIX RATE SECONDS CONNS: what it sent is $sent
	: >"$tmp/served"
	sent=$("$B/tools/load" "127.0.0.1:$port" --prefix "$1" --rate "$2" --seconds "$3" --conns "$4" | awk '{ print $2 }')
}

rows() { # PREFIX
	ask "select count(*) from request where local_port = $port and path like '$1%'"
}

# Every row is what the server has in its log: that request, on that connection, once. Prints others.
right() { # PREFIX
	local others
	others=$(ask_all <<END
create temp table served (client int, us bigint, id text);
\\copy served from pstdin delimiter ' '
$(cat "$tmp/served")
\\.
select r.path, r.remote_port, r.status, r.request_us, s.client, r.same from
	(select *, count(*) over (partition by path) as same from request where local_port = $port and path like '$1%') r
	left join served s on r.path = '$1' || s.id where (r.remote_port, r.status, r.same) is distinct from (s.client, 200, 1::bigint);
END
	) || return 1
	[ -z "$others" ] || { echo "$others"; return 1; }
}

# Requests that the server had on the connections that have rows.
on_survivors() { # PREFIX
	ask "select distinct remote_port from request where local_port = $port and path like '$1%'" |
		awk 'NR == FNR { of[$1]; next } $1 in of { n++ } END { print n + 0 }' - "$tmp/served"
}

survivors() { # PREFIX
	ask "select count(distinct remote_port) from request where local_port = $port and path like '$1%'"
}

account() { # PREFIX COUNTER BEFORE: rows and what was lost
	echo $(($(rows "$1") + $(coverage "$2") - $3))
}

# KiB: of the process, and of the kernel's maps
memory() {
	local pid
	pid=$(part_pid_of probe)
	echo $(($(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status") + $(cat "/proc/$pid"/fdinfo/* 2>/dev/null | awk '/^memlock/ { n += $2 } END { printf "%d", n / 1024 }')))
}

api_reports() { # COUNTER N: the coverage of the last minutes, and the page of the nodes
	curl -s "http://$WEB/api/v1/coverage" | python3 -c '
import json, sys
c = json.load(sys.stdin)["coverage"]
sys.exit([l["count"] for l in c["losses"] if l["name"] == sys.argv[1]] != [int(sys.argv[2])])' "$1" "$2" &&
		curl -s "http://$WEB/api/v1/nodes" | python3 -c '
import json, sys
n = json.load(sys.stdin)["nodes"]
sys.exit([m["coverage"].get(sys.argv[1]) for m in n] != [int(sys.argv[2])])' "$1" "$2"
}

served() { # N: so many of this load
	[ "$(wc -l <"$tmp/served")" -ge "$1" ]
}

# Begins in the background, and with nothing served: whoever waits for some must not see those of a load before.
load_aside() { # PREFIX: its process is $loading
	: >"$tmp/served"
	load "$1" 4000 8 100 & loading=$!
}

stop_reader() { # PID FROM TO: while these requests are served, however long that takes
	await 600 served "$2" && kill -STOP "$1"
	await 600 served "$3"
	kill -CONT "$1"
}

ring_full() {
	local name="$rung, a reader that is stopped" prefix="/$rung-ring/" before memory stopped loading warm more
	probe_by "$rung" --slow-ms 0 --rows-per-s 1000000 --ring-mb 1 --scope "cgroup=$cgroup"
	before=$(coverage ring_full) stopped=$(part_pid_of probe)
	load_aside "/$rung-warm/" # has it take what it needs for a full ring: the same once more is to need no more
	stop_reader "$stopped" 6000 26000
	wait $loading
	sent=$(wc -l <"$tmp/served")
	await_value "$sent" account "/$rung-warm/" ring_full "$before"
	before=$(coverage ring_full) memory=$(memory) warm=$(rows "/$rung-warm/")
	load_aside "$prefix"
	stop_reader "$stopped" 6000 26000
	wait $loading
	sent=$(wc -l <"$tmp/served")
	ok "$name: rows and losses are all that was sent" await_value "$sent" account "$prefix" ring_full "$before"
	lost=$(($(coverage ring_full) - before))
	more=$(($(rows "$prefix") - warm)) # these were kept at a time, too, as half a KiB each
	echo "$name: sent $sent, rows $(rows "$prefix"), $warm before, lost $lost; memory $memory KiB before, $(memory) after"
	ok "$name: there were losses, and not only" test $lost -gt 5000 -a $lost -lt $((sent * 9 / 10))
	ok "$name: every row is right" right "$prefix"
	ok "$name: no more memory than before" test "$(memory)" -le $((memory + 2048 + (more > 0 ? more : 0) / 2))
	ok "$name: the API reports the losses" api_reports ring_full "$(coverage ring_full)"
}

conns_full() {
	local name="$rung, a thousand clients where 64 are followed" prefix="/$rung-conns/" before memory
	probe_by "$rung" --slow-ms 0 --rows-per-s 1000000 --conns 64 --scope "cgroup=$cgroup"
	load "/$rung-few/" 1000 1 50
	await_value "$sent" rows "/$rung-few/"
	before=$(coverage conn_full) memory=$(memory)
	load "$prefix" 2000 3 1000
	ok "$name: rows and losses are all that was sent" await_value "$sent" account "$prefix" conn_full "$before"
	lost=$(($(coverage conn_full) - before))
	echo "$name: sent $sent, rows $(rows "$prefix") of $(survivors "$prefix") connections, lost $lost; memory $memory KiB before, $(memory) after"
	ok "$name: 64 have rows" test "$(survivors "$prefix")" = 64
	ok "$name: all of theirs" test "$(on_survivors "$prefix")" = "$(rows "$prefix")"
	ok "$name: every row is right" right "$prefix"
	ok "$name: no more memory than before" test "$(memory)" -le $((memory + 2048))
	ok "$name: the API reports the losses" api_reports conn_full "$(coverage conn_full)"
	load "/$rung-again/" 1000 1 50
	ok "$name: there is room again when they are gone" await_value "$sent" rows "/$rung-again/"
}

for rung in $(rungs); do
	ring_full
	conns_full
done
ok "nothing was withheld, nothing lost on the way" test "$(coverage rows_withheld)" = 0 -a "$(ask "select coalesce(sum(value), 0) from api.coverage where name = 'requests_lost'")" = 0
done_checking
