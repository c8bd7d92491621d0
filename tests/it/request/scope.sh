#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scope.sh - a probe that watches one cgroup sees what runs in it and below it, and nothing else: over a whole stack.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)/seismo-scope.$$
mkdir -p "$top/in/child" "$top/in-not" || { echo "0 passed, 1 failed"; exit 1; }
started=
on_exit() {
	local i
	kill $started 2>/dev/null
	[ ! -f "$tmp/nginx.pid" ] || kill "$(cat "$tmp/nginx.pid")"
	for ((i = 0; i < 50; i++)); do # a cgroup that had tasks just now is busy for a moment
		rmdir "$top/in/child" "$top/in" "$top/in-not" "$top" 2>/dev/null
		[ -d "$top" ] || return
		sleep 0.1
	done
}
trap 'on_exit; rm -rf "$tmp"' EXIT

within() { # CGROUP COMMAND...
	(echo "$BASHPID" >"$top/$1/cgroup.procs" && exec "${@:2}")
}

serve_within() { # CGROUP PORT: in the process that is known by $!
	(echo "$BASHPID" >"$top/$1/cgroup.procs" && exec "$B/tools/server" "$2") & started+=" $!"
}

read -r in child out ng < <(free_ports 4 | tr '\n' ' ')
serve_within in "$in"
serve_within in/child "$child"
serve_within in-not "$out"
cat >"$tmp/nginx.conf" <<END
pid $tmp/nginx.pid; error_log $tmp/error.log crit; user root; events { }
http {
	client_body_temp_path $tmp/t1; proxy_temp_path $tmp/t2; fastcgi_temp_path $tmp/t3; uwsgi_temp_path $tmp/t4; scgi_temp_path $tmp/t5;
	access_log off;
	server { listen 127.0.0.1:$ng; location / { proxy_pass http://127.0.0.1:$out; } }
}
END
within in/child nginx -c "$tmp/nginx.conf" -e "$tmp/error.log"
listening "$in" "$child" "$out" "$ng"
# Before anybody watches: a thread that waits for its own pages meanwhile has a call that cannot be read.
curl -s -o /dev/null -m 5 "http://127.0.0.1:$ng/warm"
stack_open --slow-ms 0 --scope "cgroup=$top/in"

rows() { # PORT
	ask "select count(*) from request where local_port = $1"
}

for port in "$out" "$in" "$child" "$ng" "$out" "$out"; do
	curl -s -o /dev/null -m 5 "http://127.0.0.1:$port/x"
done
ok "a server in the cgroup is seen" await_value 1 rows "$in"
ok "a server in a cgroup below it is seen" await_value 1 rows "$child"
ok "a proxy in it is seen" await_value 1 rows "$ng"
ok "and so is its call to a server outside" await_value "127.0.0.1:$out" \
	ask "select upstreams -> 0 ->> 'addr' from request where local_port = $ng"
within in-not curl -s -o /dev/null -m 5 "http://127.0.0.1:$out/y"
within in curl -s -o /dev/null -m 5 "http://127.0.0.1:$out/z"
curl -s -o /dev/null -m 5 "http://127.0.0.1:$in/last"
ok "all that was asked of it is there" await_value 2 rows "$in"
ok "a server outside is not, whoever calls it" [ "$(rows "$out")" = 0 ]
counted() {
	echo "$(coverage requests_seen) $(coverage client_calls)"
}
ok "it is not even counted: four requests, and one call of a client in the cgroup" await_value "4 1" counted

doctor() { # SCOPE
	"$B/seismo-probe" doctor --collector tcp://127.0.0.1:1 --scope "$1"
}
ok "a directory that is not there is refused, with the remedy" eval 'doctor cgroup=$top/none | grep -q "^off  request .*$top/none is not a cgroup2 directory.*name one"'
ok "a directory that is no cgroup is refused" eval 'doctor cgroup=/tmp | grep -q "^off  request .*/tmp is not a cgroup2 directory"'
ok "a file in a cgroup is refused" eval 'doctor cgroup=$top/cgroup.procs | grep -q "^off  request .*is not a cgroup2 directory"'
ok "the hierarchy itself is a scope, too" eval 'doctor "cgroup=${top%/*}/" | grep -q "^ok   request"'
ok "a scope that is nothing we know is refused" eval '! doctor container=1'
done_checking
