#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# between.sh - what stands between two hosts that have a probe: a virtual address that moves and that several hold, a NAT of
# either kind, a proxy without a probe. A request is never followed to a row of another, and whoever has no probe is never
# named before a host that has one, and evidence.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

net=10.231.84 far=10.231.85 vip=10.231.84.100 ns=seismo-b$$ hosts="sw h10 h1 h2 h3 h4 h5 h254" # no other test uses these nets
top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)/seismo-between.$$
read -r port web < <(free_ports 2 | tr '\n' ' ')
watched=4
. tests/lib/hosts_rig.sh

space() { # N: a namespace, and a cgroup
	mkdir -p "$top/h$1" && ip netns add "$ns-h$1" && ip -n "$ns-h$1" link set lo up
}

host() { # N: on the switch
	space "$1" && ip link add dev e netns "$ns-h$1" type veth peer name "p$1" netns "$ns-sw" &&
		ip -n "$ns-sw" link set "p$1" master br0 up && ip -n "$ns-h$1" address add "$net.$1/24" dev e && ip -n "$ns-h$1" link set e up
}

behind() { # N: behind the router, h254
	space "$1" && ip link add dev e netns "$ns-h$1" type veth peer name f netns "$ns-h254" && ip -n "$ns-h$1" address add "$far.$1/24" dev e &&
		ip -n "$ns-h$1" link set e up && ip -n "$ns-h254" address add "$far.254/24" dev f && ip -n "$ns-h254" link set f up &&
		ip -n "$ns-h$1" route add default via "$far.254" && ip netns exec "$ns-h254" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
}

on() { # N COMMAND...
	(there "$@")
}

proxy() { # FILE SERVER: of nginx
	cat <<-END
	pid $dir/$1.pid; error_log $dir/$1.err crit; user root; worker_processes 1; events { }
	http {
		client_body_temp_path $dir/$1.1; proxy_temp_path $dir/$1.2; fastcgi_temp_path $dir/$1.3; uwsgi_temp_path $dir/$1.4; scgi_temp_path $dir/$1.5;
		access_log off;
		server { listen 80; keepalive_requests 100000; $2 }
	}
	END
}

hosts() {
	local n
	ip netns add "$ns-sw" && ip -n "$ns-sw" link add dev br0 type bridge && ip -n "$ns-sw" link set br0 up || return
	for n in 10 1 2 3 5 254; do host $n || return; done
	behind 4 || return
	proxy nginx "location /v/ { proxy_pass http://$vip:8000; } location /n/ { proxy_pass http://$net.254:8080; } location /p/ { proxy_pass http://$net.5; }" >"$dir/nginx.conf"
	proxy other "location / { proxy_pass http://$net.2:8000; }" >"$dir/other.conf"
	on 1 nginx -c "$dir/nginx.conf" -e "$dir/nginx.err"
	there 5 nginx -c "$dir/other.conf" -e "$dir/other.err" -g "daemon off;" & pids+=($!)
	there 2 "$B/tools/server" 8000 & pids+=($!)
	there 3 "$B/tools/server" 8000 & pids+=($!)
	there 4 "$B/tools/server" 9000 & pids+=($!)
	nat # what comes back goes by the router
	ip -n "$ns-h2" address add "$vip/32" dev e
}

nat() { # [STATEMENT]: of what leaves the router for those behind it
	ip netns exec "$ns-h254" nft -f - <<-END
	table ip way { }
	delete table ip way
	table ip way {
		chain in { type nat hook prerouting priority -100; ip daddr $net.254 tcp dport 8080 dnat to $far.4:9000; }
		chain out { type nat hook postrouting priority 100; oifname "f" ${1:-accept}; }
	}
	END
}

watch() { # N: a probe of what is in that cgroup
	exec "$B/seismo-probe" --collector "tcp://127.0.0.1:$port" --collector-key "$COLLECTOR_PUB" --token "$TOKEN" --keys "$dir/keys.h$1" \
		--node "h$1" --scope "cgroup=$top/h$1" --slow-ms 10 --profile 0 --cpu-wait-share 0 2>>"$dir/h$1.log"
}

ask() { # PREFIX SECONDS QUERY [RATE]: at most 12 at a time
	on 10 "$B/tools/load" "$net.1:80" --conns 12 --rate "${4:-60}" --seconds "$2" --prefix "$1" --query "$3" >/dev/null
}

# Numbers follow the prefix, so that all is of one route, of which is known what is usual. 12 ms make a row, and no incident.
slowed() { # PREFIX: for 8 s, but not as the last thing that anybody hears of, nor with what was there before
	halt one TERM
	sql -c "truncate incident, incident_signal, incident_candidate, incident_event, incident_graph, incident_step, request"
	start one "$port" "$web"
	await 300 is "$watched" "select count(*) from node where last_seen > now() - interval '3 s'"
	began=$(date -u +%FT%T.%3NZ)
	ask "$1" 8 d=60
	ask "${1%/*}/9" 3 d=1
}

are_watched() {
	is 4 "select count(*) from source where name = 'request' and state = 1" &&
		is 4 "select count(distinct p.node_id) from place p join node n using (node_id) where (n.name, p.port) in (('h1', 80), ('h2', 8000), ('h3', 8000), ('h4', 9000))"
}

held_by() { # NODE...: as their probes report it
	is "$*" "select coalesce(string_agg(n.name, ' ' order by n.name), '') from place p join node n using (node_id) where p.addr = '$vip' and p.until is null"
}

rows() { # PREFIX NODE LEAST
	[ "$(sql -c "select count(*) from request join node using (node_id) where name = '$2' and path like '$1%'")" -ge "$3" ]
}

joined() { # PREFIX HOST...: of 60 traces of h1 nearly all have a row of each host, and none of another request
	local n w x
	read -r n w x < <(python3 tests/it/topology/trace.py judge "127.0.0.1:$web" h1 "$1" 60 "${@:2}" 2>"$dir/judge.err")
	[ "${n:-0}" -ge 50 ] && [ $((100 * w)) -ge $((97 * n)) ] && [ "$x" = 0 ] || { echo "of ${n:-} $w whole, $x wrong: $(tail -n 1 "$dir/judge.err")"; return 1; }
}

api() { # PATH PYTHON: true of the answer a
	curl -s -m 30 "http://127.0.0.1:$web/api/v1/$1" | python3 -c "import json, sys; a = json.load(sys.stdin); sys.exit(not ($2))"
}

ends() { # PREFIX ADDR: a trace says that nobody is known at that address, and to look behind it
	local id
	id=$(sql -c "select api.id_text(ts, request_id) from request join node using (node_id) where name = 'h1' and path like '$1%' and request_us > 9000 limit 1")
	api "requests/$id/trace" "[(h['node'], h['silence']) for h in a['hops']] == [('h1', None), (None, 'noProbe')] and (a['lookAt']['kind'], a['lookAt']['addr']) == ('behind', '$2')"
}

up_to() { # PREFIX NODE: its row's trace begins at h1
	local id
	id=$(sql -c "select api.id_text(ts, request_id) from request join node using (node_id) where name = '$2' and path like '$1%' and request_us > 9000 limit 1")
	api "requests/$id/trace" "[h['node'] for h in a['hops']] == ['h1', '$2'] and a['hop'] == 1"
}

incidents() { # NODE: those that it had a part in since $began, and all that had one
	curl -s -m 30 "http://127.0.0.1:$web/api/v1/incidents?node=$1" | python3 -c "
import json, sys
for i in json.load(sys.stdin)['incidents']:
    if i['last'] >= '$began': print(i['id'], *i['nodes'])"
}

named() { # NODE [PYTHON]: it is first in each of these, and there is one; and true of each
	local id rest
	[ -n "$(incidents "$1")" ] || return 1
	while read -r id rest; do
		api "incidents/$id" "a['first'] and a['first']['node'] == '$1' and [c['node'] for c in a['candidates'] if c['ranking'] == 'time'][0] == '$1' and (${2:-True})" || return 1
	done < <(incidents "$1")
}

one_of_both() { # NODE: it is one, and h1 has a part in it, too
	[ "$(incidents "$1" | wc -l)" = 1 ] && incidents "$1" | grep -q ' h1 .*'"$1" || { incidents "$1"; return 1; }
}

near() { # NODE OTHER: as what is slow there is joined, whoever is heard first
	is 1 "select count(*) from incident_near(array[(select node_id from node where name = '$1')], now() - interval '15 minutes', now()) w
		join node n on n.node_id = w.other where n.name = '$2'"
}

hosts 2>"$dir/hosts.err" || { cat "$dir/hosts.err"; echo "0 passed, 1 failed"; exit 1; }
pg_make
start one "$port" "$web"
let_in
for n in 1 2 3 4; do
	watch $n & pids+=($!)
done
ok "the four hosts are watched, and say who listens there" await 600 are_watched
ask /v/1 75 d=1 20 & u=$! # what is usual is learnt by the minute
ask /n/1 75 d=1 20 & u+=" $!"
ask /p/1 75 d=1 20
wait $u

# A virtual address, which moves, and then another host has it, too, that does not answer for it, as behind a balancer that passes
# packets on.
ok "a virtual address is reported by the host that has it" await 300 held_by h2
ask /v/2000 3 d=12
ok "a call of it is followed to that host" await 200 eval 'rows /v/2000 h1 100 && rows /v/2000 h2 100 && joined /v/2000 h1 h2'
ip -n "$ns-h2" address del "$vip/32" dev e
ip -n "$ns-h3" address add "$vip/32" dev e
ip -n "$ns-h1" neigh flush all
ok "it moves" await 300 held_by h3
ask /v/3000 3 d=12
ok "and so do its calls, but not those of before" await 200 eval 'rows /v/3000 h1 100 && rows /v/3000 h3 100 && joined /v/3000 h1 h3 && joined /v/2000 h1 h2'
ip netns exec "$ns-h3" sh -c 'echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore'
ip -n "$ns-h3" address del "$vip/32" dev e
ip -n "$ns-h3" address add "$vip/32" dev lo
ip -n "$ns-h2" address add "$vip/32" dev e
ip -n "$ns-h1" neigh flush all
ok "two have it" await 300 held_by h2 h3
slowed /v/4000
ok "a call of what two have is followed to who had it" await 200 eval 'rows /v/4000 h2 100 && joined /v/4000 h1 h2'
ok "of a fault behind it that host is named" await 600 named h2
ok "in one incident with who called" await 300 one_of_both h2

# The router has no probe.
slowed /n/4000
ok "a call that the destination of is translated ends at the router" await 200 eval 'rows /n/4000 h4 100 && ends /n/4000 $net.254:8080'
ok "of a fault behind it the host there is named" await 600 named h4
ok "in one incident with who called it by another address" await 300 one_of_both h4
ok "it is near who called, and who called is near it" eval 'near h1 h4 && near h4 h1'
nat masquerade
ask /n/5000 3 d=12
ok "so does one of which both ends are" await 200 eval 'rows /n/5000 h4 100 && ends /n/5000 $net.254:8080'

# It gets one, which reports its translations: both at first, then the destination alone.
in_router() { # COMMAND...
	ip netns exec "$ns-h254" "$@"
}
ok "the doctor there counts the ways of translation by netlink" eval 'in_router "$B/seismo-probe" doctor --keys "$dir/keys.d" --collector-key "$COLLECTOR_PUB" 2>/dev/null | grep -qE "^ok +NAT +[0-9]+ connections are tracked here, 2 ways of translation"'
ok "and that it cannot, without the capability" eval 'in_router setpriv --bounding-set -net_admin --inh-caps -net_admin "$B/seismo-probe" doctor --keys "$dir/keys.d" --collector-key "$COLLECTOR_PUB" 2>/dev/null |
	grep -qE "^off +NAT +needs CAP_NET_ADMIN"'
there 254 sleep 1000 & pids+=($!)
watch 254 & pids+=($!)
watched=5
ok "the ways of a network namespace are reported" await 600 is 2 "select count(*) from nat where until is null and ((kind, seen, seen_port, behind, behind_port) = (1, '$net.254', 8080, '$far.4', 9000)
	or (kind, seen, behind) = (2, '$far.254', '$net.1'))"
slowed /n/6000
ok "a call that a router with a probe translates is followed to whom it reaches" await 200 eval 'rows /n/6000 h4 100 && joined /n/6000 h1 h4'
ok "and from there to who called" await 200 up_to /n/6000 h4
ok "of a fault there that host is named, which is called without the router" await 600 named h4 "('h1', 'h4') in [(p['from'], p['to']) for p in a['graph']] and '254' not in str(a['graph'])"
ok "in one incident with who called" await 300 one_of_both h4
nat
ask /n/7000 3 d=12
ok "also if only the destination is translated" await 200 eval 'rows /n/7000 h4 100 && joined /n/7000 h1 h4'

# A proxy without a probe.
slowed /p/4000
ok "a call of a host without a probe ends there" await 200 eval 'rows /p/4000 h2 100 && ends /p/4000 $net.5:80'
ok "of a fault behind it the host behind it is named" await 600 named h2
ok "in one incident with who called" await 300 one_of_both h2
done_checking
