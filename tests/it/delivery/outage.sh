#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# outage.sh - the database is away, then the collector, while nodes go on: nothing is lost, nobody's memory grows without
# bound, and the console says so; and a spool over its cap, of which exactly what was declared is missing. LONG=1: for ten
# minutes each, as it must hold. Nodes are the probe's own spool, keys and uplink.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web < <(free_ports 2 | tr '\n' ' ')
away=${LONG:+600}
away=${away:-8}
nodes=4
declare -A node=()

node_start() { # NAME PER_S
	"$B/chaos/node" "tcp://127.0.0.1:$port" "$1" "$dir/spool.$1" "$2" "$dir/acked.$1" "$dir/keys.$1" "$COLLECTOR_PUB" "$TOKEN" 2>>"$dir/$1.log" &
	node[$1]=$!
}

each() { # COMMAND...: with each of the nodes that are under load
	local i
	for ((i = 0; i < nodes; i++)); do
		"$@" "n$i" || return 1
	done
}

node_ends() { # NAME
	disown "${node[$1]}"
	kill -TERM "${node[$1]}" && await 600 eval "! kill -0 ${node[$1]}"
}

lag() { # the largest, in ms, as the console has it
	curl -s "http://127.0.0.1:$web/api/v1/nodes" | python3 -c 'import json, sys; print(int(max(n["lag"] for n in json.load(sys.stdin)["nodes"])))'
}

resident() { # PID: its peak in MiB
	awk '$1 == "VmHWM:" { print int($2 / 1024) }' "/proc/$1/status"
}

bounded() { # NAME: a node's memory
	[ "$(resident "${node[$1]}")" -le 40 ]
}

is_well() {
	[ "$(lag)" -lt 3000 ]
}

# Events of each epoch from 1 to the last, each once, and in their order: rows are stored in the order of their making.
whole() { # NAME
	is "0 0" "select (select count(*) from (select split_part(path, '/', 2) e, count(*) n, max(split_part(path, '/', 3)::bigint) m, count(distinct path) d
		from request join node using (node_id) where name = '$1' and path !~ '/m/' group by 1) x where n <> m or n <> d) || ' ' ||
		(select count(*) from (select stored < lag(stored) over (order by split_part(path, '/', 3)::bigint) back
		from request join node using (node_id) where name = '$1' and path !~ '/m/') x where back)"
}

pg_make
start one "$port" "$web"
await 300 grep -q "is ready" "$dir/one.log"
let_in
for ((i = 0; i < nodes; i++)); do
	node_start "n$i" 200
done
ok "nodes deliver within a second or two" await 300 is_well

sql -c "alter role seismo nologin" # when the database is back, only who reads comes in at first, and sees how far behind it is
pg_kill INT
sleep "$away" # time: how long it is away
ok "a collector without its database does not grow ($(resident "${running[one]}") MiB)" [ "$(resident "${running[one]}")" -le 200 ]
ok "nor does a node" each bounded
ok "it says so, once" [ "$(grep -c "the database does not store" "$dir/one.log")" = 1 ]
pg_start
is_behind() {
	[ "$(lag)" -ge $((away * 900)) ]
}
ok "the console shows how far behind the nodes are" await 300 is_behind
sql -c "alter role seismo login"
ok "and that they have come back" await $((away * 10 + 300)) is_well
ok "the collector says that the database stores again" await 300 grep -q "stores again" "$dir/one.log"

halt one TERM
sleep "$away" # time: how long it is away
ok "nodes without a collector do not grow" each bounded
start one "$port" "$web"
ok "the collector comes back and the nodes with it" await $((away * 10 + 300)) is_well
ok "nodes end with all delivered" each node_ends
ok "every event is there, once and in order" each whole
ok "no gap was reported" is 0 "select count(*) from gap"

# Over its cap.
halt one TERM
DISK=1024 MEMORY=256 METRICS=10 node_start full 100
sleep 15 # time: by its rate it is over the cap: some 150 kB of metrics and 15 of events a second
start one "$port" "$web"
ok "a node whose spool was too small ends with all that it had" node_ends full
ok "all its events are there" whole full
ok "of its metrics batches were dropped" is t "select count(*) > 0 from gap where stream = 2"
ok "no event was" is 0 "select count(*) from gap where stream = 1"
ok "exactly those are missing that it declared" is t "
	with m as (select split_part(path, '/', 4)::bigint seq from request join node using (node_id) where name = 'full' and path ~ '/m/'),
	s as (select generate_series(1, (select max(seq) from m)) seq)
	select count(*) filter (where m.seq is null) = (select sum(seq_to - seq_from + 1) from gap where stream = 2)
		and bool_and((m.seq is null) = exists (select from gap where stream = 2 and s.seq between seq_from and seq_to))
		and count(*) = count(distinct s.seq) from s left join m using (seq)"
done_checking
