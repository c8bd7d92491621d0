#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# request.sh - every request of a real nginx, compared with nginx's own log: first what it was and how long
# it took, then whose upstream calls are whose. The stack is a whole one; every request is a row (--slow-ms 0).
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/check.sh
. tests/stack.sh

# nginx has a processor to itself: its log tells time by its own loop, which must not be held up.
taskset -pc 1 $$ >/dev/null 2>&1
stack_open --slow-ms 0 --rows-per-s 50000
read -r ka nk rt b1 b2 < <(free_ports 5 | tr '\n' ' ')
cat >"$tmp/nginx.conf" <<END
worker_processes 1; pid $tmp/nginx.pid; error_log $tmp/error.log crit; user root; worker_rlimit_nofile 20000;
events { worker_connections 8000; }
http {
	client_body_temp_path $tmp/t1; proxy_temp_path $tmp/t2; fastcgi_temp_path $tmp/t3; uwsgi_temp_path $tmp/t4; scgi_temp_path $tmp/t5;
	log_format rows '\$server_port|\$remote_addr:\$remote_port|\$upstream_addr|\$request_method|\$uri|\$status|\$request_time|\$upstream_response_time';
	access_log $tmp/access.log rows; keepalive_requests 1000000; proxy_http_version 1.1; proxy_set_header Connection "";
	upstream one { server 127.0.0.1:$b1; keepalive 128; }
	upstream two { server 127.0.0.1:$b2 max_fails=0; server 127.0.0.1:$b1 max_fails=0; keepalive 128; }
	server { listen 127.0.0.1:$ka backlog=4096; location / { proxy_pass http://one; } }
	server { listen 127.0.0.1:$nk backlog=4096; location / { proxy_http_version 1.0; proxy_set_header Connection close; proxy_pass http://127.0.0.1:$b1; } }
	server { listen 127.0.0.1:$rt backlog=4096; location / { proxy_next_upstream error timeout; proxy_next_upstream_tries 5; proxy_pass http://two; } }
}
END
"$B/tools/server" "$b1" --max-delay 8 & servers=$!
"$B/tools/server" "$b2" --fail 60 & servers+=" $!"
taskset -c 0 nginx -c "$tmp/nginx.conf" -e "$tmp/error.log" || echo "nginx did not start"
on_exit() { kill $servers 2>/dev/null; nginx -c "$tmp/nginx.conf" -e "$tmp/error.log" -s quit 2>/dev/null; }

load() { # PORT PREFIX RATE SECONDS ARG...
	"$B/tools/load" "127.0.0.1:$1" --prefix "$2" --rate "$3" --seconds "$4" "${@:5}" | tee "$tmp/load"
}

rows() { # of nginx under a prefix
	ask "select count(*) from request where path like '$1%' and local_port in ($ka, $nk, $rt)"
}

# The figures of one scenario, one "name value" a line, by SQL over the log and the rows.
figures() { # PORT PREFIX
	grep "^$1|.*|$2" "$tmp/access.log" >"$tmp/log.part"
	ask_all <<END
create temp table log (port int, remote text, upstream text, method text, path text, status int, seconds numeric, up_seconds text);
\\copy log from pstdin delimiter '|'
$(cat "$tmp/log.part")
\\.
create temp table mine as select *, (select string_agg(u ->> 'addr', ', ' order by i) from jsonb_array_elements(upstreams) with ordinality t(u, i)) as ups
	from request where path like '$2%' and local_port = $1;
create temp table both_sides as select l.*, r.ts, r.request_us, r.upstreams, r.ups, r.status as row_status, r.method as row_method,
	host(r.remote) || ':' || r.remote_port as row_remote, ntile(3) over (order by r.ts) as third from log l join mine r using (path);
create temp table behind as select * from request where path like '$2%' and local_port in ($b1, $b2);
create temp table calls as -- a connection is two ports: one port of ours may lead to both backends
	with mine_calls as (select m.path, u ->> 'localPort' || '-' || split_part(u ->> 'addr', ':', 2) as conn,
			m.ts + (u ->> 'startUs')::bigint * interval '1 microsecond' as at
		from mine m, jsonb_array_elements(m.upstreams) u where (u ->> 'localPort')::int <> 0),
	asked as (select *, row_number() over (partition by conn order by at) as k from mine_calls),
	served as (select path, remote_port || '-' || local_port as conn,
		row_number() over (partition by remote_port, local_port order by ts) as k from behind)
	select a.path, s.path as got from asked a join served s using (conn, k);
select 'lines', count(*) from log
union all select 'rows', count(*) from mine
union all select 'matched', count(distinct path) from both_sides
union all select 'unequal', count(*) from both_sides where status <> row_status or method <> row_method or remote <> row_remote or upstream <> ups
union all select 'request_p99_us', percentile_disc(0.5) within group (order by p) from (
	select percentile_disc(0.99) within group (order by abs(request_us - seconds * 1e6)) p from both_sides group by third) t
union all select 'upstream_p99_us', percentile_disc(0.5) within group (order by p) from (
	select percentile_disc(0.99) within group (order by abs((u ->> 'responseUs')::bigint - s::numeric * 1e6)) p
	from both_sides, jsonb_array_elements(upstreams) with ordinality a(u, i), unnest(string_to_array(up_seconds, ', ')) with ordinality b(s, j)
	where i = j and s <> '-' group by third) t
union all select 'calls', count(*) from behind
union all select 'right', count(*) from calls where path = got
union all select 'wrong', count(*) from calls where path <> got;
END
}

scenario() { # NAME PORT PREFIX RATE SECONDS ARG...
	local name=$1 port=$2 prefix=$3 sent
	shift 3
	load "$port" "$prefix" "$@" >/dev/null
	sent=$(awk '{ print $2 }' "$tmp/load")
	await_value "$sent" rows "$prefix"
	unset f; declare -gA f
	while read -r key value; do f[$key]=${value%.*}; done < <(figures "$port" "$prefix")
	echo "$name: $(cat "$tmp/load"); $(for k in lines rows matched unequal request_p99_us upstream_p99_us calls right wrong; do printf '%s %s ' $k "${f[$k]:-none}"; done)"
	ok "$name: every line of the log has its one row" test "${f[lines]:-0}" -eq "$sent" -a "${f[matched]:-0}" -eq "$sent" -a "${f[rows]:-0}" -eq "$sent"
	ok "$name: method, path, status, remoteAddr and upstreamAddr are equal" test "${f[unequal]:-1}" -eq 0
	ok "$name: no upstream call is given to a wrong request" test "${f[wrong]:-1}" -eq 0
	ok "$name: at least 99.9 % of the calls have their request" test "$((${f[right]:-0} * 1000))" -ge "$((${f[calls]:-1} * 999))" -a "${f[calls]:-0}" -ge "$sent"
}

for port in "$ka" "$nk" "$rt"; do # a thread that waits for its own pages has a call that cannot be told
	curl -s -o /dev/null "http://127.0.0.1:$port/warm"
done
# The median of three thirds: where the machine holds nginx up, nginx's own clock stands still with it.
scenario "keep-alive" "$ka" /ka/ 2000 6 --conns 100
ok "keep-alive: request time is within 1 ms at p99" test "${f[request_p99_us]:-9999}" -le 1000
ok "keep-alive: upstream time is within 1 ms at p99" test "${f[upstream_p99_us]:-9999}" -le 1000
scenario "no keep-alive" "$nk" /nk/ 1000 4 --conns 100
scenario "failures with retry" "$rt" /rt/ 1000 4 --conns 100

ok "nothing was withheld" test "$(coverage rows_withheld)" = 0
ok "no record was lost in the ring" test "$(coverage ring_full)" = 0
verdict_of() { # PATH: "STATUS REASON" of nginx's row
	ask "select status || ' ' || code from request join reason using (reason_id) where path = '$1' and local_port = $ka"
}

curl -s -m 0.2 "http://127.0.0.1:$ka/abort?d=900"
curl -s -o /dev/null "http://127.0.0.1:$ka/bad?s=503"
ok "an aborted request is a 499 by the client" await_value "499 client.abort" verdict_of /abort
ok "a bad upstream answer is up.error" await_value "503 up.error" verdict_of /bad
ok "the query string stays on the node" test "$(ask "select count(*) from request where path like '%?%'")" = 0

collector_killed() {
	local sent
	load "$ka" /kill/ 500 8 --conns 50 >/dev/null & loader=$!
	sleep 3
	kill -KILL "$(part_pid_of collector)"
	sleep 1
	stack_start
	wait $loader
	sent=$(awk '{ print $2 }' "$tmp/load")
	await_value "$sent" rows /kill/
	[ "$(ask "select count(*) || ' ' || count(distinct path) from request where path like '/kill/%' and local_port = $ka")" = "$sent $sent" ]
}
ok "after kill -9 of the collector under load every row is there once" collector_killed
done_checking
