#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# split.sh - where the time of requests went: a server with threads, one with processes, one with an event loop and
# nginx, asked to sleep, compute, sync a file, wait for a lock, for a CPU, for an upstream, or stopped. The parts are
# held against what the servers themselves measured. Over a whole stack, with its usual way to see requests.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/stack.sh

started=
on_exit() { kill $started 2>/dev/null; nginx -c "$tmp/nginx.conf" -e "$tmp/error.log" -s quit 2>/dev/null; }
make -s -j"$(nproc)" B="$B" "$B/fault/server" "$B/fault/faulthog" || { echo "0 passed, 1 failed"; exit 1; }
stack_open --slow-ms 20 --rows-per-s 50000
read -r up th fo no ng new < <(free_ports 6 | tr '\n' ' ')
mkdir "$tmp/files"
serve() { # LOG COMMAND...
	"${@:2}" >>"$tmp/out" 2>&1 &
	started+=" $!"
}
serve - "$B/fault/server" threaded "127.0.0.1:$up" --log "$tmp/up.log" --dir "$tmp/files"
serve - "$B/fault/server" threaded "127.0.0.1:$th" --log "$tmp/threaded.log" --dir "$tmp/files" --upstream "127.0.0.1:$up"
threaded=$!
serve - "$B/fault/server" forking "127.0.0.1:$fo" --log "$tmp/forking.log" --dir "$tmp/files" --upstream "127.0.0.1:$up"
serve - node tests/fault/node.mjs "127.0.0.1:$no" "$tmp/node.log" "$tmp/files" "127.0.0.1:$up" 100
node=$!
cat >"$tmp/nginx.conf" <<END
pid $tmp/nginx.pid; error_log $tmp/error.log crit; user root; worker_processes 1; events { }
http {
	client_body_temp_path $tmp/t1; proxy_temp_path $tmp/t2; fastcgi_temp_path $tmp/t3; uwsgi_temp_path $tmp/t4; scgi_temp_path $tmp/t5;
	access_log off; server { listen 127.0.0.1:$ng; location / { proxy_pass http://127.0.0.1:$up; } }
}
END
nginx -c "$tmp/nginx.conf" -e "$tmp/error.log"
serve - "$B/fault/server" threaded "127.0.0.1:$new" --log "$tmp/new.log" --dir "$tmp/files"
for port in $up $th $fo $no $ng; do
	for ((i = 0; i < 100; i++)); do
		curl -s -o /dev/null "http://127.0.0.1:$port/up" && break
		sleep 0.1
	done
done

get() { # PORT PATH QUERY; the client's own clock says how long its request was away
	curl -s -o /dev/null -m 20 -w "$2 %{time_pretransfer} %{time_starttransfer}\n" "http://127.0.0.1:$1$2?$3" >>"$tmp/client.log"
}

ask_for() { # KIND PORT ACT QUERY: eight times
	local i
	for i in 1 2 3 4 5 6 7 8; do
		get "$2" "/$1-$3/$i" "$4"
	done
}

for s in "threaded $th" "forking $fo" "node $no"; do
	ask_for $s sleep "f=sleep&ms=60"
	ask_for $s burn "f=burn&ms=60"
	(while [ ! -e "$tmp/calm" ]; do dd if=/dev/zero of="$tmp/files/noise" bs=16M count=4 oflag=direct conv=notrunc 2>/dev/null; sleep 0.02; done) & writer=$!
	ask_for $s fsync "f=fsync&kb=60000"
	touch "$tmp/calm"; wait $writer; rm "$tmp/calm"
	ask_for $s lock "f=lock&ms=60"
	ask_for $s up "f=up&uf=sleep&ms=60"
done
ask_for nginx "$ng" up "f=sleep&ms=60"

stop() { # PID, and it is: on a busy machine it has to get a processor for that
	kill -STOP "$1"
	until grep -q '^State:.T' "/proc/$1/status"; do sleep 0.01; done
}

unread() { # N PORT: so many requests have arrived there that nobody has read
	[ "$(ss -Htn state established "sport = :$2" | awk '$1 > 0' | wc -l)" = "$1" ]
}

# One loop, two requests in the same turn: what is done for the second is not the first one's, whose call goes on meanwhile.
for i in 1 2 3 4 5 6 7 8; do
	stop "$node"
	get "$no" "/node-beside/$i" "f=up&uf=sleep&ms=30" & first=$!
	await 100 unread 1 "$no"
	get "$no" "/node-later/$i" "f=later&ms=150" & second=$!
	await 100 unread 2 "$no"
	kill -CONT "$node"
	wait $first $second
done

meanwhile() { # NAME QUERY NAME QUERY: of node, the second while the first is away; eight times
	local i first
	for i in 1 2 3 4 5 6 7 8; do
		get "$no" "/node-$1/$i" "$2" & first=$!
		sleep 0.03 # time: the first has been read, and is not over
		get "$no" "/node-$3/$i" "$4"
		wait $first
	done
}
# It calls nobody; the answer of another request's call, sent before it was there, is read before it is answered.
meanwhile beside "f=up&uf=sleep&ms=100" after "f=later&ms=150"
# So, and behind a lock it waited for in between.
meanwhile beside "f=up&uf=sleep&ms=100" held "f=held&ms=150"
# A timer that is due while the loop is busy with somebody else.
meanwhile due "f=sleep&ms=60" beside "f=burn&ms=50"

# Somebody else on the same processor.
for pid in $threaded $node; do
	taskset -a -p -c 0 "$pid" >/dev/null
done
hog=
for i in 1 2 3 4; do # each with a share of its own, also where sessions have shares
	setsid taskset -c 0 "$B/fault/faulthog" & hog+=" $!"
done
started+=" $hog"
ask_for threaded "$th" hog "f=burn&ms=60"
ask_for node "$no" hog "f=burn&ms=60"
kill $hog

# A server that is stopped does not read what arrives.
for s in "threaded $th $threaded" "node $no $node" "nginx $ng $(pgrep -P "$(cat "$tmp/nginx.pid")")"; do
	read -r kind port pid <<<"$s"
	for i in 1 2 3 4 5 6 7 8; do
		stop "$pid"
		(sleep 0.25; kill -CONT "$pid") & # time: how long the request waits
		get "$port" "/$kind-stop/$i" ""
		wait $!
	done
done
get "$th" /threaded-settled/1 "f=sleep&ms=100"
await_value 1 ask "select count(*) from request where path = '/threaded-settled/1'"

# The very first request of a server, and nobody looks before it is over.
get "$new" /new/1 "f=lock&ms=400"
reason_of() { # PATH: its reason, and whether a wait of that kind is there with who ended it and a stack
	ask "select distinct reason.code || ' ' || (e.who like 'lockholder%' and e.stack_id is not null) from request r join reason using (reason_id)
		join evidence e on e.owner_id = r.request_id and e.ts = r.ts join part p using (part_id) where r.path = '$1' and p.code = 'lock'"
}
ok "the first request that ever met a fault has its reason and its evidence" await_value "lock true" reason_of /new/1

least_of() { # ACT: in percent, of reasons that are right
	# A loop that had to wait for a lock of its runtime meanwhile, or that never slept between the two: unknown, never wrong.
	case $1 in
	later | after | held | due) echo 50 ;;
	*) echo 85 ;;
	esac
}

sums() { awk '{ all += $8; good += $7 } END { exit !(all > 0 && all == good) }' "$tmp/judged"; }

judge() { # the rows as they are now: on a busy machine some are stored late
	local kind act n named right median
	python3 tests/it/request/split.py "http://$WEB" "$tmp" >"$tmp/judged" 2>"$tmp/wrong"
	sums || return 1
	while read -r kind act n named right median _; do
		test "$n" -ge 4 -a "$median" -ge 80 -a $((right * 100)) -ge $((n * $(least_of "$act"))) -a $((named * 100)) -ge $((n * 85)) || return 1
	done <"$tmp/judged"
}

await 50 judge
cat "$tmp/judged" "$tmp/wrong"
ok "the parts of every request add up to its time" sums
while read -r kind act n named right median sum all; do
	ok "$kind, $act: all rows are there" test "$n" -ge 4
	ok "$kind, $act: the part has at least 80 % of what was done (median $median %)" test "$median" -ge 80
	least=$(least_of "$act")
	ok "$kind, $act: the reason is right (of $n, $right)" test "$((right * 100))" -ge "$((n * least))"
	ok "$kind, $act: and names the culprit (of $n, $named)" test "$((named * 100))" -ge "$((n * 85))"
done <"$tmp/judged"
done_checking
