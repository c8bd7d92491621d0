#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# across.sh - two hosts as network namespaces, nginx in one before a server in the other: whose their addresses are, and
# both halves of each call, over a whole stack, on a node that has 3,000 other processes.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

net=10.231.79 front=seismo-x$$-a back=seismo-x$$-b # no other test uses that net
server= asks= others=
on_exit() {
	kill $server $asks $others 2>/dev/null
	[ ! -f "$tmp/nginx.pid" ] || kill "$(cat "$tmp/nginx.pid")"
	ip netns delete "$front" 2>/dev/null
	ip netns delete "$back" 2>/dev/null
}
trap 'on_exit; rm -rf "$tmp"' EXIT

ip netns add "$front" && ip netns add "$back" && ip link add dev va netns "$front" type veth peer name vb netns "$back" &&
	ip -n "$front" address add $net.1/24 dev va && ip -n "$back" address add $net.2/24 dev vb && ip -n "$front" link set va up &&
	ip -n "$front" link set lo up && ip -n "$back" link set vb up || { echo "0 passed, 1 failed"; exit 1; }
gcc -O1 -o "$tmp/others" tests/it/hostile/foreign_server.c || { echo "0 passed, 1 failed"; exit 1; }
read -r port < <(free_ports 1)
"$tmp/others" "$port" --processes 3000 & others=$!
listening "$port"
ip netns exec "$back" "$B/tools/server" 8000 & server=$!
ip netns exec "$back" python3 tests/it/topology/across_asks.py $net.2 5432 & asks=$!
ip netns exec "$front" python3 tests/it/topology/across_asks.py $net.1 8080 $net.2 5432 & asks+=" $!"
cat >"$tmp/nginx.conf" <<END
pid $tmp/nginx.pid; error_log $tmp/error.log crit; user root; worker_processes 1; events { }
http {
	client_body_temp_path $tmp/t1; proxy_temp_path $tmp/t2; fastcgi_temp_path $tmp/t3; uwsgi_temp_path $tmp/t4; scgi_temp_path $tmp/t5;
	access_log off; proxy_http_version 1.1; proxy_set_header Connection "";
	upstream shop { server $net.2:8000; keepalive 4; }
	server { listen 80; location / { proxy_pass http://shop; } }
}
END
ip netns exec "$front" nginx -c "$tmp/nginx.conf" -e "$tmp/error.log"
get() { # PATH
	ip netns exec "$front" curl -s -o /dev/null -m 5 "http://$net.1$1"
}
get /warm
listening_in() { # NETNS PORT
	ip netns exec "$1" ss -Hltn "sport = :$2" | grep -q .
}
await 400 listening_in "$back" 5432
await 400 listening_in "$front" 8080
ip netns exec "$front" curl -s -o /dev/null -m 5 "http://$net.1:8080/warm"
stack_open --slow-ms 0
mine="local <<= inet '$net.0/24'"
rows() {
	ask "select count(*) from request where $mine"
}
whose() { # ADDR PORT
	ask "select n.name, r.app, r.kind from resolve('$1', $2, now()) r join node n using (node_id)"
}
ok "a listener in another network namespace is reported" await_value "test server listener" whose $net.2 8000
ok "and nginx in its own" await_value "test nginx listener" whose $net.1 80
ok "an address without a listener is the node's" [ "$(whose $net.2 40000)" = "test  address" ]
ok "the source says that it is on" [ "$(ask "select state from source where name = 'places'")" = 1 ]

for i in $(seq 20); do
	get "/r/$i?d=$((i % 3))"
done
ok "each request is two rows" await_value 40 rows
api() { # PATH PYTHON: true of the answer a
	curl -s "http://$WEB/api/v1/$1" | python3 -c "import json, sys; a = json.load(sys.stdin); sys.exit(not ($2))"
}
halves() { # of how many of nginx's requests the other half is found, and how many are the wrong one
	ask "select count(*) filter (where c ->> 'id' is not null), count(*) filter (where c ->> 'request' <> 'GET ' || path or (c ->> 'networkTime')::numeric < 0)
		from request, json_array_elements(api.calls(ts, request_id)) c where $mine and local_port = 80"
}
callers() {
	ask "select count(*) filter (where c ->> 'id' is not null), count(*) filter (where c ->> 'request' <> 'GET ' || path)
		from (select path, api.called_by(ts, request_id) c from request where $mine and local_port = 8000) r"
}
ok "each call is joined, on connections that are used again, and none wrongly" await_value "20 0" halves
ok "and from the other end" await_value "20 0" callers
seventh() { # PORT SQL: of the one request there
	ask "select $2 from request where $mine and local_port = $1 and path = '/r/7'"
}
callee="dict(id='$(seventh 8000 "api.id_text(ts, request_id)")', app='server', totalTime=$(seventh 8000 "(queue_us + request_us) / 1e3::float8"))"
ok "the API names who was called, and how long that took by its own row" api "requests/$(seventh 80 "api.id_text(ts, request_id)")" \
	"a['upstreamPlace'] == dict(node='test', app='server', how='listener') and {k: a['calls'][0][k] for k in ('id', 'app', 'totalTime')} == $callee"
edges() {
	curl -s "http://$WEB/api/v1/topology?app=nginx" | python3 -c "
import json, sys
for e in json.load(sys.stdin)['edges']:
    if e['to']['addr'] == '$net.2:8000': print(e['from']['app'], e['to']['app'], e['calls']['count'], e['served']['count'] >= 20)" # other tests' servers are called the same
}
ok "and the edge has as many calls as there were" await_value "nginx server 20 True" edges

# By another protocol than HTTP: who was asked, how often, and how long that took; on a connection from before the probe, and on new ones.
for i in $(seq 10); do
	for path in old new; do
		ip netns exec "$front" curl -s -o /dev/null -m 5 "http://$net.1:8080/$path"
	done
done
waited() {
	ask "select sum(n), sum(sum_us) between 20 * 100000 and sum(o) from (select n, sum_us, 0 as o from red join red_key k using (node_id, key_id) where k.role = 4 and k.peer = '$net.2:5432'
		union all select 0, 0, sum(request_us) from request where $mine and local_port = 8080) w"
}
ok "the wait of a request for a server of another protocol is counted with its time" await_value "20 t" waited
ok "and that is not its own" await_value t ask "select sum(r.sum_us) < 20 * 50000 from red r join red_key k using (node_id, key_id) where k.role = 2 and k.peer = ':8080'"
done_checking
