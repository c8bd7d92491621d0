#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - chaos: nodes deliver to real collectors and a real PostgreSQL while all of them are killed at random; then
# what was acknowledged, stored, lost and doubled is counted. Prints Markdown for RESULTS.md; the log of what was done
# to whom is LOG.
#
#	SEED=1 KILLS=200 BATCHES=500000 NODES=8 COLLECTORS=1 PER_S=500 LOG=build/chaos.log
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

[ -x "$B/chaos/node" ] || { echo "run.sh: $B/chaos/node is not there: make chaos makes it" >&2; exit 1; }
seed=${SEED:-$((RANDOM * 32768 + RANDOM))} kills=${KILLS:-200} batches=${BATCHES:-500000}
nodes=${NODES:-8} collectors=${COLLECTORS:-1} per_s=${PER_S:-500} log=${LOG:-$B/chaos.log}
mapfile -t ports < <(free_ports $((2 * collectors)))
urls=("${ports[@]:0:collectors}")
urls=("${urls[@]/#/tcp://127.0.0.1:}")
disk=64M database_disk=2G watchdog_s=6 refused=
faketime=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1 2>/dev/null)
[ -n "$faketime" ] || { echo "run.sh: faketime is not installed: make deps installs it" >&2; exit 1; }
declare -A did=()
RANDOM=$seed
: >"$log"

say() {
	printf '%s %s\n' "$(date -u +%T.%3N)" "$*" >>"$log"
}

# The clocks of PostgreSQL, of the collectors and of the nodes are files, in seconds off.
set_clock() { # WHOSE SECONDS
	printf '%+d\n' "$2" >"$dir/$1.new" && mv "$dir/$1.new" "$dir/clock.$1"
}

faked() { # WHOSE: the environment of a program whose clock is to be set
	env=(env LD_PRELOAD="$faketime" FAKETIME_TIMESTAMP_FILE="$dir/clock.$1" FAKETIME_CACHE_DURATION=1 FAKETIME_DONT_RESET=1
		DONT_FAKE_MONOTONIC=1 FAKETIME_DONT_FAKE_MONOTONIC=1)
}

node_start() { # I
	NOTIFY_SOCKET=$dir/notify WATCHDOG_USEC=$((watchdog_s * 1000000)) "$B/chaos/node" "${urls[*]}" "chaos-$1" "$dir/spool$1" "$per_s" "$dir/acked$1" \
		"$dir/keys$1" "$COLLECTOR_PUB" "$TOKEN" 2>>"$dir/node$1.log" &
	node[$1]=$!
}

collector_start() { # I
	start "c$1" "${ports[$1]}" "${ports[$((collectors + $1))]}"
}

# What is done to whom; each leaves everything running again.
kill_node() {
	local i=$((RANDOM % nodes))
	say "kill -9 node $i"
	kill -KILL "${node[$i]}"
	wait "${node[$i]}" 2>/dev/null
	node_start "$i"
}

kill_collector() {
	local i=$((RANDOM % collectors))
	say "kill -9 collector $i"
	halt "c$i" KILL
	sleep "$((RANDOM % 8)).$((RANDOM % 10))"
	collector_start "$i"
}

kill_backend() {
	say "backends of the collectors: $(sql -d postgres -c "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'seismo-collector'") terminated"
}

kill_postmaster() {
	local signal=(KILL INT QUIT)
	signal=${signal[$((RANDOM % 3))]}
	say "postmaster: $signal"
	pg_kill "$signal"
	sleep "$((RANDOM % 3)).$((RANDOM % 10))"
	until pg_start; do # its children may not be gone yet
		sleep 1
	done
}

freeze_collector() { # connections stay, and nobody answers
	local i=$((RANDOM % collectors)) s=$((RANDOM % 6))
	say "collector $i stands still for $s s"
	kill -STOP "${running[c$i]}"
	sleep "$s"
	kill -CONT "${running[c$i]}"
}

cut_connections() {
	local i=$((RANDOM % collectors))
	say "connections of collector $i are cut"
	ss -K "sport = :${ports[$i]}" >/dev/null 2>&1
}

half_open() { # nothing passes any more, and neither side gets an error
	local i=$((RANDOM % collectors)) s=$((1 + RANDOM % 6))
	say "nothing passes to or from collector $i for $s s"
	nft -f - <<-END || refused=nft
		table inet seismo_chaos {
			chain nothing { type filter hook input priority 0; tcp dport ${ports[$i]} drop; tcp sport ${ports[$i]} drop; }
		}
	END
	sleep "$s"
	nft delete table inet seismo_chaos
}

fill_disk() { # of a node's spool
	local i=$((RANDOM % nodes)) s=$((1 + RANDOM % 6))
	say "the disk of node $i is full for $s s"
	head -c "$disk" /dev/zero >"$dir/spool$i/filler" 2>/dev/null
	sleep "$s"
	rm "$dir/spool$i/filler"
}

fill_database() { # up to where the collector refuses batches, or to the last byte
	local i s=$((2 + RANDOM % 6)) left=$((RANDOM % 2 * 100)) full
	full=$(($(df --output=avail -B 1M "$dir/d" | tail -n 1) - left))
	say "the disk of PostgreSQL has $left MB left for $s s"
	dd if=/dev/zero of="$dir/d/filler" bs=1M count="$full" 2>/dev/null
	[ "$left" != 0 ] || dd if=/dev/zero of="$dir/d/filler2" bs=4k 2>/dev/null
	sleep "$s"
	rm -f "$dir/d/filler" "$dir/d/filler2"
	for ((i = 0; i < 50; i++)); do # it may be about to end, since its log had no room
		kill -0 "$pg" 2>/dev/null || break
		sql -d postgres -c 'select 1' >/dev/null 2>&1 && return
		sleep 0.1
	done
	pg_alive
}

pg_alive() { # starts PostgreSQL if it has ended
	kill -0 "$pg" 2>/dev/null && return
	say "PostgreSQL had ended; it is started"
	wait "$pg" 2>/dev/null
	until pg_start; do
		sleep 1
	done
}

jump_clock() { # of PostgreSQL, of the collectors, or of the host of both
	local off=(3456000 -3456000 31536000) whose=(database collector both) s=$((3 + RANDOM % 5))
	off=${off[$((RANDOM % 3))]} whose=${whose[$((RANDOM % 3))]}
	say "clock of $whose: $off s off for $s s"
	[ "$whose" = collector ] || set_clock database "$off"
	[ "$whose" = database ] || set_clock collector "$off"
	sleep "$s"
	set_clock database 0
	set_clock collector 0
}

watchdog_kill() { # a node's loop hangs: the watchdog ends it, and the service manager starts it again
	local i=$((RANDOM % nodes)) pid
	pid=${node[$i]}
	say "the loop of node $i hangs"
	kill -STOP "$pid"
	wait "$pid" 2>/dev/null
	await 100 grep -qx "$pid" "$dir/ended" || refused="the watchdog"
	node_start "$i"
}

freeze_node() {
	local i=$((RANDOM % nodes)) s=$((RANDOM % 4))
	say "node $i stands still for $s s"
	kill -STOP "${node[$i]}"
	sleep "$s"
	kill -CONT "${node[$i]}"
}

stored() {
	sql -c "select coalesce(sum(seq), 0) from ingest_mark"
}

enough() { # KILLS_DONE: both, kills and batches; looked at rarely
	[ "$1" -ge "$kills" ] && [ $(($1 % 10)) = 0 ] && [ "$(stored 2>/dev/null || echo 0)" -ge "$batches" ]
}

mkdir "$dir/d" && mount -t tmpfs -o "size=$database_disk" none "$dir/d"
set_clock database 0
set_clock collector 0
faked collector
printf '#!/bin/sh\nexec %s "$@"\n' "${env[*]} $PWD/$collector" >"$dir/collector" && chmod 755 "$dir/collector"
collector=$dir/collector
faked database
as_postgres+=("${env[@]}")
pg_flags=(-c max_wal_size=128MB)
pg_make
for ((i = 0; i < collectors; i++)); do
	collector_start "$i"
done
await 300 grep -q "is ready" "$dir/c0.log"
let_in
trap 'nft delete table inet seismo_chaos 2>/dev/null; clear_away; umount -l "$dir"/spool* "$dir/d" 2>/dev/null; rm -rf "$dir"' EXIT
tests/chaos/watchdog.py "$dir/notify" "$watchdog_s" >"$dir/ended" 2>>"$dir/watchdog.log" &
await 100 test -S "$dir/notify"
for ((i = 0; i < nodes; i++)); do
	mkdir -m 700 "$dir/spool$i" && mount -t tmpfs -o "size=$disk,mode=700" none "$dir/spool$i"
	node_start "$i"
done
began=$SECONDS
what=(fill_database jump_clock watchdog_kill half_open fill_disk kill_node kill_node kill_node kill_collector kill_collector kill_backend kill_postmaster freeze_collector cut_connections freeze_node)
for ((k = 0; ; k++)); do
	! enough "$k" || break
	[ $((k % 20)) -ne 0 ] || printf '  CHAOS  %s of %s, %s batches stored, %s s\n' "$k" "$kills" "$(stored 2>/dev/null)" $((SECONDS - began)) >&2
	w=${what[$((RANDOM % ${#what[@]}))]}
	did[$w]=$((${did[$w]:-0} + 1))
	$w
	[ -z "$refused" ] || { echo "run.sh: $refused refused what $w asks of it, so nothing was disturbed: mend that first" >&2; exit 1; }
	sleep "0.$((RANDOM % 10))"
done
printf '  CHAOS  over after %s s: the nodes deliver what they have\n' $((SECONDS - began)) >&2
kill -TERM "${node[@]}"
left=0
for i in "${node[@]}"; do
	await 1800 eval "! kill -0 $i" || left=$((left + 1))
done

for ((i = 0; i < nodes; i++)); do # the last that is known of each epoch, and what of it was dropped
	awk -v n="chaos-$i" 'NF == 2 && (!($1 in m) || $2 > m[$1]) { m[$1] = $2 } END { for (e in m) printf "%s\t%s\t%s\n", n, e, m[e] }' "$dir/acked$i" >&3
	awk -v n="chaos-$i" 'NF == 3 { printf "%s\t%s\t%s\t%s\n", n, $1, $2, $3 }' "$dir/acked$i"
done 3>"$dir/acked" >"$dir/dropped"
sql -c "create table acked (node text, epoch bigint, seq bigint)" -c "\\copy acked from '$dir/acked'"
sql -c "create table dropped (node text, epoch bigint, lo bigint, hi bigint)" -c "\\copy dropped from '$dir/dropped'"
sql <<'END'
create view declared as select n.name as node, epoch, seq_from as lo, seq_to as hi from gap join node n using (node_id);
create table got as select n.name as node, split_part(path, '/', 2)::bigint as epoch, split_part(path, '/', 3)::bigint as seq, count(*) as n
	from request join node n using (node_id) where app = 'chaos' group by 1, 2, 3;
create index on got (node, epoch, seq);
analyze got;
END
create_missing() { # NAME FROM: those up to a seq of an epoch that are not stored
	sql -c "create table $1 as select a.node, a.epoch, s.seq from ($2) a, generate_series(1, a.seq) s (seq)
		where not exists (select from got g where (g.node, g.epoch, g.seq) = (a.node, a.epoch, s.seq))"
}
not_in() { # MISSING RANGES...: how many are in none of these
	local m=$1 r where=true
	shift
	for r; do
		where+=" and not exists (select from $r r where (r.node, r.epoch) = (m.node, m.epoch) and m.seq between r.lo and r.hi)"
	done
	sql -c "select count(*) from $m m where $where"
}
create_missing after_ack "select * from acked"
create_missing between "select node, epoch, max(seq) as seq from got group by 1, 2"
acked=$(sql -c "select coalesce(sum(seq), 0) - (select count(*) from after_ack m where exists (select from dropped r
	where (r.node, r.epoch) = (m.node, m.epoch) and m.seq between r.lo and r.hi)) from acked")
rows=$(sql -c "select count(*) from got")
doubled=$(sql -c "select count(*) from got where n > 1")
dropped=$(sql -c "select coalesce(sum(hi - lo + 1), 0) from dropped")
space=$(sql -c "select coalesce(sum(rows), 0) from disk_drop where fact = 'request'")
lost=$(not_in after_ack dropped declared)
holes=$(not_in between declared)
gaps=$(sql -c "select count(*) || ' (' || coalesce(sum(seq_to - seq_from + 1), 0) || ' batches)' from gap")
for ((i = 0; i < nodes; i++)); do
	cp "$dir/node$i.log" "$log.node$i"
done

cat <<END
### Chaos, $(date -u +%F), seed $seed

Linux $(uname -r), $(nproc) x $(sed -n 's/^model name\t: //p' /proc/cpuinfo | head -n 1). Command: \`SEED=$seed KILLS=$kills BATCHES=$batches COLLECTORS=$collectors make chaos\`: $nodes nodes of
$per_s batches a second each, $collectors collector(s), one PostgreSQL; $((SECONDS - began)) s.

| done | times |
|---|---|
$(for w in "${!did[@]}"; do echo "| ${w//_/ } | ${did[$w]} |"; done | sort)

| batches | |
|---|---|
| stored | $rows |
| known to be acknowledged | $acked |
| acknowledged and not stored | $lost |
| dropped by the collector at the limit of the database's disk | $space |
| stored twice | $doubled |
| missing before a stored one of its epoch, and declared by no probe | $holes |
| gaps that a probe declared: no room, as its disk was full | $gaps |
| dropped by a node for want of room | $dropped |
| nodes that could not deliver all they had | $left |
END
[ "$((lost > space ? lost - space : 0))$doubled$holes$left" = 0000 ] && [ "$rows" -ge "$batches" ]
