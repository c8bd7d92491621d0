#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kinds.sh - servers and requests of every kind that is read, and what is only counted: over a whole stack with
# its usual limits, so that only abnormal requests are rows. kinds.sh syscalls: by the hooks on system calls.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

stack_open --hooks "${1:-sockets}"
read -r c py nd ng < <(free_ports 4 | tr '\n' ' ')
"$B/tools/server" "$c" & started=$!
python3 -m http.server --bind 127.0.0.1 "$py" --directory "$tmp" >/dev/null 2>&1 & started+=" $!"
node -e '
	require("http").createServer((q, a) => {
		if (q.url === "/late-body") { a.write("x"); setTimeout(() => a.end("y"), 600); return; }
		if (q.url.startsWith("/stream")) {
			a.setHeader("Content-Type", "text/event-stream");
			a.write("data: 1\n\n"); setTimeout(() => a.end("data: 2\n\n"), 800); return;
		}
		if (q.url === "/large") { a.write("x".repeat(1500000)); setTimeout(() => a.end("y"), 800); return; }
		if (q.url === "/upgrade") return a.socket.destroy();
		a.statusCode = 500; a.end("no\n");
	}).on("upgrade", (q, s) => s.end("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"))
	.listen(Number(process.argv[1]), "127.0.0.1")' "$nd" & started+=" $!"
python3 -c '
import http.server, socketserver, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_error(503)
    def address_string(self): return "unix"
    def log_message(self, *a): pass
socketserver.ThreadingUnixStreamServer(sys.argv[1], H).serve_forever()' "$tmp/up.sock" & started+=" $!"
cat >"$tmp/nginx.conf" <<END
pid $tmp/nginx.pid; error_log $tmp/error.log crit; user root; events { }
http {
	client_body_temp_path $tmp/t1; proxy_temp_path $tmp/t2; fastcgi_temp_path $tmp/t3; uwsgi_temp_path $tmp/t4; scgi_temp_path $tmp/t5;
	access_log off;
	server { listen 127.0.0.1:$ng;
		location / { proxy_read_timeout 1s; proxy_pass http://127.0.0.1:$c; }
		location /unix { proxy_pass http://unix:$tmp/up.sock; }
		location /dead { proxy_pass http://127.0.0.1:1; }
		location /own { return 500; } location /none { return 444; } }
}
END
nginx -c "$tmp/nginx.conf" -e "$tmp/error.log"
on_exit() { kill $started 2>/dev/null; nginx -c "$tmp/nginx.conf" -e "$tmp/error.log" -s quit 2>/dev/null; }
listening "$c" "$py" "$nd" "$ng"
await_value "$tmp/up.sock" ls "$tmp/up.sock" 2>/dev/null

get() { # URL CURL_ARG...; took: the client's own microseconds
	curl -sg -o /dev/null -m 5 -w '%{time_total}' "${@:2}" "$1" | tr -d . >"$tmp/took"
}

took() {
	echo $((10#$(cat "$tmp/took")))
}

row() { # PORT PATH COLUMNS: of the newest row there
	ask "select $3 from request join reason using (reason_id) where local_port = $1 and path = '$2' order by ts desc limit 1"
}

row_is() { # PORT PATH COLUMNS VALUE
	await_value "$4" row "$1" "$2" "$3"
}

counted() { # KIND APP: one connection at least; other tests have some, too
	ask "select 'so' from unread where kind = '$1' and app = '$2' limit 1"
}

get "http://127.0.0.1:$ng/warm" # a thread that waits for its own pages has a call that cannot be read
get "http://[::1]:$c/v6?s=500"
ok "a request over IPv6 is a row with its addresses" row_is "$c" /v6 "status || ' ' || host(remote) || ' ' || host(local)" "500 ::1 ::1"
get "http://[::ffff:127.0.0.1]:$c/mapped?s=500"
ok "a mapped address is shown as IPv4" row_is "$c" /mapped "host(remote)" "127.0.0.1"
get "http://127.0.0.1:$py/posted" -X POST
ok "a threaded Python server is read" row_is "$py" /posted "app || ' ' || status || ' ' || code" "python3 501 app.error"
get "http://127.0.0.1:$nd/js"
ok "a Node server is read" row_is "$nd" /js "status || ' ' || code" "500 app.error"
get "http://127.0.0.1:$nd/late-body"
ok "a body that comes 0.6 s after its head counts" row_is "$nd" /late-body "request_us between 590000 and $(took)" "t"
get "http://127.0.0.1:$c/slow?d=400"
ok "a slow answer that its own timer held back is sleep" row_is "$c" /slow "status || ' ' || code" "200 sleep"
get "http://127.0.0.1:$ng/slow?d=400"
ok "behind a proxy it is the upstream's" row_is "$ng" /slow "status || ' ' || code || ' ' || (params ->> 'addr')" "200 up.slow 127.0.0.1:$c"
get "http://127.0.0.1:$ng/late?d=3000"
ok "an upstream that does not answer in time is slow" row_is "$ng" /late "status || ' ' || code" "504 up.slow"
get "http://127.0.0.1:$ng/dead"
ok "a refused upstream is up.connect" row_is "$ng" /dead "status || ' ' || code || ' ' || (params ->> 'error')" "502 up.connect Connection refused"
get "http://127.0.0.1:$ng/broken?x=1"
ok "an upstream that hangs up is up.error" row_is "$ng" /broken "status || ' ' || code" "502 up.error"
get "http://127.0.0.1:$ng/unix"
ok "an upstream on a Unix socket has its path and status" row_is "$ng" /unix "status || ' ' || code || ' ' || (params ->> 'addr') || ' ' || (upstreams -> 0 ->> 'status')" "503 up.error unix:$tmp/up.sock 503"
ok "and so has the API" eval 'curl -s "http://$WEB/api/v1/requests?app=nginx" | grep -q "\"upstreamAddr\" *: *\"unix:$tmp/up.sock\""'
get "http://127.0.0.1:$ng/own"
ok "an error of its own is app.error" row_is "$ng" /own "status || ' ' || code" "500 app.error"
get "http://127.0.0.1:$ng/none"
ok "a close without an answer is a row without a status" row_is "$ng" /none "status || ' ' || code" "0 app.closed"

kill -STOP ${started%% *}
get "http://127.0.0.1:$c/queued?s=500" & waiting=$!
unread() { # bytes wait for it
	ss -Htn state established "sport = :$c" | awk '$1 > 0 { found = 1 } END { exit !found }'
}
await 300 unread
sleep 0.6 # time: how long the request waits
kill -CONT ${started%% *}
wait $waiting
ok "time before a stopped server reads is queue time" row_is "$c" /queued "queue_us >= 450000 and queue_us + request_us < $(took) + 20000" "t"

get "https://127.0.0.1:$c/" -k
get "http://127.0.0.1:$c/" --http2-prior-knowledge
get "http://127.0.0.1:$nd/upgrade" -H 'Connection: Upgrade' -H 'Upgrade: x'
python3 -c 'import socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(b"GET /one HTTP/1.1\r\nHost: x\r\n\r\nGET /two HTTP/1.1\r\nHost: x\r\n\r\n"); time.sleep(0.3)' "$nd" # time: both are answered
ok "a TLS connection is counted as not read" await_value so counted tls server
ok "an HTTP/2 connection is counted as not read" await_value so counted http2 server
ok "an upgraded connection is counted" await_value so counted upgraded node
ok "pipelined requests are counted" await_value so counted pipelined node
ok "and make no row" test "$(ask "select count(*) from request where path in ('/one', '/two')")" = 0
get "http://127.0.0.1:$c/fine"
get "http://127.0.0.1:$nd/stream"
exec 5<>"/dev/tcp/127.0.0.1/$nd" && printf 'GET /stream-left HTTP/1.1\r\nHost: x\r\n\r\n' >&5 && read -r -t 10 _ <&5
exec 5>&- # with its first event
get "http://127.0.0.1:$nd/large"
get "http://127.0.0.1:$nd/last?s=500"
get "http://127.0.0.1:$c/last?s=500"
ok "requests that fail after these have rows" eval 'row_is "$c" /last status 500 && await_value 1 ask "select 1 from request where local_port = $nd and path = \$\$/last\$\$"'
ok "a request that is well makes no row" test -z "$(row "$c" /fine status)"
ok "an event stream is well that begins in time, also if its reader leaves it" test -z "$(row "$nd" /stream status)$(row "$nd" /stream-left status)"
ok "so is an answer of more than 1 MB" test -z "$(row "$nd" /large status)"
ok "it is counted" test "$(coverage requests_seen)" -gt 10
ok "the console's API lists what is not read, by app" eval 'curl -s "http://$WEB/api/v1/nodes" | grep -q tls'
done_checking
