#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nginx_exact.sh - what nginx itself says of its requests: each has its row, with every try at an upstream as nginx's
# log has it, by address, status and time, also of requests that a timer starts and of a pipeline. On an nginx without
# debug symbols; beside each way to see sockets, of which one sees it all. LONG=1: both, ten seconds of each, as a table.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh
. tests/lib/nginx_rig.sh

nginx_apart
seconds=2
[ -z "${LONG:-}" ] || seconds=10
read -r kept few new retry auth piped late plain b1 b2 b3 < <(free_ports 11 | tr '\n' ' ')
cgroup_make # other tests have an nginx, too
on_exit() { nginx_gone; cgroup_gone; }
# A machine that stands still for a second or two fills a ring of 4 MB; what is lost then is losses.sh's.
stack_open --slow-ms 0 --rows-per-s 50000 --ring-mb 16 --scope "cgroup=$cgroup"
proxied_started
{ proxied; cat <<END; } | nginx_start 1
	log_format exact '\$server_port|\$remote_addr:\$remote_port|\$request_method|\$uri|\$status|\$request_time|\$upstream_addr|\$upstream_status|\$upstream_response_time';
	access_log $tmp/exact.log exact;
	limit_req_zone \$server_port zone=slow:1m rate=400r/s;
	server { listen 127.0.0.1:$late backlog=4096; location / { limit_req zone=slow burst=2000; proxy_pass http://one; } }
	server { listen 127.0.0.1:$plain backlog=4096; location / { return 200 "ok"; } }
END

known() { # how often a nginx has been said to be read
	grep -c 'its requests are read exactly' "$VAR/log/probe.log" 2>/dev/null
}

known_by_requests() { # the first ones may come before the probe has found the process
	warm "$kept" "$plain" && known
}

shown() { # PORT PREFIX
	ask "select jsonb_build_object('at', extract(epoch from ts), 'remote', host(remote) || ':' || remote_port, 'method', method, 'path', path,
		'status', status, 'us', request_us, 'flags', flags, 'upstreams', upstreams) from request where path like '$2%' and local_port = $1"
}

compared() { # NAME PORT PREFIX path|order [GATE]: into the array f
	local name value
	await_value "$sent" rows "$2" "$3"
	unset f; declare -gA f
	while read -r name value; do f[$name]=$value; done < <(shown "$2" "$3" | python3 tests/it/nginx/nginx_compare.py "$tmp/exact.log" "${@:2}")
	echo "$1: $(cat "$tmp/load"); $(for name in "${!f[@]}"; do printf '%s %s ' "$name" "${f[$name]}"; done)"
	table+="| $rung | ${1#*, } | ${f[lines]:-} | ${f[rows]:-} | ${f[tries]:-} | ${f[retried]:-} | $((${f[addr_unequal]:-1} + ${f[status_unequal]:-1} + ${f[time_unequal]:-1})) |"$'\n'
}

scenario() { # NAME PORT path|order RATE ARG...
	local name="$rung, $1" prefix try
	for try in 1 2 3; do # anew where the machine stood still, and the load ended before its answers
		prefix="/$rung-$((n += 1))/"
		: >"$tmp/exact.log"
		load "$2" "$prefix" "$4" "$seconds" "${@:5}"
		[ "$(awk '{ print $4 }' "$tmp/load")" != "$sent" ] || break
	done
	compared "$name" "$2" "$prefix" "$3" ${before:-}
	ok "$name: every line of the log has its one row" test "${f[lines]:-0}" -eq "$sent" -a "${f[matched]:-0}" -eq "$sent" -a "${f[rows]:-0}" -eq "$sent"
	ok "$name: method, path, status and remoteAddr are equal" test "${f[unequal]:-1}" -eq 0
	ok "$name: every try's address is that of the log" test "${f[addr_unequal]:-1}" -eq 0 -a "${f[tries]:-0}" -ge "${least:-$sent}"
	ok "$name: so is its status" test "${f[status_unequal]:-1}" -eq 0
	ok "$name: so is its time, to the log's millisecond" test "${f[time_unequal]:-1}" -eq 0
	ok "$name: no request says that its calls are unknown" test "${f[unknown]:-1}" -eq 0
}

each_shape() { # what is nginx's own, whichever way its sockets are seen
	scenario "a thousand connections" "$kept" path 2000 --conns 1000
	scenario "no keep-alive" "$new" path 1000 --conns 100 --close
	scenario "30 % failures with retry" "$retry" path 1000 --conns 100
	ok "$rung: there were several tries" test "${f[retried]:-0}" -gt "$((sent / 10))"
	before=127.0.0.1:$b3 scenario "auth_request" "$auth" path 500 --conns 100
	ok "$rung: what auth_request called is there as well" test "${f[gated]:-0}" -eq "$sent"
	scenario "POST of 40 KB" "$kept" path 500 --conns 100 --post 40000
	scenario "delayed by limit_req" "$late" path 500 --conns 400
	scenario "delayed by limit_req, one path" "$late" order 500 --conns 400 --same
}

n=0 table=
for rung in $(rungs); do
	: >"$VAR/log/probe.log"
	probe_by "$rung" --slow-ms 0 --rows-per-s 50000 --ring-mb 16 --scope "cgroup=$cgroup"
	ok "$rung: what lies where in nginx's requests is found by its first ones" await_value 1 known_by_requests
	scenario "keep-alive" "$kept" path 1000 --conns 100
	[ "$rung" = syscalls ] && [ -z "${LONG:-}" ] || each_shape
	before_piped=$(coverage pipelined)
	scenario "pipelined" "$piped" path 500 --conns 50 --pipeline 4
	ok "$rung, pipelined: requestTime is the log's" test "${f[request_exact]:-0}" -gt "$((sent / 2))"
	ok "$rung, pipelined: none is counted as not read" test "$(coverage pipelined)" = "$before_piped"
	least=0 scenario "answered by nginx itself, pipelined" "$plain" path 500 --conns 50 --pipeline 4
done
[ -z "${LONG:-}" ] || cat <<END
| hooks | traffic | log lines | rows | tries | requests with several | tries or times unequal |
|---|---|---|---|---|---|---|
$table
END
ok "no record of nginx was lost" test "$(coverage nginx_lost)" = 0
ok "no request of an nginx was left to its sockets" test "$(coverage nginx_unread)" = 0
ok "no record was lost in the ring" test "$(coverage ring_full)" = 0
done_checking
