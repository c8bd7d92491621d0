#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# zoo.sh [SERVER...] - servers of many kinds over TCP, IPv6 and Unix sockets, by both sets of hooks: every request that a client sent
# is one row with its method and status, its time is at most the client's, and there is no other row. LONG=1: more requests, and Java.
# A list of names runs only these servers.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh
. tests/it/zoo/servers.bash

requests=60 limit=60
[ -z "${LONG:-}" ] || requests=600 limit=300
started=
cgroup_make # the machine has other servers
on_exit() { zoo_end; cgroup_gone; }

zoo_end() { # the servers, and whatever processes they started
	[ -z "$started" ] || kill $started 2>/dev/null
	await 50 grep -q "populated 0" "$cgroup/cgroup.events" || echo 1 >"$cgroup/cgroup.kill"
}

wants() { # SERVER COMMAND [NAME...]: whether it is asked for, and installed
	local name=$1 command=$2
	shift 2
	[ $# -eq 0 ] || { [[ " $* " == *" $name "* ]]; return; }
	[ "$name" != java ] || [ -n "${LONG:-}" ] && command -v "$command" >/dev/null
}

is_up() { # PORT SOCKET TRANSPORTS; haproxy listens at SOCKET.PID.tmp, and renames that
	ss -Hltn "sport = :$1" | grep -q . && { [[ $3 != *unix* ]] || ss -Hlx | grep -qF " $2"; }
}

start_server() { # NAME TRANSPORTS
	local port sock dir=$tmp/$1
	port=$(free_ports 1) sock=$dir/sock
	install -d -m 777 "$dir"
	(cgroup_join && export dir port sock && "serve_$1") >"$dir/out" 2>&1 </dev/null &
	started+=" $!"
	echo "$1 $port $sock" >>"$tmp/places"
}

addresses() { # NAME TRANSPORTS
	local port sock
	read -r port sock < <(awk -v n="$1" '$1 == n { print $2, $3 }' "$tmp/places")
	for transport in ${2//,/ }; do
		case $transport in unix) echo "unix:$sock" ;; *) echo "$transport:$port" ;; esac
	done
}

send_all() { # RUNG: a client for each server, all at once
	local line name transports slow clients=
	for line in "${zoo[@]}"; do
		read -r name transports slow _ <<<"$line"
		(cgroup_join && exec timeout "$limit" python3 tests/it/zoo/client.py "$name" "zoo-$1" "$requests" "$slow" $(addresses "$name" "$transports")) \
			>"$tmp/sent.$name" 2>"$tmp/errors.$name" & clients+=" $!"
	done
	wait $clients
	cat "$tmp"/sent.* >"$tmp/sent"
}

rows_of() { # PATTERN
	ask "select count(*) from request where path like '$1'"
}

settled() { # RUNG: all that were sent are rows, or no row came for some ticks
	local n last=-1 same=0 want
	want=$(wc -l <"$tmp/sent")
	while n=$(rows_of "/zoo-$1/%") && [ "$n" -lt "$want" ] && [ $same -lt 15 ]; do
		[ "$n" = "$last" ] && same=$((same + 1)) || same=0
		last=$n
		sleep 1 # time: a tick of the probe
	done
}

# Of what was sent and what was stored: counts by what is wrong. A server's time ends with its last send, which the client may see
# before it is noted: 2 ms.
judge() { # RUNG NAME TRANSPORT: "sent rows missing twice strange unequal long short"
	awk -v prefix="/zoo-$1/$2-$3/" '
		index($1, prefix) != 1 { next }
		FILENAME ~ /sent$/ { sent++; method[$1] = $2; status[$1] = $3; us[$1] = $4; next }
		{ rows++; if (!($1 in us)) strange++; else if (seen[$1]++) twice++; else {
			unequal += $2 != method[$1] || $3 != status[$1]; long += $4 > us[$1] + 2000; short += $1 ~ /\/slow\// && $4 < 295000 } }
		END { for (p in us) missing += !(p in seen); print sent + 0, rows + 0, missing + 0, twice + 0, strange + 0, unequal + 0, long + 0, short + 0 }
	' "$tmp/sent" "$tmp/rows"
}

check_server() { # RUNG NAME TRANSPORT
	local sent rows missing twice strange unequal long short of="$1, ${2//_/ } over $3"
	read -r sent rows missing twice strange unequal long short < <(judge "$@")
	ok "$of answers its client ($(head -n 1 "$tmp/errors.$2"; tail -n 1 "$tmp/$2/out"))" test "$sent" = "$requests"
	ok "$of: every request is a row ($missing of $sent are missing)" test "$missing" = 0
	ok "$of: and one only, and none that was never sent ($twice twice, $strange strange)" test "$twice $strange" = "0 0"
	ok "$of: method and status are those of the client ($unequal are not)" test "$unequal" = 0
	ok "$of: no time is longer than the client's, a slow one not shorter ($long, $short)" test "$long $short" = "0 0"
	table+="| $1 | ${2//_/ } | $3 | $sent | $rows | $missing | $twice | $strange | $unequal | $long | $short |"$'\n'
}

zoo=()
for line in "${servers[@]}"; do
	read -r name transports slow command <<<"$line"
	! wants "$name" "$command" "$@" || zoo+=("$line")
done
stack_open --slow-ms 0 --rows-per-s 50000
for line in "${zoo[@]}"; do
	read -r name transports _ <<<"$line"
	start_server "$name" "$transports"
done
while read -r name port sock; do
	ok "${name//_/ } listens" await 300 is_up "$port" "$sock" "$(printf '%s\n' "${servers[@]}" | awk -v n="$name" '$1 == n { print $2 }')"
done <"$tmp/places"
table=
for rung in $(rungs); do
	probe_by "$rung" --slow-ms 0 --rows-per-s 50000 --scope "cgroup=$cgroup"
	send_all "$rung"
	settled "$rung"
	ask "select path || ' ' || method || ' ' || status || ' ' || (request_us + queue_us) from request where path like '/zoo-$rung/%'" >"$tmp/rows"
	for line in "${zoo[@]}"; do
		read -r name transports _ <<<"$line"
		for transport in ${transports//,/ }; do
			check_server "$rung" "$name" "$transport"
		done
	done
done
[ -z "${LONG:-}" ] || printf '| hooks | server | transport | sent | rows | missing | twice | strange | unequal | longer | shorter |\n|---|---|---|---|---|---|---|---|---|---|---|\n%s' "$table"
done_checking
