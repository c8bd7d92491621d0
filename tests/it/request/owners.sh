#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# owners.sh - whose request it is when descriptors, processes and their numbers change hands: children that serve,
# dup2, servers that share a port, a number that is used again. For each way to see requests, over a whole stack.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

started=
on_exit() { kill $started 2>/dev/null; }
stack_open --slow-ms 0 --rows-per-s 50000
cp "$B/tools/server" "$tmp/another"

row() { # PORT PATH COLUMNS
	ask "select $3 from request where local_port = $1 and path = '$2'"
}

owner() { # PATH
	row "$port" "$1" "status || ' ' || remote_port || ' ' || pid"
}

# The last one first: when its row is there, so are the others.
every_owner() {
	local path status client pid row bad=0 n=0
	await_value "$(sed -n '$s/^[^ ]* //p' "$tmp/reported")" owner "$(sed -n '$s/ .*//p' "$tmp/reported")"
	while read -r path status client pid; do
		n=$((n + 1)) row=$(owner "$path")
		[ "$row" = "$status $client $pid" ] || [ -z "$row$(may_be_missed "$path")" ] || { echo "$path: $row"; bad=1; }
	done <"$tmp/reported"
	[ $n = 11 ] && [ $bad = 0 ]
}

# Whoever looks a descriptor up when its call is over cannot know what it was when it began.
may_be_missed() { # PATH: says nothing if it may
	[[ $rung = syscalls && $1 = /outlive-* ]] || echo no
}

# "rows, of them with the number of the server whose log has them, distinct servers": by the path, which is the X-Id
shared_rows() {
	ask_all <<END
create temp table served (pid int, id text);
\\copy served from pstdin delimiter ' '
$(for pid in $one $two; do awk -v p="$pid" '{ print p, $3 }' "$tmp/served.$pid"; done)
\\.
select count(*), count(*) filter (where r.pid = s.pid), count(distinct r.pid) from request r left join served s on r.path = '/$rung/' || s.id
	where local_port = $port and r.path like '/$rung/%';
END
}

share() { # PORT: one more server there, whose log has its number
	(exec "$B/tools/server" "$1" --shared --log "$tmp/served.$BASHPID") & started+=" $!"
}

both_share() {
	[ "$(ss -Hltn "sport = :$port" | wc -l)" = 2 ]
}

have_read() { # how many requests the server's log has
	wc -l <"$tmp/read.$rung"
}

# A request is under way when its server is killed; the next process with that number serves on with the same fds.
used_again() {
	local number=$((30000 + RANDOM % 2000)) read_us lived_us
	while [ -d "/proc/$number" ]; do number=$((number + 1)); done
	"$B/tools/as_pid" $number "$B/tools/server" "$port" --log "$tmp/read.$rung" & as=$!
	listening "$port"
	curl -s -o /dev/null -m 5 "http://127.0.0.1:$port/$rung-before?s=501"
	curl -s -o /dev/null -m 5 "http://127.0.0.1:$port/$rung-killed?d=9000" & asking=$!
	await_value 2 have_read
	sleep 0.5 # time: the request is under way for that long
	kill -KILL $number
	wait $as $asking 2>/dev/null
	read_us=$(sed -n '2s/^[^ ]* \([0-9]*\) .*/\1/p' "$tmp/read.$rung")
	lived_us=$(($(date +%s%6N) - read_us))
	"$B/tools/as_pid" $number "$tmp/another" "$port" & as=$!
	listening "$port"
	curl -s -o /dev/null -m 5 "http://127.0.0.1:$port/$rung-after?s=502"
	kill $number
	wait $as
	ok "$rung, what it answered before is its own" await_value "501 server $number" row "$port" "/$rung-before" "status || ' ' || app || ' ' || pid"
	ok "$rung, the request it never answered has a row, and lasted as long as the server lived" \
		await_value "0 server true" row "$port" "/$rung-killed" "status || ' ' || app || ' ' || (request_us between 490000 and $lived_us + 10000)"
	ok "$rung, the next process of that number has a name and requests of its own" \
		await_value "502 another $number true" row "$port" "/$rung-after" "status || ' ' || app || ' ' || pid || ' ' || (request_us < $lived_us)"
}

for rung in $(rungs); do
	probe_by "$rung" --slow-ms 0 --rows-per-s 50000
	read -r port < <(free_ports 1)
	timeout 60 python3 tests/it/request/owners.py "$port" >"$tmp/reported" 2>"$tmp/errors" || cat "$tmp/errors"
	ok "$rung, each request has its status, its client and the process that read it" every_owner
	ok "$rung, and there are no others" test "$(ask "select count(*) from request where local_port = $port")" -le 11

	read -r port < <(free_ports 1)
	share "$port"; one=$!
	share "$port"; two=$!
	await 100 both_share
	"$B/tools/load" "127.0.0.1:$port" --prefix "/$rung/" --rate 400 --seconds 1 --close >/dev/null
	ok "$rung, of two servers on one port each has its own requests" await_value "400 400 2" shared_rows
	kill $one $two

	read -r port < <(free_ports 1)
	used_again
done
ok "no duration is negative" test "$(ask "select count(*) from request where request_us < 0 or queue_us < 0")" = 0
done_checking
