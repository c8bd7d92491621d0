#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# relay_red.sh - what nginx and the server behind it log is what the global collector counts of each, by status class, also of
# requests that came while their region was cut off, and its collector killed.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh
. tests/it/relay/relay_rig.sh

top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)/seismo-red.$$ # other tests have an nginx, too
read -r port web eu_port eu_web way ng back dead < <(free_ports 8 | tr '\n' ' ')
probe=

on_exit() {
	local i
	kill $probe "$(cat "$dir/nginx.pid")"
	clear_away
	for ((i = 0; i < 100; i++)); do # a cgroup that had tasks just now is busy for a moment
		rmdir "$top" || [ ! -d "$top" ] && break
		sleep 0.1
	done
} 2>/dev/null
trap on_exit EXIT

inside() { # COMMAND...: becomes that
	echo "$BASHPID" >"$top/cgroup.procs" && exec "$@"
}

starts_eu() {
	relays eu "$eu_port" "$eu_web" "tcp://127.0.0.1:$way" "$@"
}

ask() { # PREFIX ARG...
	"$B/tools/load" "127.0.0.1:$ng" --conns 20 --rate 400 --seconds 3 --prefix "$1" "${@:2}" >/dev/null
}

by_class() {
	awk '{ n[int($1 / 100)]++ } END { for (c in n) print c "|" n[c] }' "$1" | sort
}

counted() { # DATABASE APP PORT
	of "$1" "select r.status_class, sum(r.n) from red r join red_key k using (node_id, key_id) where k.app = '$2' and k.role = 0 and k.peer = ':$3' group by 1 order by 1"
}

equal() { # DATABASE
	[ "$(counted "$1" nginx "$ng")" = "$(by_class "$dir/access.log")" ] &&
		[ "$(counted "$1" server "$back" | awk -F '|' '{ n += $2 } END { print n }')" = "$(wc -l <"$dir/served")" ] ||
		{ paste -s -d ' ' <(counted "$1" nginx "$ng") <(by_class "$dir/access.log"); return 1; }
}

mkdir "$top" || { echo "0 passed, 1 failed"; exit 1; }
cat >"$dir/nginx.conf" <<END
pid $dir/nginx.pid; error_log $dir/error.log crit; user root; worker_processes 2; events { }
http {
	client_body_temp_path $dir/t1; proxy_temp_path $dir/t2; fastcgi_temp_path $dir/t3; uwsgi_temp_path $dir/t4; scgi_temp_path $dir/t5;
	log_format status '\$status'; access_log $dir/access.log status; proxy_http_version 1.1; proxy_set_header Connection "";
	upstream back { server 127.0.0.1:$back; keepalive 16; }
	server { listen 127.0.0.1:$ng backlog=4096; keepalive_requests 100000;
		location / { if (\$arg_r) { proxy_pass http://127.0.0.1:$dead; } proxy_pass http://back; }
		location /none { return 404; } }
}
END
pg_make
regions_make eu
wire_up "$way" "$port"
start one "$port" "$web" --region global
await 300 grep -q "is ready" "$dir/one.log"
seismo node token --for 1d --node relay-eu >"$dir/lets-eu"
starts_eu --relay-token "$dir/lets-eu"
token_of eu
"$B/seismo-probe" --collector "tcp://127.0.0.1:$eu_port" --collector-key "$dir/keys.eu/collector.pub" --token "$dir/token.eu" --keys "$dir/keys.red" --node red-1 \
	--scope "cgroup=$top" --profile 0 --cpu-wait-share 0 2>>"$dir/probe.log" & probe=$!
ok "requests are seen" await 600 eval '[ "$(of eu "select state from source where name = \$\$request\$\$")" = 1 ]'
(inside "$B/tools/server" "$back" --log "$dir/served") &
(inside nginx -c "$dir/nginx.conf" -e "$dir/error.log")
await 100 is_listening "$back"
await 100 is_listening "$ng"

ask /a/ --every 7,s=503 --every 11,r=1
ask /none/
ok "the region counts what is in the logs" await 300 equal eu
ok "and so does the global collector" await 300 equal seismo
sever
ask /b/ --every 7,s=503 --every 11,r=1
halt eu KILL
ask /c/
starts_eu
ok "cut off, and killed, the region counts all" await 600 equal eu
wire_up "$way" "$port"
ok "and the global collector, when it is there again" await 600 equal seismo
ok "of all classes there are some" is "2 4 5" "select string_agg(c::text, ' ' order by c) from (select distinct status_class as c from red join red_key using (node_id, key_id) where app = 'nginx' and role = 0) x"
ok "key by key" eval '[ "$(of eu "select k.app, k.route, k.peer, k.role, r.status_class, sum(n), sum(sum_us) from red r join red_key k using (node_id, key_id) group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5")" = \
	"$(of seismo "select k.app, k.route, k.peer, k.role, r.status_class, sum(n), sum(sum_us) from red r join red_key k using (node_id, key_id) group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5")" ]'
done_checking
