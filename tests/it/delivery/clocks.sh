#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clocks.sh - two hosts as network namespaces with a probe each, one of which has a clock that is off, and then is set: each
# call is joined with its other half, and none with another's.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

net=10.231.85 ns=seismo-c$$ hosts="h1 h2" # no other test uses that net
top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)/seismo-clocks.$$
faketime=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1 2>/dev/null)
read -r port web < <(free_ports 2 | tr '\n' ' ')
. tests/lib/hosts_rig.sh

hosts() {
	local n
	mkdir -p "$top/h1" "$top/h2" && ip netns add "$ns-h1" && ip netns add "$ns-h2" && ip link add dev e netns "$ns-h1" type veth peer name e netns "$ns-h2" || return
	for n in 1 2; do
		ip -n "$ns-h$n" address add "$net.$n/24" dev e && ip -n "$ns-h$n" link set e up && ip -n "$ns-h$n" link set lo up || return
	done
	cat >"$dir/nginx.conf" <<-END
	pid $dir/nginx.pid; error_log $dir/error.log crit; user root; worker_processes 1; events { }
	http {
		client_body_temp_path $dir/t1; proxy_temp_path $dir/t2; fastcgi_temp_path $dir/t3; uwsgi_temp_path $dir/t4; scgi_temp_path $dir/t5;
		access_log off; proxy_http_version 1.1; proxy_set_header Connection "";
		upstream shop { server $net.2:8000; keepalive 4; }
		server { listen 80; location / { proxy_pass http://shop; } }
	}
	END
	(there 1 nginx -c "$dir/nginx.conf" -e "$dir/error.log")
	there 2 "$B/tools/server" 8000 & pids+=($!)
}

# A probe of what is in that cgroup; the kernel's clocks, of which it has the times of what it sees, are what they are.
watch() { # N [VARIABLE=VALUE...]
	exec env "${@:2}" "$B/seismo-probe" --collector "tcp://127.0.0.1:$port" --collector-key "$COLLECTOR_PUB" --token "$TOKEN" --keys "$dir/keys.h$1" \
		--node "h$1" --scope "cgroup=$top/h$1" --slow-ms 0 --profile 0 --cpu-wait-share 0 2>>"$dir/h$1.log"
}

set_ahead() { # SECONDS: the clock of the second host, within a second
	echo "+$1" >"$dir/ahead.new" && mv "$dir/ahead.new" "$dir/ahead"
}

is_reported() { # NODE SECONDS: its clock is stored as so much ahead, within the uncertainty, which is below 1 s
	is t "select abs(-offset_us - $2 * 1000000) <= uncertainty_us and uncertainty_us < 1000000 from clock join node using (node_id) where name = '$1' order by told desc limit 1"
}

ready() {
	is 2 "select count(*) from source where name = 'request' and state = 1" &&
		is 2 "select count(distinct p.node_id) from place p join node n using (node_id) where (n.name, p.port) in (('h1', 80), ('h2', 8000))"
}

calls() { # PREFIX: 20, of a few ms
	local i
	for i in {1..20}; do
		ip netns exec "$ns-h1" curl -s -o /dev/null -m 5 "http://$net.1/$1/$i?d=$((i % 3))"
	done
}

rows() { # PREFIX: of each host
	sql -c "select string_agg(n::text, ' ' order by name) from (select n.name, count(*) filter (where r.path like '/$1/%') as n
		from node n left join request r using (node_id) group by n.name) x"
}

joined() { # PREFIX: how many of nginx's requests are joined with their call, and of those that were called with theirs; how many wrongly
	sql -c "select (select count(c ->> 'id') || ' ' || count(*) filter (where c ->> 'request' <> 'GET ' || path) from request r join node n using (node_id),
			json_array_elements(api.calls(ts, request_id)) c where n.name = 'h1' and path like '/$1/%') || ' ' ||
		(select count(c ->> 'id') || ' ' || count(*) filter (where c ->> 'request' <> 'GET ' || path) from (select r.path, api.called_by(ts, request_id) c
			from request r join node n using (node_id) where n.name = 'h2' and path like '/$1/%') x)"
}

has() { # EXPECTED COMMAND...
	[ "$("${@:2}")" = "$1" ] || { echo "not $1 but $("${@:2}"): ${*:2}"; return 1; }
}

slow() { # HOW_MANY MS: calls of the shop that take so long
	local i
	for ((i = 0; i < $1; i++)); do
		ip netns exec "$ns-h1" curl -s -o /dev/null -m 5 "http://$net.1/buy?d=$2"
	done
}

api() { # PATH PYTHON: true of the answer a
	curl -s "http://127.0.0.1:$web/api/v1/$1" | python3 -c "import datetime, json, sys; a = json.load(sys.stdin); sys.exit(not ($2))"
}

moment() { # EXPRESSION: a time as the API gives it, in seconds
	echo "datetime.datetime.fromisoformat($1[:-1] + '+00:00').timestamp()"
}

[ -n "$faketime" ] && hosts 2>"$dir/hosts.err" || { cat "$dir/hosts.err"; echo "0 passed, 1 failed: is faketime installed?"; exit 1; }
pg_make
start one "$port" "$web" --incidents-window-s 60 --incidents-join-s 60
let_in
set_ahead 5
watch 1 & pids+=($!)
watch 2 LD_PRELOAD="$faketime" FAKETIME_TIMESTAMP_FILE="$dir/ahead" FAKETIME_CACHE_DURATION=1 FAKETIME_DONT_RESET=1 DONT_FAKE_MONOTONIC=1 FAKETIME_DONT_FAKE_MONOTONIC=1 & pids+=($!)
calls warm
ok "both hosts are watched, and say who listens there" await 600 ready
ok "a clock that is right is reported as right" await 200 is_reported h1 0
ok "and one that is 5 s ahead, too" await 200 is_reported h2 5
calls five
ok "of 20 calls each is a row of both" await 400 has "20 20" rows five
ok "each is joined, from both ends, and none wrongly" has "20 0 20 0" joined five
ok "the API says it of the node" api nodes "[abs(n['clock']['ahead'] - 5000) <= n['clock']['uncertainty'] < 1000 for n in a['nodes'] if n['name'] == 'h2'] == [True]"

slow 150 1
slow 40 400
ok "what is slow of both is one incident" await 400 api "incidents?node=h1&node=h2" "len(a['incidents']) == 1 and a['incidents'][0]['nodes'] == ['h1', 'h2']"
id=$(sql -c "select id from api.incident where cardinality(nodes) = 2 and state <> 'merged'")
ok "its hosts began by the collector's clock, and one of them said 5 s more" api "incidents/$id" \
	"all(abs($(moment "e['first']") - $(moment "e['began']") - {'h1': 0, 'h2': 5}[e['node']]) < 0.5 for e in a['evidence'])"
ok "and so did it, with one of them" api "incidents/$id" "min(abs($(moment "a['onset']") - $(moment "e['began']")) for e in a['evidence']) < 0.002"
ok "who was first is said only beyond what is not known of the clocks" api "incidents/$id" "a['order']['within'] is not None and a['order']['known'] == (a['order']['apart'] > a['order']['within'])"

set_ahead 65
ok "a clock that is set is reported again" await 300 is_reported h2 65
calls more
ok "of 20 calls each is a row of both, again" await 400 has "20 20" rows more
ok "each is joined, though they are 65 s apart" has "20 0 20 0" joined more
ok "and what was before it was set still is" has "20 0 20 0" joined five
ok "who was called is named, in spite of its clock" is "h2 server 20" "select (c ->> 'node') || ' ' || (c ->> 'app') || ' ' || count(*) from request r join node n using (node_id),
	json_array_elements(api.calls(ts, request_id)) c where n.name = 'h1' and path like '/more/%' group by c ->> 'node', c ->> 'app'"

set_ahead 0
ok "so is one that is set back" await 300 is_reported h2 0
calls back
ok "of 20 calls each is a row of both, once more" await 400 has "20 20" rows back
ok "and each is joined" has "20 0 20 0" joined back
done_checking
