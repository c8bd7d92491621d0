#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# request.sh - every request of a real nginx, compared with nginx's own log: what it was, how long it took, who
# answered; refused, broken, late and given up ones are among them. For each way to see requests. The stack is a
# whole one; every request is a row (--slow-ms 0). LONG=1: every combination, longer, as a table for RESULTS.md.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh
. tests/lib/nginx_rig.sh

nginx_apart
rate=500 seconds=3
cells="1:100:kept 1:1000:new 2:100:new 2:1000:kept" # each pair of settings once
[ -z "${LONG:-}" ] || { rate=1000 seconds=10 cells=$(echo {1,2}:{100,1000}:{kept,new}); }
read -r kept new b1 dead < <(free_ports 4 | tr '\n' ' ')
on_exit() { nginx_gone; }
stack_open --slow-ms 0 --rows-per-s 50000 --ring-mb 16
server_start "$b1" --max-delay 8

nginx_of() { # WORKERS
	nginx_start "$1" <<-END
	proxy_read_timeout 300ms; proxy_next_upstream off;
	upstream one { server 127.0.0.1:$b1; keepalive 128; }
	server { listen 127.0.0.1:$kept backlog=4096; location / {
		if (\$arg_r) { proxy_pass http://127.0.0.1:$dead; }
		proxy_pass http://one; } }
	server { listen 127.0.0.1:$new backlog=4096; location / {
		proxy_http_version 1.0; proxy_set_header Connection close;
		if (\$arg_r) { proxy_pass http://127.0.0.1:$dead; }
		proxy_pass http://127.0.0.1:$b1; } }
	END
	warm "$kept" "$new"
}

# Answers with a bad status, refused, broken off, too late, given up by the client after 30 ms.
mix=(--every 89,s=503 --every 79,r=1 --every 83,x=1 --every 101,d=900 --every 97,d=900,30)

# The log has times in whole milliseconds at both ends, by the clock of nginx's loop: of exact ones so much is off by .9 ms at p99,
# and by nothing in the middle. The median of three thirds: where the machine holds nginx up, its clock stands still with it; what
# other suites do may cost it a quarter of a millisecond (LONG=1, alone: 1 ms in all). Where another guest of the host holds it up
# for longer, the times alone are taken anew, and everything else must hold each time.
[ -z "${LONG:-}" ] && within=1250 || within=1000

cell() { # RUNG WORKERS CONNS kept|new
	local name="$1, $2 workers, $3 connections, upstream $4" port try
	[ "$4" = kept ] && port=$kept || port=$new
	for try in first second third fourth fifth; do
		load "$port" "/$1-$2-$3-$4-$try/" "$rate" "$seconds" --conns "$3" "${mix[@]}"
		measure "$name" "$port" "/$1-$2-$3-$4-$try/" path
		ok "$name: every line of the log has its one row" figure "${f[lines]:-0}" -eq "$sent" -a "${f[matched]:-0}" -eq "$sent" -a "${f[rows]:-0}" -eq "$sent"
		ok "$name: there were refused, late and given up ones" figure "${f[s499]:-0}" -gt 10 -a "${f[s502]:-0}" -gt 10 -a "${f[s503]:-0}" -gt 10 -a "${f[s504]:-0}" -gt 10
		ok "$name: method, path, status and remoteAddr are equal" figure "${f[unequal]:-1}" -eq 0
		ok "$name: upstreamAddr is equal" figure "${f[upstream_unequal]:-1}" -eq 0
		ok "$name: no upstream call is given to a wrong request" figure "${f[wrong]:-1}" -eq 0
		[ "${f[request_p99_us]:-9999}" -gt $within ] || [ "${f[upstream_p99_us]:-9999}" -gt $within ] || break
	done
	ok "$name: request time is off by at most $within us at p99" figure "${f[request_p99_us]:-9999}" -le $within
	ok "$name: upstream time is off by at most $within us at p99" figure "${f[upstream_p99_us]:-9999}" -le $within
	ok "$name: neither is longer or shorter than nginx's" off_by_none
	table+="| $1 | $2 | $3 | $4 | ${f[lines]} | ${f[rows]} | ${f[s499]}, ${f[s502]}, ${f[s504]} | $((f[unequal] + f[upstream_unequal])) |"
	table+=" $(ms "${f[request_p99_us]}") | $(ms "${f[upstream_p99_us]}") | ${f[calls]} | ${f[right]} | ${f[wrong]} |"$'\n'
}

ms() { # MICROSECONDS
	awk -v n="${1:-nan}" 'BEGIN { printf "%.2f ms", n / 1000 }'
}

off_by_none() { # by the median, in us
	local off=${f[request_off_us]:-9999} up=${f[upstream_off_us]:-9999}
	echo "request time off by $off us, upstream time by $up"
	[ "${off#-}" -le 400 ] && [ "${up#-}" -le 400 ]
}

table=
for workers in 1 2; do
	nginx_of "$workers"
	for rung in $(rungs); do
		probe_by "$rung" --slow-ms 0 --rows-per-s 50000 --ring-mb 16
		for c in $cells; do
			[ "${c%%:*}" != "$workers" ] || cell "$rung" ${c//:/ }
		done
	done
done
[ -z "${LONG:-}" ] || cat <<END
| hooks | workers | connections | upstream | log lines | rows | of them 499, 502, 504 | unequal | request time off, p99 | upstream time off, p99 | calls | right | wrong |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
$table
END

ok "nothing was withheld" test "$(coverage rows_withheld)" = 0
ok "no record was lost in the ring" test "$(coverage ring_full)" = 0
verdict_of() { # PATH: "STATUS REASON" of nginx's row
	ask "select status || ' ' || code from request join reason using (reason_id) where path = '$1' and local_port = $kept"
}

curl -s -m 0.1 "http://127.0.0.1:$kept/abort?d=900" # nginx itself gives up after 300 ms
curl -s -o /dev/null "http://127.0.0.1:$kept/bad?s=503"
ok "an aborted request is a 499 by the client" await_value "499 client.abort" verdict_of /abort
ok "a bad upstream answer is up.error" await_value "503 up.error" verdict_of /bad
ok "the query string stays on the node" test "$(ask "select count(*) from request where path like '%?%'")" = 0

collector_killed() {
	load "$kept" /kill/ 500 6 --conns 50 & loader=$!
	sleep 2 # time: in the midst of the load
	kill -KILL "$(part_pid_of collector)"
	sleep 1 # time: how long it is away
	stack_start
	wait $loader
	await_value 3000 rows "$kept" /kill/
	[ "$(ask "select count(*) || ' ' || count(distinct path) from request where path like '/kill/%' and local_port = $kept")" = "3000 3000" ]
}
ok "after kill -9 of the collector under load every row is there once" collector_killed
done_checking
