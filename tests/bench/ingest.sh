#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ingest.sh - what storing a sample costs: CPU time of the collector and of all of PostgreSQL, beside COPY BINARY of the
# same rows by a client that does nothing else. And NODES nodes at one collector: lag, memory, and all of them coming
# back at once. Prints Markdown for RESULTS.md. ROUNDS=7 BATCHES=1500 NODES=10000 SECONDS_EACH=30; COLLECTORS="before=FILE"
# measures another build in turn.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/check.sh
. tests/bench_rig.sh
rm -rf "$tmp"
. tests/it/ingest_rig.sh
rounds=${ROUNDS:-5} batches=${BATCHES:-1500} nodes=${NODES:-10000} seconds=${SECONDS_EACH:-30}
tables="sample_raw sample" entities=10
senders=8 rows=5120 # of a transaction: ten of each of the 512 batches that a busy collector takes at once
pg_flags=(-c shared_buffers=512MB -c max_wal_size=4GB -c autovacuum=off)
read -r port web < <(free_ports 2 | tr '\n' ' ')
mine=$collector

ticks() { # FILE...: user and system time, in ticks; of $pg also that of its children that have ended
	awk -v pg="$pg" '{ t += $14 + $15 } $1 == pg { t += $16 + $17 } END { print t }' "$@" 2>/dev/null
}

pg_ticks() {
	ticks "/proc/$pg/stat" $(pgrep -P "$pg" | sed 's|.*|/proc/&/stat|')
}

of() { # NAME FILE
	awk -v n="$1" '$1 == n { print $2 }' "$2"
}

per_sample() { # TICKS: ns
	echo $(($1 * 10000000 / samples))
}

through_collector() { # NAME FILE
	local c p
	collector=$2
	start c "$port" "$web" && let_in
	empty
	c=$(ticks "/proc/${running[c]}/stat") p=$(pg_ticks)
	"$B/tools/fleet" "tcp://127.0.0.1:$port" nodes=$senders batches="$batches" spread=0 >"$dir/out" || exit 1
	per_sample $(($(ticks "/proc/${running[c]}/stat") - c)) >>"$dir/$1.client"
	per_sample $(($(pg_ticks) - p)) >>"$dir/$1.pg"
	of elapsed_s "$dir/out" >>"$dir/$1.s"
	halt c TERM
}

empty() {
	sql -c "truncate ${tables// /,}" -c checkpoint
}

by_copy() { # NAME: of what its collector has just stored
	local p t n=$rows
	for t in $tables; do
		[ "$(sql -c "select exists (select from $t)")" = f ] || break
	done
	[ "$t" = sample ] || n=$((rows / (entities < 3 ? entities : 3))) # rows with several entities are fewer
	[ -s "$dir/rows.$1" ] || sql -c "\\copy (select * from $t) to $dir/rows.$1 binary"
	empty
	p=$(pg_ticks)
	"$B/tools/copyin" "host=$dir/s dbname=seismo user=seismo" $t "$dir/rows.$1" $n >"$dir/out" || exit 1
	of cpu_s "$dir/out" | awk -v n=$samples '{ print int($1 * 1e9 / n) }' >>"$dir/copy-$1.client"
	per_sample $(($(pg_ticks) - p)) >>"$dir/copy-$1.pg"
	of elapsed_s "$dir/out" >>"$dir/copy-$1.s"
}

line() { # NAME WHAT COPY: each round beside the COPY of the same round
	paste "$dir/$1.client" "$dir/$1.pg" | awk '{ print $1 + $2 }' >"$dir/$1.both"
	paste "$dir/$3.client" "$dir/$3.pg" | awk '{ print $1 + $2 }' >"$dir/$3.both"
	echo "| $2 | $(median <"$dir/$1.client") | $(median <"$dir/$1.pg") | $(median <"$dir/$1.both") |" \
		"$(paste "$dir/$1.both" "$dir/$3.both" | awk '{ print 100 * $1 / $2 }' | median) |" \
		"$(awk -v n=$samples '{ print n / $1 / 1e5 }' "$dir/$1.s" | median | sed 's/\([0-9]\)\([^0-9]\|$\)/.\1\2/g') |"
}

costs() {
	local i one
	samples=$((senders * batches * 1000))
	for ((i = 0; i < rounds; i++)); do
		for one in ${COLLECTORS:-} "now=$mine"; do
			through_collector "${one%%=*}" "${one#*=}"
			by_copy "${one%%=*}"
		done
	done
	cat <<-END
	### Cost of a sample on its way into the database, $(date -u +%F)

	$(machine), $("$pgbin/postgres" --version), load average $(cut -d' ' -f1-3 /proc/loadavg).
	Command: \`make bench\` (\`tests/bench/ingest.sh\`, $rounds rounds in turn of $samples samples: $senders nodes with full windows,
	batches of 10 x 100 values, CURVE, synchronous commit, logged tables; COPY of the same rows from memory, $rows in a transaction).
	CPU time in ns a sample, which is seconds for 10^9: of the collector or of who copies, of all processes of PostgreSQL, of
	both; the load generator is not counted, but runs on the same processors. Median (min..max).

	| | collector or client | PostgreSQL | both | % of COPY | M samples/s |
	|---|---|---|---|---|---|
	END
	for one in ${COLLECTORS:-} "now=$mine"; do
		one=${one%%=*}
		line "$one" "collector, $one" "copy-$one"
		line "copy-$one" "COPY BINARY of these rows" "copy-$one"
	done
}

worst() { # NAME: of the two halves
	cat "$dir/half1" "$dir/half2" | awk -v n="$1" '$1 == n && $2 > m { m = $2 } END { print m + 0 }'
}

# A node takes two descriptors, so half of them in each process. Their keys are let in beforehand.
many() { # SPREAD_MS
	local half=$((nodes / 2)) c p t
	sql -c 'truncate sample, sample_raw, node, node_key, ingest_mark'
	collector=$mine
	start c "$port" "$web"
	"$B/tools/fleet" keys nodes="$nodes" | sed 's/$/,1/' | sql -c "copy node_key (key, node_id, name, state) from stdin csv"
	sql -c 'notify seismo_keys'
	sleep 1
	c=$(ticks "/proc/${running[c]}/stat") p=$(pg_ticks) t=$(date +%s)
	"$B/tools/fleet" "tcp://127.0.0.1:$port" nodes=$half seconds="$seconds" storm=$((seconds * 1000 - 10000)) spread="$1" >"$dir/half1" & local one=$!
	"$B/tools/fleet" "tcp://127.0.0.1:$port" first=$half nodes=$((nodes - half)) seconds="$seconds" storm=$((seconds * 1000 - 10000)) spread="$1" >"$dir/half2"
	wait $one
	c=$(($(ticks "/proc/${running[c]}/stat") - c)) p=$(($(pg_ticks) - p)) t=$(($(date +%s) - t))
	echo "| $1 | $(worst connected_s) | $(worst steady_lag_p50_ms) / $(worst steady_lag_p99_ms) / $(worst steady_lag_max_ms) |" \
		"$(worst storm_welcome_s) | $(worst storm_settled_s) | $(awk '$1 == "VmHWM:" { print int($2 / 1024) }' "/proc/${running[c]}/status") |" \
		"$((c / 100)) + $((p / 100)) of $t |"
	halt c TERM
}

fleet() {
	cat <<-END

	### $nodes nodes at one collector, $(date -u +%F)

	$(machine), load average $(cut -d' ' -f1-3 /proc/loadavg). Command: \`make bench\` (\`tests/bench/ingest.sh\`): two processes hold
	$nodes connections, each with its own key, of nodes that send 1,000 samples every 10 s; $((seconds - 10)) s after the last was
	greeted all close and come back within the spread, as probes do that lost a collector elsewhere (1 to 5 s) or all at once (0).
	They and their half of each handshake run on the same processors. The worse of the two processes.

	| spread, ms | first connected, s | lag before, ms: p50 / p99 / max | all greeted again, s | lag at most 2 s again, s | collector's peak, MiB | CPU s, collector + PostgreSQL |
	|---|---|---|---|---|---|---|
	END
	many 4000
	many 0
}

pg_make
start c "$port" "$web" && let_in && halt c TERM
[ "$rounds" = 0 ] || costs
[ "$nodes" = 0 ] || fleet
