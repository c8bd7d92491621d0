#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh - something to look at: nginx in front of two application servers, each in a network namespace of its
# own, and load, with one fault after the other switched on and off. Every kind of row within a minute. Runs
# until it is interrupted, or for SECONDS_IN_ALL; leaves nothing. The stack itself is make run's.
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build} seconds=${SECONDS_IN_ALL:-0} each=${SECONDS_EACH:-6} port=${PORT:-8088}
net=10.231.77 hosts=(a b) app=8000

fail() {
	echo "Seismo: $*." >&2
	exit 1
}

[ "$(id -u)" = 0 ] || fail "the demo makes network namespaces: use sudo make demo"
command -v nginx >/dev/null && command -v ip >/dev/null || fail "the demo needs nginx and ip: apt-get install nginx-light iproute2"
! ss -Hltn "sport = :$port" | grep -q . || fail "port $port is taken: choose another with make demo PORT=..."
! ip netns list | grep -q seismo-demo || fail "a demo runs already, or was killed: ip netns delete seismo-demo-a; ip netns delete seismo-demo-b"
tmp=$(mktemp -d) && chmod 755 "$tmp" || exit 1
declare -A server

clean() {
	trap - EXIT
	kill "${server[@]}" $load 2>/dev/null
	[ ! -f "$tmp/nginx.pid" ] || kill "$(cat "$tmp/nginx.pid")"
	for h in "${hosts[@]}"; do
		ip netns delete "seismo-demo-$h" 2>/dev/null
	done
	wait 2>/dev/null
	rm -rf "$tmp"
}
load=
trap clean EXIT
trap 'exit 130' INT TERM HUP

host_make() { # NAME NUMBER: 10.231.77.(4n+2) behind a veth
	ip netns add "seismo-demo-$1" &&
		ip link add "seismo-$1" type veth peer name eth0 netns "seismo-demo-$1" &&
		ip address add "$net.$(($2 * 4 + 1))/30" dev "seismo-$1" && ip link set "seismo-$1" up &&
		ip -n "seismo-demo-$1" address add "$net.$(($2 * 4 + 2))/30" dev eth0 &&
		ip -n "seismo-demo-$1" link set eth0 up || fail "cannot make the host seismo-demo-$1"
}

server_start() { # NAME ARG...
	ip netns exec "seismo-demo-$1" "$B/tools/server" $app --max-delay 8 "${@:2}" &
	server[$1]=$!
}

server_stop() { # NAME
	kill "${server[$1]}" && wait "${server[$1]}" 2>/dev/null
}

front() {
	cat >"$tmp/nginx.conf" <<-END
	pid $tmp/nginx.pid; error_log $tmp/error.log crit; user root; worker_processes 1; events { }
	http {
		client_body_temp_path $tmp/t1; proxy_temp_path $tmp/t2; fastcgi_temp_path $tmp/t3; uwsgi_temp_path $tmp/t4; scgi_temp_path $tmp/t5;
		access_log off; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_read_timeout 2s; proxy_connect_timeout 1s;
		upstream shop { server $net.2:$app max_fails=0; server $net.6:$app max_fails=0; keepalive 16; }
		upstream single { server $net.6:$app max_fails=0; keepalive 16; }
		server { listen 127.0.0.1:$port;
			location / { proxy_pass http://shop; }
			location /cart { proxy_pass http://single; }
			location /broken { return 500; } }
	}
	END
	nginx -c "$tmp/nginx.conf" -e "$tmp/error.log" || fail "nginx did not start: $(tail -n 1 "$tmp/error.log")"
}

ask() { # PREFIX SECONDS RATE LOAD_ARG...
	"$B/tools/load" "127.0.0.1:$port" --conns 10 --prefix "$1" --seconds "$2" --rate "$3" "${@:4}" >/dev/null
}

fault() { # WORDS COMMAND...
	printf '  %s  %s\n' "$(date +%T)" "$1"
	"${@:2}"
}

retried() {
	server_stop a
	server_start a --fail 40
	ask /items/ "$each" 10
	server_stop a
	server_start a
	sleep 0.3
}

refused() {
	server_stop b
	ask /cart/ "$each" 5
	server_start b
	sleep 0.3
}

round() {
	fault "all is well" sleep "$each"
	fault "one upstream answers 250 ms late" ask /cart/report/ "$each" 4 --query d=250
	fault "an upstream answers 503" ask /cart/checkout/ "$each" 4 --query s=503
	fault "one of two upstreams closes 40 % of its connections: retries" retried
	fault "an upstream is down: connections refused" refused
	fault "an upstream does not answer within 2 s: 504" ask /cart/stuck/ "$each" 1 --query d=5000
	fault "clients hang up after 20 ms" ask /cart/search/ "$each" 4 --every 1,d=300,20
	fault "nginx itself answers 500" ask /broken/ "$each" 2
}

host_make a 0
host_make b 1
server_start a
server_start b
sleep 0.3
front
"$B/tools/load" "127.0.0.1:$port" --conns 10 --prefix /items/ --rate 50 --seconds 86400 >/dev/null & load=$!
echo "nginx on 127.0.0.1:$port, its upstreams in namespaces seismo-demo-a and -b; 50 requests a second. Ctrl-C ends it."
while round; do
	[ "$seconds" -eq 0 ] || [ $SECONDS -lt "$seconds" ] || break
done
