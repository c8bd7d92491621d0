#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ingest.sh - what storing a sample costs: CPU time of the collector and of all of PostgreSQL, beside COPY BINARY by a
# client that does nothing else: of the samples as they are, a row for each entity, and of the rows that the collector made
# of them. And NODES nodes at one collector: lag, memory, and all of them coming back at once. Prints Markdown for
# RESULTS.md. ROUNDS=7 BATCHES=1500 NODES=10000 SECONDS_EACH=30; COLLECTORS="before=FILE" measures another build in turn.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
. tests/lib/bench_rig.sh
rm -rf "$tmp"
. tests/lib/ingest_rig.sh
rounds=${ROUNDS:-5} batches=${BATCHES:-1500} nodes=${NODES:-10000} seconds=${SECONDS_EACH:-30}
senders=8 together=512 # batches that a busy collector takes at once: so many are in a transaction
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
	is "0|$samples" "select (select count(*) from sample), sum(cardinality(entities)) * 100 from sample_raw" || exit 1 # all went one way
	[ -s "$dir/rows.$1" ] || rows "$1" "select * from sample_raw"
	[ -s "$dir/rows.entity" ] || rows entity "select ts, node_id, entity_id, layout_id, v from sample_unsealed"
}

rows() { # NAME QUERY
	sql -c "\\copy ($2) to $dir/rows.$1 binary" && sql -c "select count(*) from ($2) q" >"$dir/rows.$1.n"
}

empty() {
	sql -c "truncate sample, sample_raw" -c checkpoint
}

by_copy() { # NAME TABLE
	local p n
	n=$(cat "$dir/rows.$1.n")
	empty
	p=$(pg_ticks)
	"$B/tools/copyin" "host=$dir/s dbname=seismo user=seismo" "$2" "$dir/rows.$1" $((n * together / senders / batches)) >"$dir/out" || exit 1
	of cpu_s "$dir/out" | awk -v n=$samples '{ print int($1 * 1e9 / n) }' >>"$dir/copy-$1.client"
	per_sample $(($(pg_ticks) - p)) >>"$dir/copy-$1.pg"
	of elapsed_s "$dir/out" >>"$dir/copy-$1.s"
	is "$n" "select count(*) from $2" || exit 1
}

both() { # NAME: of each round
	paste "$dir/$1.client" "$dir/$1.pg" | awk '{ print $1 + $2 }'
}

beside() { # NAME COPY: of the same round, %
	paste <(both "$1") <(both "$2") | awk '{ print 100 * $1 / $2 }' | median
}

line() { # NAME WHAT COPY
	echo "| $2 | $(median <"$dir/$1.client") | $(median <"$dir/$1.pg") | $(both "$1" | median) | $(beside "$1" copy-entity) | $(beside "$1" "$3") |" \
		"$(awk -v n=$samples '{ print n / $1 / 1e5 }' "$dir/$1.s" | median | sed 's/\([0-9]\)\([^0-9]\|$\)/.\1\2/g') |"
}

costs() {
	local i one
	samples=$((senders * batches * 1000))
	for ((i = 0; i < rounds; i++)); do
		for one in ${COLLECTORS:-} "now=$mine"; do
			through_collector "${one%%=*}" "${one#*=}"
			by_copy "${one%%=*}" sample_raw
		done
		by_copy entity sample
	done
	cat <<-END
	### Cost of a sample on its way into the database, $(date -u +%F)

	$(machine), $("$pgbin/postgres" --version), load average $(cut -d' ' -f1-3 /proc/loadavg).
	Command: \`make bench\` (\`tests/bench/ingest.sh\`, $rounds rounds in turn of $samples samples: $senders nodes with full windows,
	batches of 10 x 100 values, CURVE, synchronous commit, logged tables; COPY out of memory, as much in a transaction as $together batches).
	CPU time in ns a sample (1 ns is 0.001 s for 10^6): of the collector or of who copies, of all processes of PostgreSQL, of
	both; the load generator is not counted, but runs on the same processors. Median (min..max).

	| | collector or client | PostgreSQL | both | % of COPY of a row for each entity | % of COPY of the collector's rows | M samples/s |
	|---|---|---|---|---|---|---|
	END
	for one in ${COLLECTORS:-} "now=$mine"; do
		one=${one%%=*}
		line "$one" "collector, $one" "copy-$one"
		line "copy-$one" "COPY BINARY of its rows" "copy-$one"
	done
	line copy-entity "COPY BINARY of a row for each entity" "copy-$one"
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
