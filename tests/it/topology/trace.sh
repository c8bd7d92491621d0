#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# trace.sh - three hosts as network namespaces with a probe each, and one without: nginx before an application before
# another. A request is followed across them, from any of its rows, and never to a row of another.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

net=10.231.83 ns=seismo-t$$ hosts="sw h10 h1 h2 h3 h4" # no other test uses that net
top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)/seismo-trace.$$
read -r port web < <(free_ports 2 | tr '\n' ' ')
. tests/lib/hosts_rig.sh

host() { # N: a namespace on the switch, and a cgroup
	mkdir -p "$top/h$1" && ip netns add "$ns-h$1" && ip link add dev e netns "$ns-h$1" type veth peer name "p$1" netns "$ns-sw" &&
		ip -n "$ns-sw" link set "p$1" master br0 up && ip -n "$ns-h$1" address add "$net.$1/24" dev e &&
		ip -n "$ns-h$1" link set e up && ip -n "$ns-h$1" link set lo up
}

on() { # N COMMAND...
	(there "$@")
}

hosts() {
	local n
	ip netns add "$ns-sw" && ip -n "$ns-sw" link add dev br0 type bridge && ip -n "$ns-sw" link set br0 up || return
	for n in 10 1 2 3 4; do host $n || return; done
	cat >"$dir/nginx.conf" <<-END
	pid $dir/nginx.pid; error_log $dir/error.log crit; user root; worker_processes 1; events { }
	http {
		client_body_temp_path $dir/t1; proxy_temp_path $dir/t2; fastcgi_temp_path $dir/t3; uwsgi_temp_path $dir/t4; scgi_temp_path $dir/t5;
		access_log off; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header X-Request-Id \$request_id;
		upstream shop { server $net.2:8000; keepalive 16; }
		server { listen 80; keepalive_requests 100000; location / { proxy_pass http://shop; } }
	}
	END
	on 1 nginx -c "$dir/nginx.conf" -e "$dir/error.log"
	there 2 python3 tests/it/topology/trace.py serve 8000 "$net.3:9000" "$net.4:9000" & pids+=($!)
	there 3 "$B/tools/server" 9000 & pids+=($!)
	there 4 "$B/tools/server" 9000 & pids+=($!)
}

watch() { # N: a probe of what is in that cgroup
	exec "$B/seismo-probe" --collector "tcp://127.0.0.1:$port" --collector-key "$COLLECTOR_PUB" --token "$TOKEN" --keys "$dir/keys.h$1" \
		--node "h$1" --scope "cgroup=$top/h$1" --slow-ms 20 --profile 0 --cpu-wait-share 0 2>>"$dir/h$1.log"
}

ask() { # PREFIX SECONDS [QUERY]: 60 a second, at most 12 at a time
	on 10 "$B/tools/load" "$net.1:80" --conns 12 --rate 60 --seconds "$2" --prefix "$1" --query "${3:-}"
}

press() { # PREFIX RATE: a call upon the other, on four connections, for as many as in 3 s
	on 10 "$B/tools/load" "$net.1:80" --conns 4 --rate "$2" --seconds 3 --prefix "$1"
}

rows() { # PREFIX: of each host
	sql -c "select string_agg(n::text, ' ' order by name) from (select n.name, count(*) filter (where r.path like '$1%') as n
		from node n left join request r using (node_id) where n.name like 'h_' group by n.name) x"
}

has() { # EXPECTED COMMAND...
	[ "$("${@:2}")" = "$1" ]
}

are_watched() {
	is 3 "select count(*) from source where name = 'request' and state = 1" &&
		is 3 "select count(distinct p.node_id) from place p join node n using (node_id) where (n.name, p.port) in (('h1', 80), ('h2', 8000), ('h3', 9000))"
}

judge() { # NODE PREFIX MOST HOST...
	python3 tests/it/topology/trace.py judge "127.0.0.1:$web" "$@" 2>"$dir/judge.err"
}

whole() { # N WHOLE WRONG: at least 199 of 200, and none wrong
	[ "${1:-0}" -gt 0 ] && [ $((200 * $2)) -ge $((199 * $1)) ] && [ "$3" = 0 ] || { echo "of ${1:-} ${2:-} whole, ${3:-} wrong: $(tail -n 1 "$dir/judge.err")"; return 1; }
}

most() { # NODE PREFIX PYTHON: true of the traces of at least three of four of these rows; others may have been slow elsewhere, too
	local id n=0 good=0 odd=
	for id in $(sql -c "select api.id_text(ts, request_id) from request join node n using (node_id) where n.name = '$1' and path like '$2%' order by path limit 20"); do
		n=$((n + 1))
		if curl -s "http://127.0.0.1:$web/api/v1/requests/$id/trace" >"$dir/trace.json" &&
			python3 -c "import json, sys; a = json.load(sys.stdin); at = a['lookAt'] or {}; sys.exit(not ($3))" <"$dir/trace.json"; then
			good=$((good + 1))
		else
			odd=$(cut -c1-1500 "$dir/trace.json")
		fi
	done
	[ "$n" -gt 0 ] && [ $((4 * good)) -ge $((3 * n)) ] || { echo "$good of $n: $odd"; return 1; }
}

hosts 2>"$dir/hosts.err" || { cat "$dir/hosts.err"; echo "0 passed, 1 failed"; exit 1; }
pg_make
start one "$port" "$web"
let_in
for n in 1 2 3; do
	watch $n & pids+=($!)
done
ok "the three hosts are watched, and say who listens there" await 600 are_watched
ask /warm/ 1 d=1 >/dev/null
ask /r/ 5 d=60 >/dev/null
ask /w/ 2 >/dev/null
press /w/b 100 >/dev/null
press /e/ 200 >/dev/null
ask /x/ 1 d=60 >/dev/null
ask /q/ 1 >/dev/null
ok "each request is a row of each host ($(rows /r/))" await 400 has "300 300 300" rows /r/
ok "traces from the first hop are whole and right" whole $(judge h1 /r/ 200 h1 h2 h3)
ok "and so are those from the last" whole $(judge h3 /r/ 100 h1 h2 h3)
ok "and from the one in the middle" whole $(judge h2 /r/ 50 h1 h2 h3)
ok "so are those whose path a host changes" whole $(judge h1 /w/ 200 h1 h2 h3)
ok "also a call upon the other, on connections that are used again" whole $(judge h1 /w/b 200 h1 h2 h3)
ok "and these from the last hop" whole $(judge h3 /stock/b 100 h1 h2 h3)
ok "calls of a moment, whose paths it changes, are joined by the id that it passes on" whole $(judge h2 /e/ 200 h1 h2 h3)
ok "each says that the last host is where the time arose" most h1 /r/ "at.get('kind') == 'node' and at['node'] == 'h3' and at['ms'] >= 50"
ok "and that nobody is known before the first" most h3 /r/ "a['hop'] == 2 and (a['caller']['addr'].split(':')[0], a['caller']['silence']) == ('$net.10', 'noProbe')"
ok "a host without a probe ends it, and is where to look" most h1 /x/ "[(h['node'], h['silence']) for h in a['hops']] == [('h1', None), ('h2', None), (None, 'noProbe')]
	and (at.get('kind'), at.get('addr')) == ('behind', '$net.4:9000')"
ok "a host that had nothing abnormal ends it, and is not where to look" most h1 /q/ "[(h['node'], h['silence']) for h in a['hops']] == [('h1', None), ('h2', None), ('h3', 'nothingAbnormal')]
	and at.get('node') == 'h2'"
done_checking
