#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# first_byte.sh - event streams, large bodies and long polls, behind nginx and by themselves: judged by the time
# to their first byte, and leaving them is no 499. A whole stack with its usual limits.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

settled=0
stack_open
read -r nd ng < <(free_ports 2 | tr '\n' ' ')
node -e '
	const POLL_MS = 5700; /* in the middle of a slot of the baseline, 5243 to 6291 ms, so that jitter makes no outlier */
	const large = Buffer.alloc(48e6, "x"), events = { "Content-Type": "text/event-stream" };
	const stream = (a) => {
		a.writeHead(200, events);
		const t = setInterval(() => a.write("data: x\n\n"), 50);
		a.on("close", () => clearInterval(t));
	};
	const routes = {
		"/events": stream,
		"/events-late": (a) => setTimeout(stream, 500, a),
		"/large": (a) => a.end(large),
		"/large-late": (a) => setTimeout(() => a.end(large), 500),
		"/head-first": (a) => { a.writeHead(200); a.write(" "); setTimeout(() => a.end("{}"), 1500); },
		"/poll": (a) => setTimeout(() => a.end("{}"), POLL_MS),
		"/poll-of-old": (a) => setTimeout(() => a.end("{}"), POLL_MS),
	};
	require("http").createServer((q, a) => {
		if (routes[q.url]) return routes[q.url](a);
		a.statusCode = 500; a.end();
	}).listen(Number(process.argv[1]), "127.0.0.1")' "$nd" & started=$!
cat >"$tmp/nginx.conf" <<END
pid $tmp/nginx.pid; error_log $tmp/error.log crit; user root; events { }
http {
	client_body_temp_path $tmp/t1; proxy_temp_path $tmp/t2; fastcgi_temp_path $tmp/t3; uwsgi_temp_path $tmp/t4; scgi_temp_path $tmp/t5;
	log_format truth '\$uri \$status \$request_time'; access_log $tmp/access.log truth;
	server { listen 127.0.0.1:$ng; location / { proxy_http_version 1.1; proxy_buffering off; proxy_pass http://127.0.0.1:$nd; } }
}
END
nginx -c "$tmp/nginx.conf" -e "$tmp/error.log"
on_exit() { kill "$started" 2>/dev/null; nginx -c "$tmp/nginx.conf" -e "$tmp/error.log" -s quit 2>/dev/null; }
for ((i = 0; i < 100; i++)); do
	curl -s -o /dev/null "http://127.0.0.1:$nd/up" && break
	sleep 0.1
done

get() { # PATH SECONDS CURL_ARG...: of both servers at once
	curl -s -o /dev/null -m "$2" "${@:3}" "http://127.0.0.1:$ng$1" &
	local a=$!
	curl -s -o /dev/null -m "$2" "${@:3}" "http://127.0.0.1:$nd$1"
	wait $a
}

settle() { # this one's rows have come, and no other one for a tick: a row may come after that of a later request
	local path=/settled-$((++settled)) n last=-1
	get $path 5
	await_value 3 ask "select count(*) from request where path = '$path'" || return # nginx, and node twice
	while n=$(ask "select count(*) from request") && [ "$n" != "$last" ]; do
		last=$n
		sleep 1.2 # time: longer than a tick of the probe
	done
}

rows() { # PATH SQL: of both servers
	ask "select count(*) from request where path = '$1' and $2 and local_port in ($ng, $nd)"
}

counted() { # ROUTE STATUS_CLASS
	ask "select coalesce(sum(n), 0) from red join red_key using (node_id, key_id) where route = '$1' and status_class = $2 and role = 0 and peer in (':$ng', ':$nd')"
}

# Three of each: by nginx, by node for it, and by node. A few at a time: what node has to wait for counts.
get /warm 5
get /events 1
get /events-late 1.3
get /head-first 5
get /large 9 --limit-rate 16M
get /large-late 9 --limit-rate 16M
get /poll-of-old 1
ok "the rows are all there" settle
ok "an event stream that was closed after its first event is no row" test "$(rows /events true)" = 0
ok "nginx, too, says that it was no 499" grep -q "^/events 200" "$tmp/access.log"
ok "it is counted among what went well" await_value 3 counted "GET /events" 2
ok "and not among what did not" test "$(counted "GET /events" 4)" = 0
ok "an event stream that begins late is a row" test "$(rows /events-late "status = 200 and flags & 64 <> 0")" = 3
ok "which says when it began" test "$(rows /events-late "(params ->> 'first_ms')::float between 490 and 2000")" = 3
ok "and the console that it was judged by that" eval 'curl -s "http://$WEB/api/v1/requests?q=/events-late" | grep -q byFirstByte'
ok "and lasted until it was closed" test "$(rows /events-late "request_us > (params ->> 'first_ms')::float * 1000 + 100000")" = 3
ok "a large body that a slow client takes is no row" test "$(rows /large true)" = 0
ok "one that begins late is" test "$(rows /large-late "flags & 64 <> 0 and (params ->> 'first_ms')::float between 490 and 2000")" = 3
ok "nginx needed a second and more for both" test "$(awk '/^\/large/ && $3 > 1' "$tmp/access.log" | wc -l)" = 2
ok "a poll whose head comes first is no row" test "$(rows /head-first true)" = 0
ok "leaving a route that is not known for a long poll is a row" test "$(rows /poll-of-old "status = 499")" = 3
for ((i = 0; i < 12; i++)); do
	get /poll 9 & polls+=" $!"
done
wait $polls
ok "the rows are all there again" settle
known=$(rows /poll true)
echo "a long poll: $known rows of 36"
ok "a long poll makes ten rows on each server, and hardly more" test "$known" -ge 20 -a "$known" -le 26
get /poll 9
get /poll 2
ok "the rows are all there at the end" settle
ok "then neither an answer nor leaving is a row" test "$(rows /poll true)" = "$known" -a "$(rows /poll "status = 499")" = 0
done_checking
