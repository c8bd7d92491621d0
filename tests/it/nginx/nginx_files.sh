#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nginx_files.sh - which programs are taken for an nginx: also one of another name, one that takes the place of the
# last one, and the workers of a reload; not a program that only has its symbol, nor a library; and none
# where it is switched off.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh
. tests/lib/nginx_rig.sh

read -r port tls b1 liar nonsense preloaded < <(free_ports 6 | tr '\n' ' ')
fakes=
on_exit() { kill $fakes 2>/dev/null; nginx_gone; }
stack_open --slow-ms 0
server_start "$b1"

http() {
	cat <<-END
	upstream one { server 127.0.0.1:$b1; keepalive 16; }
	server { listen 127.0.0.1:$port backlog=4096 reuseport; location / { proxy_pass http://one; } }
	server { listen 127.0.0.1:$tls ssl http2; ssl_certificate $tmp/cert; ssl_certificate_key $tmp/key; location / { proxy_pass http://one; } }
	END
}

said() { # REGEX: how often the probe has
	grep -cE "$1" "$VAR/log/probe.log"
}

pipelined_rows() { # PREFIX: a pipeline has rows by nginx's word alone
	load "$port" "$1" 200 0.5 --conns 10 --pipeline 4
	await_value "$sent" rows "$port" "$1"
}

openssl req -x509 -newkey rsa:2048 -nodes -keyout "$tmp/key" -out "$tmp/cert" -days 1 -subj /CN=test 2>/dev/null
nginx_start 1 < <(http)
pid=$(cat "$tmp/nginx.pid")
warm "$port"
ok "an nginx is read" await_value 1 said "$(command -v nginx).* read exactly"
ok "its pipelines have rows" pipelined_rows /first/
workers_replaced() { # none of those in $old is there any more, and others are
	local worker
	for worker in $old; do
		[ ! -d "/proc/$worker" ] || return 1
	done
	pgrep -P "$pid" >/dev/null
}

curl -sk -o /dev/null --http1.1 "https://127.0.0.1:$tls/tls/[1-5]"
curl -sk -o /dev/null --http2 "https://127.0.0.1:$tls/h2/[1-5]"
ok "what came by TLS has rows" await_value 5 rows "$tls" /tls/
ok "so has what came by HTTP/2" await_value 5 rows "$tls" /h2/
ok "with status, client, and what their upstream did" test "$(ask "select count(*) from request where local_port = $tls and status = 200
	and host(remote) = '127.0.0.1' and upstreams -> 0 ->> 'addr' = '127.0.0.1:$b1' and (upstreams -> 0 ->> 'status')::int = 200")" = 10
ok "and neither is reported as not read" test "$(ask "select count(*) from unread where kind in ('tls', 'http2') and app = 'nginx'")" = 0
old=$(pgrep -P "$pid" | tr '\n' ' ')
kill -HUP "$pid"
await 300 workers_replaced
ok "so have those of its next workers" pipelined_rows /reloaded/
ok "which is the same file" test "$(said 'read exactly')" = 1

nginx_stop
cp "$(command -v nginx)" "$tmp/web-front"
"$tmp/web-front" -c "$tmp/nginx.conf" -e "$tmp/error.log"
warm "$port"
ok "one under another name is found with its first request" pipelined_rows /renamed/
ok "and known by its build" test "$(said 'web-front.* read exactly')" = 1
cp "$(command -v nginx)" "$tmp/web-new" && mv "$tmp/web-new" "$tmp/web-front"
kill -USR2 "$(cat "$tmp/nginx.pid")" # an upgrade while it serves
await 300 test -s "$tmp/nginx.pid.oldbin" -a -s "$tmp/nginx.pid"
kill -QUIT "$(cat "$tmp/nginx.pid.oldbin")"
await 300 test ! -e "$tmp/nginx.pid.oldbin"
warm "$port"
ok "one that took its place while it served is read too" pipelined_rows /upgraded/
ok "as a file of its own" test "$(said 'web-front.* read exactly')" = 2
ok "no request of a real nginx was left to its sockets" test "$(coverage nginx_unread)" = 0

serves() { # PORT
	await_value 200 curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$1/up"
}

doctor() { # what it says of an nginx, while requests come
	local client
	# time: some requests a second
	(while sleep 0.3; do curl -s -o /dev/null "http://127.0.0.1:$port/doctor"; done) & client=$!
	"$B/seismo-probe" doctor --collector "$BIND" | sed -n 's/^\(...\) *nginx \(.*\)/\1 \2/p'
	kill $client
}
ok "the doctor says that its records can be read" grep -qE 'ok .*web-front.* its own records can be read' <(doctor)

"$B/tools/fakenginx" "$liar" liar & fakes+=" $!"
serves "$liar"
cp "$B/tools/fakenginx" "$tmp/nginx-nonsense"
"$tmp/nginx-nonsense" "$nonsense" nonsense & fakes+=" $!"
serves "$nonsense"
load "$liar" /liar/ 100 2 --conns 5 --close
ok "a liar's requests are what its sockets say" await_value 200 rows "$liar" /liar/
ok "and no other" test "$(ask "select count(*) from request where path = '/never' or status = 418 or upstreams::text like '%10.9.8.7%'")" = 0
ok "it is found out" await_value 1 said 'fakenginx: the layout of its request struct was not recognised'
load "$nonsense" /nonsense/ 100 3 --conns 5 --close
ok "one that hands over pointers to nowhere keeps its rows" await_value 300 rows "$nonsense" /nonsense/
ok "it is found out, too" await_value 1 said 'nginx-nonsense: the layout of its request struct was not recognised'
load "$nonsense" /nonsense2/ 100 1 --conns 5 --close
ok "its requests are counted as seen by sockets alone" await_value t ask "select coalesce(sum(value), 0) > 50 from api.coverage where name = 'nginx_unread'"

cc -shared -fPIC -o "$tmp/nginx.so" -xc - <<<'long ngx_http_free_request(void *r, long c) { return c; }'
LD_PRELOAD=$tmp/nginx.so "$B/tools/server" "$preloaded" & fakes+=" $!"
serves "$preloaded"
load "$preloaded" /preloaded/ 100 1 --conns 5
ok "a library with the symbol makes no nginx of a program" await_value 100 rows "$preloaded" /preloaded/
ok "nobody speaks of it" test "$(said 'tools/server')" = 0

: >"$VAR/log/probe.log"
PROBE_FLAGS="--slow-ms 0 --nginx off" stack_start
load "$port" /off/ 100 1 --conns 5
ok "switched off, requests are seen by their sockets" await_value 100 rows "$port" /off/
before=$(coverage pipelined)
load "$port" /off-piped/ 200 1 --conns 10 --pipeline 4
ok "and pipelines are counted only" await 300 eval '[ "$(coverage pipelined)" -gt "$before" ] && [ "$(rows "$port" /off-piped/)" -lt 100 ]'
ok "no nginx is spoken of" test "$(said nginx)" = 0
done_checking
