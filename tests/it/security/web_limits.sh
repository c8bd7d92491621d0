#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# web_limits.sh - the console under dripping connections, streams and crawlers answers a client within its limits, and refuses the
# others with a sentence that is counted; it listens on a Unix socket, not at all, or without actions, as configured.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web port2 web2 < <(free_ports 4 | tr '\n' ' ')
local_socket=$dir/s/web.sock
ulimit -n "$(ulimit -Hn)"
as_user=()
python=/usr/bin/python3 # one that user nobody may run
[ -x "$python" ] || python=python3
cp tests/it/security/web_flood.py "$dir" # user nobody may not read the source tree

flood() { # COMMAND...: of web_flood.py
	"$python" "$dir/web_flood.py" "$@"
}

# A client in the background, until it is ended. Its first line is awaited.
begin() { # NAME COMMAND...
	rm -f "$dir/$1."*
	STOP=$dir/$1.stop "${as_user[@]}" "$python" "$dir/web_flood.py" "${@:2}" >"$dir/$1.out" 2>"$dir/$1.err" &
	await 1200 eval "[ -s '$dir/$1.out' ] || ! kill -0 $!"
}

end() { # NAME...
	local name
	for name; do
		: >"$dir/$name.stop"
	done
}

said() { # NAME REGEX
	grep -Eq "$2" "$dir/$1.out" || { cat "$dir/$1.out" "$dir/$1.err"; return 1; }
}

counts() { # WHY: at least one refusal
	curl -s "http://127.0.0.1:$web/metrics" | grep "^seismo_web_refused_total{why=\"$1\"} [1-9]" || { echo "no refusal by $1"; return 1; }
}

streams_open() { # N
	[ "$(counter "$web" seismo_web_streams)" = "$1" ]
}

quick() { # [SOURCE]: both medians are at most 1 s
	flood quick "$web" "$@" | awk '{ print; exit !($2 <= 1000 && $4 <= 1000) }'
}

says() { # COMMAND... -- REGEX
	local args=() out
	while [ "$1" != -- ]; do
		args+=("$1")
		shift
	done
	out=$(flood "${args[@]}" 2>&1)
	grep -Eq "$2" <<<"$out" || { echo "$out"; return 1; }
}

logs() { # NAME WORDS
	await 600 grep -q "$2" "$dir/$1.log" || { tail -n 2 "$dir/$1.log"; return 1; }
}

pg_make
start c "$port" "$web"
ok 'the console is up' await 600 curl -sf "http://127.0.0.1:$web/healthz"

# A head that never ends has a deadline in all, not for each byte, and so has a body.
on_socket() { # NAME FLAG...
	start "$1" "$port2" "$web2" --web "unix:$local_socket" "${@:2}"
	await 600 test -S "$local_socket"
}
ok 'web = unix' on_socket u --web-mode 0620 --web-group daemon
begin late late "$local_socket" & late=$!
begin body slow_body "$local_socket" & body=$!
ok 'a head over 16 KiB is refused' says long_head "$web" -- '^431$'

begin drip drip "$web" 2000
ok 'beside 2,000 dripping connections the console is quick' quick
ok 'those that wait for longest give way' await 600 counts head_yielded
begin streams stream "$web" 2000
ok 'one address has at most its share of streams, and the rest a sentence' said streams '^200:600 429:1400 .*too many streams open'
begin other stream "$web" 200 127.0.0.2
ok 'another address has its streams beside it, up to the limit of all' said other '^200:100 503:100 Too many streams'
begin crawl crawl "$web" 100 127.0.0.3
ok 'beside drips, 700 streams and 100 crawlers the console is quick' quick
ok 'also for another address' quick 127.0.0.9
ok 'refused streams are counted' counts client_streams
ok 'and those over the limit of all' counts streams
ok 'crawlers over the limit of queries are refused' await 600 counts client_queries
end crawl
ok 'some crawlers were answered, some refused' await 600 said crawl '200:.* 429:'

end drip streams other
ok 'it is the same collector' kill -0 "${running[c]}"
ok 'the streams are gone' await 600 streams_open 0
ok 'it stops cleanly' halt c TERM

# With few descriptors every seat is soon taken by somebody that does not go: streams, and answers that are not read.
few() {
	(ulimit -n 400 && exec "$collector" --bind "tcp://127.0.0.1:$port" --web "127.0.0.1:$web" --keys "$dir/keys" "$db_flag" \
		--web-database "host=$dir/s dbname=seismo user=seismo_web") >>"$dir/few.log" 2>&1 &
	running[few]=$!
	await 600 curl -sf "http://127.0.0.1:$web/healthz"
}
ok 'a collector with few descriptors is up' few
begin streams stream "$web" 70 127.0.0.2
begin other stream "$web" 20 127.0.0.3
ok 'its limits are lower' said other '503:'
begin hoard hoard "$web" 30 127.0.0.4
ok 'with no seat left a query is refused, and a page has a seat that is held back' says held_back "$web" 127.0.0.9 -- '^503 True 200 True$'
ok 'and the console is quick' quick 127.0.0.9
ok 'connections over the limit are counted' counts connections
end streams other hoard
halt few TERM

# A Unix socket, whose mode and group say who may connect.
ok 'the socket has its mode and group' [ "$(stat -c '%a %G' "$local_socket")" = '620 daemon' ]
ok 'the page comes through the socket' await 600 says ask "$local_socket" / -- '^200 .*html'
as_user=(setpriv --reuid nobody --regid nogroup --clear-groups)
ok 'nobody else may connect' eval '"${as_user[@]}" "$python" "$dir/web_flood.py" ask "$local_socket" / 2>&1 | grep PermissionError'
as_user=()
ok 'no address listens' eval "! is_listening $web2"
"$collector" --bind "tcp://127.0.0.1:$port" --web "unix:$local_socket" --keys "$dir/keys" "$db_flag" >"$dir/second" 2>&1
ok 'a socket in use is not taken away' grep -q 'in use by another program' "$dir/second"
wait $late $body
ok 'a head that drips was ended by its deadline, with a sentence' said late '^408 True after 8 to 60 s$'
ok 'so was a body' said body '^cut$'
halt u KILL
ok 'a socket that a dead collector left is replaced' on_socket u --web-mode 0666 --web-actions=off
ok 'and answers' await 600 says ask "$local_socket" /healthz -- '^200'
ok 'without actions a command is refused with a sentence' says ask "$local_socket" /api/v1/incidents/1-0000000000000001/close POST '{}' -- '^403 .*read-only'
ok 'the console knows' says ask "$local_socket" /api/v1/console -- '"actions":false'
as_user=(setpriv --reuid nobody --regid nogroup --clear-groups)
chmod 711 "$dir"
begin nobody stream "$local_socket" 650
as_user=()
ok 'one user has at most its share of streams' said nobody '^200:600 429:50 '
begin root stream "$local_socket" 10
ok 'another user has its own' said root '^200:10 *$'
end nobody root
halt u TERM

touch "$dir/s/file"
"$collector" --bind "tcp://127.0.0.1:$port" --web "unix:$dir/s/file" --keys "$dir/keys" "$db_flag" >"$dir/file" 2>&1
ok 'a file that is no socket stays' grep -q 'is not a socket; remove it' "$dir/file"
ok 'a mode that is none is refused' eval "! $collector --check-config --web-mode 8 >'$dir/mode' 2>&1 && grep -q 'octal' '$dir/mode'"
start off "$port" "$web" --web off
ok 'web = off starts' logs off 'the console is off'
ok 'and listens for probes only' eval "is_listening $port && ! is_listening $web"
halt off TERM
done_checking
