#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# seal.sh - bytes of a sample in PostgreSQL, with indexes: as they come, packed, and with all rollups. What the probe says of
# this machine for RECORD_S=1980 seconds is laid over a day (HOURS=24), hour by hour. Prints Markdown for RESULTS.md.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
. tests/lib/bench_rig.sh
rm -rf "$tmp"
. tests/lib/ingest_rig.sh
seconds=${RECORD_S:-1980} hours=${HOURS:-24}
pg_flags=(-c shared_buffers=512MB -c max_wal_size=4GB -c autovacuum=off)
read -r port web < <(free_ports 2 | tr '\n' ' ')

record() {
	local p
	pg_make
	start c "$port" "$web" && let_in
	"$B/seismo-probe" --collector "tcp://127.0.0.1:$port" --collector-key "$COLLECTOR_PUB" --keys "$dir/k" --token "$TOKEN" 2>"$dir/probe.log" & p=$!
	sleep "$seconds"
	kill "$p"
	wait "$p"
	halt c TERM
}

lay_over_a_day() {
	sql -c "create table recorded as select * from sample_raw" -c "truncate sample_raw" -c "create table day as
		select date_bin('1 hour', now(), timestamptz 'epoch') - interval '$((hours + 1)) hours' as t0, min(ts) as r0, max(ts) - min(ts) + interval '2 s' as span from recorded" \
		-c "select count(ensure_partition('sample_raw', 'hour', t0 + i * interval '1 hour')), count(ensure_sealed(t0 + i * interval '1 hour')) from day, generate_series(0, $hours - 1) i" \
		-c "insert into sample_raw select at, node_id, layout_id, entities, a, b, v from day, recorded, generate_series(0, (extract(epoch from interval '$hours hours') / extract(epoch from span))::int) i,
			lateral (select t0 + (ts - r0) + i * span as at) x where at < t0 + interval '$hours hours' order by at" -c "vacuum analyze" >/dev/null
}

bytes() { # TABLE...: of all partitions with indexes
	local t
	for t; do
		sql -c "select sum(pg_total_relation_size(inhrelid)) from pg_inherits where inhparent = '$t'::regclass"
	done | awk '{ s += $1 } END { print s }'
}

each() { # BYTES: of a sample
	awk -v b="$1" -v n="$samples" 'BEGIN { printf "%.2f", b / n }'
}

took() { # QUERY of the API: ms, the best of 5
	local i
	for i in 1 2 3 4 5; do
		curl -s -o /dev/null -w '%{time_total}\n' "http://127.0.0.1:$web/api/v1/series?$1"
	done | sort -n | awk 'NR == 1 { printf "%.0f", $1 * 1000 }'
}

hour() { # HOURS AFTER t0
	sql -c "select to_char((t0 + $1 * interval '1 hour') at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') from day"
}

record
lay_over_a_day
samples=$(sql -c "select sum(cardinality(entities) * cardinality(names)) from sample_raw join layout using (layout_id)")
ticks=$(sql -c "select count(distinct ts) from recorded")
raw=$(bytes sample_raw)
# Nobody packs while the lock is held: what an hour that is not packed costs to read.
coproc holder { sql; }
echo "select pg_advisory_lock(126879331840368);" >&"${holder[1]}"
start c "$port" "$web"
unpacked=$(took "metric=memory_*&from=$(hour 1)&to=$(hour 2)&step=12")
eval "exec ${holder[1]}>&-"
await 6000 is 0 "select count(*) from sample_raw"
packs=$(counter "$web" seismo_seal_nanoseconds_total)
sql -c vacuum
cat <<-END
### Bytes of a sample in PostgreSQL, $(date -u +%F)

$(machine), $("$pgbin/postgres" --version), load average $(cut -d' ' -f1-3 /proc/loadavg). Command: \`make bench\` (\`tests/bench/seal.sh\`): $ticks ticks of
this machine, recorded in $seconds s, laid over $hours hours: $samples samples. Tables with indexes, and of each hour a partition.

| | bytes a sample | goal |
|---|---|---|
| as they come | $(each "$raw") | 8 |
| packed | $(each "$(bytes sealed)") | 1.2 |
| rollups of 1 m, 10 m and 1 h | $(each "$(bytes sample_1m)") + $(each "$(bytes sample_10m)") + $(each "$(bytes sample_1h)") | |
| packed, with rollups | $(each "$(bytes sealed sample_1m sample_10m sample_1h)") | |

To pack and roll up took $((packs / samples)) ns a sample, by the clock. The API, best of five: all metrics of memory over an hour by 12 s, not packed $unpacked ms,
packed $(took "metric=memory_*&from=$(hour 1)&to=$(hour 2)&step=12") ms; one metric over $hours hours by 5 minutes (rollups) $(took "metric=load1&from=$(hour 0)&to=$(hour $hours)&step=300") ms, by 30 s (samples) $(took "metric=load1&from=$(hour 0)&to=$(hour $hours)&step=30") ms.
END
