#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# older.sh - connections that were there before the probe, idle and with a request under way, of a server and of nginx
# with its kept upstreams: the next request on each is a right row, and a request that it did not see begin has none.
# For each way to see requests, over a whole stack. nginx's own records are off: they include requests under way, too, if
# the probe knows them already, as another nginx of this build had requests.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh
. tests/lib/nginx_rig.sh

on_exit() { nginx_gone; }
read -r ng behind direct < <(free_ports 3 | tr '\n' ' ')
server_start "$behind"
server_start "$direct"
nginx_start 1 <<END
	upstream one { server 127.0.0.1:$behind; keepalive 128; }
	server { listen 127.0.0.1:$ng; location / { proxy_pass http://one; } }
END
warm "$ng"
stack_open --slow-ms 0 --nginx off

served() { # PORT: how many requests its server has read
	wc -l <"$tmp/served.$1"
}

# Connections of a client to each, which have been used; half of them have a request under way, which ends when its server gets
# a signal: the probe that is still there would report one that ended before.
begin() { # PORT...
	local port n=$(served "$behind") m=$(served "$direct")
	for port; do
		timeout 60 python3 tests/it/request/older.py "$port" "$tmp/go.$rung" & clients+=" $!"
	done
	for port; do
		await_value begun eval 'test ! -e "$tmp/go.$rung.$port" || echo begun'
	done
	await_value $((n + 30)) served "$behind" && await_value $((m + 30)) served "$direct"
}

next() { # PORT COLUMNS: of the requests that came after the probe, on each connection one
	ask "select $2 from request where local_port = $1 and status = 503 and path = '/next-' || remote_port"
}

for rung in $(rungs); do # each probe comes when all have their connections: what the one before it knew is gone
	clients=
	ask "delete from request"
	begin "$ng" "$direct" || echo "they did not begin"
	kill -STOP $nginx_servers # with what is under way
	probe_by "$rung" --slow-ms 0 --nginx off --rows-per-s 50000
	kill -USR1 $nginx_servers
	kill -CONT $nginx_servers
	touch "$tmp/go.$rung"
	wait $clients
	ok "$rung, each connection of a server has its next request" await_value "20 20" next "$direct" "count(*), count(distinct remote_port)"
	ok "$rung, with a time of its own" test "$(next "$direct" "max(request_us) < 1000000")" = t
	ok "$rung, so has each of nginx's" await_value "20 20" next "$ng" "count(*), count(distinct remote_port)"
	ok "$rung, with its call on a connection that was kept" \
		test "$(next "$ng" "count(*) filter (where upstreams -> 0 ->> 'addr' = '127.0.0.1:$behind' and upstreams -> 0 ->> 'status' = '503')")" = 20
	ok "$rung, a request that was under way has no row" test "$(ask "select count(*) from request where path = '/begun'")" = 0
	ok "$rung, and there is nothing else" await_value 60 ask "select count(*) from request where local_port in ($ng, $behind, $direct) and path <> '/before'"
done
done_checking
