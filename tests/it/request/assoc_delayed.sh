#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assoc_delayed.sh - requests that a timer starts, and not what was just read: their upstream calls are unknown to
# who watches sockets, and are not given to others. For each way to see requests. LONG=1: ten seconds of each.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh
. tests/lib/nginx_rig.sh

nginx_apart
seconds=2
[ -z "${LONG:-}" ] || seconds=10
read -r late refused backend nobody < <(free_ports 4 | tr '\n' ' ')
on_exit() { nginx_gone; }
stack_open --slow-ms 0 --rows-per-s 50000 --ring-mb 16
server_start "$backend" --max-delay 8
nginx_start 1 <<END
	limit_req_zone \$server_port zone=slow:1m rate=400r/s;
	upstream one { server 127.0.0.1:$backend; keepalive 128; }
	server { listen 127.0.0.1:$late backlog=4096; location / { limit_req zone=slow burst=2000; proxy_pass http://one; } }
	server { listen 127.0.0.1:$refused backlog=4096; location / { limit_req zone=slow burst=2000; proxy_pass http://127.0.0.1:$nobody; } }
END
warm "$late"

delayed() { # NAME path|order ARG...
	local name="$rung, $1" prefix="/$rung-$((n += 1))/"
	load "$late" "$prefix" 500 "$seconds" --conns 400 "${@:3}"
	measure "$name" "$late" "$prefix" "$2"
	ok "$name: every line of the log has its one row" figure "${f[lines]:-0}" -eq "$sent" -a "${f[matched]:-0}" -eq "$sent" -a "${f[rows]:-0}" -eq "$sent"
	ok "$name: method, path, status and remoteAddr are equal" figure "${f[unequal]:-1}" -eq 0
	ok "$name: no upstream call is given to a wrong request" figure "${f[wrong]:-1}" -eq 0 -a "${f[upstream_wrong]:-1}" -eq 0
	ok "$name: there were delayed ones" test "$(awk -F '|' '$7 - $8 > 0.02' "$tmp/access.log" | wc -l)" -gt "$((sent / 4))"
}

# Of each the one call was refused, which nobody ever sent anything on.
refused() {
	local name="$rung, refused" prefix="/$rung-$((n += 1))/"
	load "$refused" "$prefix" 500 "$seconds" --conns 400
	ok "$name: each has its row" await_value "$sent" rows "$refused" "$prefix"
	ok "$name: and none the call of another" await_value 0 ask "select count(*) from request where path like '$prefix%' and jsonb_array_length(upstreams) > 1"
}

n=0
for rung in $(rungs); do
	probe_by "$rung" --slow-ms 0 --rows-per-s 50000 --ring-mb 16 --nginx off
	delayed "every path once" path
	delayed "one path" order --same
	refused
done
done_checking
