#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fleet.sh - the fleet page of NODES=10000 nodes, and who calls whom among EDGES=200000, from a PostgreSQL and a collector of their
# own: medians of ROUNDS=15, in the database and over HTTP, each on a connection that was used before. Prints Markdown for RESULTS.md; takes a few minutes and a few GB.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh
. tests/lib/bench_ask.sh
nodes=${NODES:-10000} edges=${EDGES:-200000} rounds=${ROUNDS:-15} ticks=${TICKS:-60}
pg_flags=(-c fsync=off -c max_wal_size=4GB -c work_mem=16MB -c shared_buffers=512MB)
read -r port web < <(free_ports 2 | tr '\n' ' ')

say() {
	printf '  %-6s %s\n' "$1" "$2" >&2
}

both() { # NAME SQL PATH
	echo "| $1 | $(in_database "$2") | $(by_http "$3") |"
}

pg_make
start one "$port" "$web"
await 100 counted "$web" seismo_database_up 1
say FILL "$nodes nodes"
sql -v nodes="$nodes" -v edges="$edges" -v ticks="$ticks" -f tests/bench/fleet.sql >&2 || exit 1
echo "| ms, median (least..most) of $rounds | in the database | over HTTP |"
echo "|---|---|---|"
f="null, null, null, null, null, null, null"
both "fleet: the worst 100 of $nodes nodes" "select api.fleet($f, 'worst', 100, 0)" "fleet"
both "by latency, the last page" "select api.fleet($f, 'latency', 100, $((nodes - 100)))" "fleet?by=latency&skip=$((nodes - 100))"
both "of one region, one tag and one app" "select api.fleet('{r-1}', null, '{role=web}', null, '{app-7}', null, null, 'worst', 100, 0)" "fleet?region=r-1&tag=role=web&app=app-7"
both "1,000 at once" "select api.fleet($f, 'worst', 1000, 0)" "fleet?limit=1000"

topology() { # WHEN
	local range=$HOUR
	both "$1: who calls app-7, and whom it calls ($(sql -c "select api.topology($range, null, null, 'app-7', 1) -> 'total'") edges)" "select api.topology($range, null, null, 'app-7', 200)" "topology?app=app-7"
	both "$1: of another app ($(sql -c "select api.topology($range, null, null, 'app-9', 1) -> 'total'") edges)" "select api.topology($range, null, null, 'app-9', 200)" "topology?app=app-9"
	both "$1: all ($(sql -c "select api.topology($range, null, null, null, 1) -> 'total'") edges)" "select api.topology($range, null, null, null, 200)" "topology"
}

say TIME "$(sql -c 'select count(*) from red') rows of counts, as each was sent"
sql -f tests/it/collector/red_roll.sql
sql -c "grant execute on function api.topology_by_rows(timestamptz, timestamptz, text, text, text, int) to seismo_web"
for app in "'app-7'" "'app-9'" null; do
	echo "| by each row: $app | $(in_database "select api.topology_by_rows($HOUR, null, null, $app, 200)" 1) | |"
done
rolled() {
	[ "$(sql -c 'select until > since and not exists (select from red_late) and not exists (select from red_late_1m) from red_closed')" = t ]
}
topology "not rolled up"
say ROLL "what is over"
sql -c "update red_closed set since = date_bin('10 minutes', now() - interval '80 minutes', timestamptz 'epoch'), until = date_bin('10 minutes', now() - interval '80 minutes', timestamptz 'epoch'),
	since_1m = date_bin('1 minute', now() - interval '80 minutes', timestamptz 'epoch'), until_1m = date_bin('1 minute', now() - interval '80 minutes', timestamptz 'epoch')"
from=$(date +%s%N)
sql -c "notify seismo_seal"
await 6000 rolled
echo "| to roll up $(sql -c 'select count(distinct ts) from red_10m') slots into $(sql -c 'select count(*) from red_10m') rows, and $(sql -c 'select count(distinct ts) from red_1m') minutes into $(sql -c 'select count(*) from red_1m'), all | $((($(date +%s%N) - from) / 1000000)) | |"
sql -c "vacuum analyze red_10m" -c "vacuum analyze red_1m"
topology "rolled up"
