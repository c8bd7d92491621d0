#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fleet.sh - the fleet page of NODES=10000 nodes, and who calls whom among EDGES=200000, from a PostgreSQL and a collector of their
# own: medians of ROUNDS=15, in the database and over HTTP. Prints Markdown for RESULTS.md; takes a few minutes and a few GB.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/check.sh
. tests/it/ingest_rig.sh
nodes=${NODES:-10000} edges=${EDGES:-200000} rounds=${ROUNDS:-15} ticks=${TICKS:-60}
pg_flags=(-c fsync=off -c max_wal_size=4GB -c work_mem=16MB -c shared_buffers=512MB)
read -r port web < <(free_ports 2 | tr '\n' ' ')

say() {
	printf '  %-6s %s\n' "$1" "$2" >&2
}

in_database() { # SQL [ROUNDS]: median, least and most, ms; as the console's role
	for _ in $(seq "${2:-$rounds}"); do
		"$pgbin/psql" -h "$dir/s" -U seismo_web -X -q -A -t -d seismo -c '\timing on' -c "$1" -o /dev/null | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p'
	done | sort -n | awk '{ v[NR] = $1 } END { printf "%.1f (%.1f..%.1f)", v[int((NR + 1) / 2)], v[1], v[NR] }'
}

by_http() { # PATH
	for _ in $(seq "$rounds"); do
		curl -s -o /dev/null -w '%{time_total} %{http_code}\n' "http://127.0.0.1:$web/api/v1/$1"
	done | awk '$2 == 200 { print 1000 * $1 }' | sort -n | awk '{ v[NR] = $1 } END { printf "%.1f (%.1f..%.1f)", v[int((NR + 1) / 2)], v[1], v[NR] }'
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
	local range="now() - interval '1 hour', now()"
	both "$1: who calls app-7, and whom it calls ($(sql -c "select api.topology($range, null, null, 'app-7', 1) -> 'total'") edges)" "select api.topology($range, null, null, 'app-7', 200)" "topology?app=app-7"
	both "$1: of another app ($(sql -c "select api.topology($range, null, null, 'app-9', 1) -> 'total'") edges)" "select api.topology($range, null, null, 'app-9', 200)" "topology?app=app-9"
	both "$1: all ($(sql -c "select api.topology($range, null, null, null, 1) -> 'total'") edges)" "select api.topology($range, null, null, null, 200)" "topology"
}

say TIME "$(sql -c 'select count(*) from red') rows of counts, as each was told"
sql -f tests/it/red_roll.sql
sql -c "grant execute on function api.topology_by_rows(timestamptz, timestamptz, text, text, text, int) to seismo_web"
for app in "'app-7'" "'app-9'" null; do
	echo "| by each row: $app | $(in_database "select api.topology_by_rows(now() - interval '1 hour', now(), null, null, $app, 200)" 3) | |"
done
say ROLL "what is over"
from=$(date +%s%N)
sql -c "notify seismo_seal"
rolled() {
	[ "$(sql -c 'select until > since and not exists (select from red_late) from red_closed')" = t ]
}
await 6000 rolled
echo "| to roll up $(sql -c 'select count(distinct ts) from red_10m') slots into $(sql -c 'select count(*) from red_10m') rows, all | $((($(date +%s%N) - from) / 1000000)) | |"
sql -c "vacuum analyze red_10m"
topology "rolled up"
