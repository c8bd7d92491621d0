#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ingest_once.sh - every batch is in the tables exactly once, whoever is killed meanwhile.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web < <(free_ports 2 | tr '\n' ' ')
kills=10 probes=3

deliver() { # BATCHES EPOCH
	local i
	delivering=()
	for ((i = 0; i < probes; i++)); do
		"$fake" "tcp://127.0.0.1:$port" deliver "node$i" "$2" "$1" 600 >"$dir/probe$i" 2>&1 &
		delivering+=($!)
	done
}

delivered() { # within SECONDS
	local i
	for i in "${delivering[@]}"; do
		await $(($1 * 10)) is_gone "$i" || return 1
	done
}

is_gone() {
	! kill -0 "$1" 2>/dev/null
}

once() { # BATCHES EPOCH
	is "$(($1 * probes))|$(($1 * probes))|$probes" "select count(*), count(distinct (node_id, path)), count(distinct node_id)
		from request join ingest_mark m using (node_id) where m.epoch = $2 and m.seq = $1"
}

once_of() { # BATCHES EPOCH: of one probe
	is "$1|$1" "select count(*), count(distinct path) from request join ingest_mark m using (node_id) where m.epoch = $2 and m.seq = $1"
}

pg_make
start one "$port" "$web"
await 300 grep -q "is ready" "$dir/one.log" # or all kills come before the first batch
let_in
deliver 4000 1
for ((k = 0; k < kills; k++)); do
	sleep "0.$((RANDOM % 7 + 2))" # time: killed at any moment
	halt one KILL
	start one "$port" "$web"
done
ok "probes deliver while the collector is killed again and again" delivered 60
ok "each of their batches is stored once" once 4000 1
ok "they had to send some of them again" grep -Eq 'sockets ([2-9]|[0-9]{2})|rewinds [1-9]' "$dir"/probe?

sql -c "truncate request"
deliver 4000 2
for signal in INT KILL INT; do
	sleep "0.$((RANDOM % 7 + 2))" # time: killed at any moment
	pg_kill $signal
	sleep "0.$((RANDOM % 9 + 1))" # time: away for any time
	pg_start
done
ok "probes deliver while the database is restarted" delivered 60
ok "each of their batches is stored once again" once 4000 2
ok "it is said once when the database goes" [ "$(grep -c 'does not store' "$dir/one.log")" -le 4 ]
ok "and when it is back" grep -q "stores again" "$dir/one.log"
ok "the collector has lived through it" kill -0 "${running[one]}"

sql -c "truncate request"
deliver 1500 3
for ((k = 0; k < kills; k++)); do
	sleep "0.$((RANDOM % 3 + 1))" # time: cut at any moment
	sql -d postgres -c "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'seismo-collector'" >/dev/null
done
ok "probes deliver while connections are cut" delivered 60
ok "each of their batches is stored once still" once 1500 3

sql -c "truncate request"
timeout 120 "$fake" "tcp://127.0.0.1:$port" deliver node0 4 9000 3000 9000 >"$dir/flood" &
flood=$!
await 300 counted "$web" seismo_batches_total 1
sleep 0.5 # time: in the midst of the flood
kill -STOP "$pg" $(pgrep -P "$pg")
ok "a collector whose database is frozen refuses what finds no room" await 300 counted "$web" 'seismo_refused_total{cause="queue"}' 1
ok "and keeps no more than its queue" [ "$(counter "$web" seismo_queue_batches)" -le 2560 ]
ok "it still serves the console" [ "$(curl -s -m 2 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$web/metrics")" = 200 ]
kill -CONT "$pg" $(pgrep -P "$pg")
ok "what was refused is delivered later" await 600 is_gone $flood
ok "and stored once" once_of 9000 4
ok "which goes on when it thaws" probe "$port" "node frozen 1" hello "want welcome 0 0"

pg_kill KILL
sleep 0.5 # time: it may have noticed, or not
halt one TERM
ok "it ends cleanly, even without a database" [ $? = 0 ]
done_checking
