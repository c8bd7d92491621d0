#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fleet_wire.sh - a fleet at one collector, through the wire: NODES nodes with EDGES calls each to others. Every ten seconds each
# sends 1,000 samples, what its two servers answered, and the calls on COUNTS of its edges in turn; EVENTS requests a second fail,
# of all nodes together. For SECONDS_EACH seconds, of which the first SETTLE are reported apart, as all is new to the collector
# then; LONG=1 is 10,000 nodes, 200,000 edges, 1,000 events/s, for ten minutes. Meanwhile the fleet page and the topology of one
# application are asked for, every EVERY seconds. Prints Markdown for RESULTS.md.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
. tests/lib/bench_rig.sh
rm -rf "$tmp"
. tests/lib/ingest_rig.sh
. tests/lib/bench_ask.sh
[ -z "${LONG:-}" ] || : "${NODES:=10000}" "${EVENTS:=1000}" "${SECONDS_EACH:=600}" "${SETTLE:=60}"
nodes=${NODES:-500} edges=${EDGES:-20} counts=${COUNTS:-4} events=${EVENTS:-50} seconds=${SECONDS_EACH:-45} every=${EVERY:-5} settle=${SETTLE:-15}
pg_flags=(-c shared_buffers=512MB -c max_wal_size=4GB)
read -r port web < <(free_ports 2 | tr '\n' ' ')
export PGOPTIONS="-c jit=off"

load() { # FIRST NODES: its output in half.FIRST
	"$B/tools/fleet" "tcp://127.0.0.1:$port" first="$1" nodes="$2" all="$nodes" seconds="$seconds" edges="$edges" counts="$counts" settle="$settle" \
		events=$((events * $2 / nodes)) >"$dir/half.$1" &
	loads+=($!)
}

of() { # NAME: of the worse half
	awk -v n="$1" '$1 == n && $2 > m { m = $2 } END { print m + 0 }' "$dir"/half.*
}

lags() { # WHAT
	echo "$(of "$1_lag_p50_ms") / $(of "$1_lag_p99_ms") / $(of "$1_lag_max_ms")"
}

into() { # FILE: with how long it has been going on
	sed "s/$/ $(($(date +%s) - began))/" >>"$dir/$1"
}

spread() { # FILE: median, 99 of 100, most, and when that was
	sort -n "$dir/$1" | awk '{ v[NR] = $1; at = $2 } END { if (NR) printf "%.1f / %.1f / %.1f of %d, that after %d s", v[int((NR + 1) / 2)], v[int((NR * 99 + 99) / 100)], v[NR], NR, at }'
}

peak_mib() {
	awk '$1 == "VmHWM:" { print int($2 / 1024) }' "/proc/${running[c]}/status"
}

ticks() { # FILE...: user and system time; of $pg also that of its children that have ended
	awk -v pg="$pg" '{ t += $14 + $15 } $1 == pg { t += $16 + $17 } END { print t }' "$@" 2>/dev/null
}

cpu_s() {
	echo $((($(ticks "/proc/${running[c]}/stat" "/proc/$pg/stat" $(pgrep -P "$pg" | sed 's|.*|/proc/&/stat|')) + 50) / 100))
}

is_under_way() {
	for p in "${loads[@]}"; do
		kill -0 "$p" 2>/dev/null && return
	done
	return 1
}

pg_make
start c "$port" "$web" && let_in
"$B/tools/fleet" keys nodes="$nodes" | sed 's/$/,1/' | sql -c "copy node_key (key, node_id, name, state) from stdin csv"
sql -c 'notify seismo_keys'
sleep 1
loads=()
load 0 $((nodes / 2))
load $((nodes / 2)) $((nodes - nodes / 2))
await 3000 is t "select count(*) = $nodes from place where kind = 1"
began=$(date +%s) cpu=$(cpu_s)
while is_under_way; do
	http_ms fleet | into http.fleet
	http_ms "topology?app=app-7" | into http.topology
	ask_ms "select api.fleet(null, null, null, null, null, null, null, 'worst', 100, 0)" 1 | into db.fleet
	ask_ms "select api.topology($HOUR, null, null, 'app-7', 200)" 1 | into db.topology
	sleep "$every"
done
wait "${loads[@]}" || echo "not all was acknowledged"
cat <<END
### A fleet at one collector, through the wire, $(date -u +%F)

$(machine), $("$pgbin/postgres" --version), load average $(cut -d' ' -f1-3 /proc/loadavg) at its end. Command: \`tests/bench/fleet_wire.sh\`, $nodes nodes with $edges edges each,
$events events/s, counts of $counts edges and two servers with each tick of ten seconds, for $seconds s. The load runs on the same processors. Of two processes the worse.

| | |
|---|---|
| lag of ticks, ms: p50 / p99 / max | $(lags steady) |
| lag of events | $(lags event) |
| lag of both in the first $settle s, in which all is new | $(lags begin) |
| collector's peak, MiB | $(peak_mib) |
| CPU s, collector + PostgreSQL, of $(($(date +%s) - began)) | $(($(cpu_s) - cpu)) |
| fleet page over HTTP, ms: median / p99 / max | $(spread http.fleet) |
| fleet page in the database | $(spread db.fleet) |
| topology of one application over HTTP ($(sql -c "select api.topology($HOUR, null, null, 'app-7', 1) -> 'total'") edges) | $(spread http.topology) |
| topology of one application in the database | $(spread db.topology) |
| stored: requests, rows of counts, of minutes, of ten minutes | $(sql -F ', ' -c "select (select count(*) from request), (select count(*) from red), (select count(*) from red_1m), (select count(*) from red_10m)") |
END
halt c TERM
