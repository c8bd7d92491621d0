#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# poisoned.sh - a stored row that the incident engine cannot apply stops nothing: it is skipped, counted and kept with its error,
# and the next fault becomes an incident.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

read -r port web < <(free_ports 2 | tr '\n' ' ')
n=0 # faults so far, one each 40 s

at() { # SECONDS: that long after the first fault
	echo "timestamptz '$began' + interval '$1 s'"
}

run() {
	start one "$port" "$web" --incidents-quiet-s 120 --incidents-join-s 60 --incidents-window-s 60
	await 300 counted "$web" seismo_database_up 1
}

fault() { # NODE: of its 30 requests in 20 s all fail
	local s=$((40 * n))
	n=$((n + 1))
	sql -c "select add_node('$1', '10.0.0.$n'), count_red('$1', 0, ':80', 20, 0, $(at $((s - 100))), $(at $((s + 30)))), count_red('$1', 0, ':80', 10, 0, $(at $s), $(at $((s + 30))), 5)" \
		-c "select abnormal('$1', 30, 'app.error', 5, 10, $(at $s), $(at $((s + 20))), 500)" \
		-c "update node set last_seen = $(at $((s + 30))) where name = '$1'" >/dev/null
}

goes_on() { # NODE: whatever was before, its fault becomes an incident
	fault "$1"
	await 150 is "opened" "select string_agg(t.kind, ',') from incident_step t join incident_signal g using (incident_id) where t.kind = 'opened' and g.host_id = node_of('$1')"
}

refused() { # ITEM SQLSTATE: it is kept aside
	await 150 is t "select count(*) > 0 from engine_refused where engine = 'incidents' and item like '$1 %' and sqlstate = '$2'"
}

health() { # PYTHON: true of the answer a
	curl -s "http://127.0.0.1:$web/healthz" | python3 -c "import json, sys; t = sys.stdin.read(); a = json.loads(t); ($1) or sys.exit(t)"
}

pg_make
run
sql -f tests/it/incident/incidents.sql >/dev/null
began=$(sql -c "select now() - interval '30 minutes'")
ok "a fault is an incident" goes_on first
ok "and well is the collector" health "a['status'] == 'ok' and 'behind' not in a"

# The state of a dump: an incident was merged into another one, which is over, and its rows are still in the window.
halt one TERM
sql -c "insert into incident (incident_id, region_id, onset, last, opened, closed) select 77, region_id, onset - interval '1 day', last - interval '1 day', opened, last - interval '1 day' from incident" \
	-c "update incident set merged_into = 77, closed = last where incident_id <> 77" \
	-c "select incident_fold(incident_id, 77) from incident where merged_into = 77" >/dev/null
steps=$(sql -c "select string_agg(t::text, ' ' order by step) from incident_step t")
run
ok "rows of a merged incident that are still in the window stop nothing" goes_on second
ok "the merged incident stays merged, with its steps" is "77|$steps" "select merged_into, (select string_agg(t::text, ' ' order by step) from incident_step t where t.incident_id = i.incident_id)
	from incident i where merged_into is not null"

# Steps are numbered on, though some are missing.
halt one TERM
sql -c "delete from incident_step where step = 1 and incident_id = (select incident_id from incident_signal where host_id = node_of('second'))"
run
ok "a step that is missing stops nothing" goes_on third
fault fourth; fault fifth; fault sixth # the time goes on: the second one ends
ok "and the incident has further ones" await 150 is t "select bool_or(t.kind = 'closed') from incident_step t join incident_signal g using (incident_id) where g.host_id = node_of('second')"

# Single rows that the database refuses, one table after the other.
sql -c "alter table incident_signal add constraint no_signal check (app <> 'seven-app')"
fault seven
ok "a signal that is refused stops nothing" goes_on eight
ok "its incident is kept aside" refused incident 23514
ok "with its text" is t "select body like '%seven-app%' and message like '%no_signal%' from engine_refused where item like 'incident %'"
ok "and counted" counted "$web" 'seismo_engine_skipped_total{engine="incidents"}' 1
ok "and this is logged once" [ "$(grep -c "stored rows of incidents cannot be applied and are skipped" "$dir/one.log")" = 1 ]
sql -c "alter table incident_signal drop constraint no_signal"
ok "it is an incident when it can be stored" await 300 is 1 "select count(*) from incident_signal where host_id = node_of('seven')"

sql -c "alter table incident_candidate add constraint no_candidate check (host_id <> node_of('nine'))"
fault nine
ok "a ranking that is refused stops nothing" goes_on ten
ok "and is kept aside" refused "ranking of incident" 23514
ok "the incident is there" is 1 "select count(*) from incident_signal where host_id = node_of('nine')"
sql -c "alter table incident_candidate drop constraint no_candidate" -c "alter table incident_step add constraint no_step check (detail ->> 'node' <> 'eleven')"
fault eleven
ok "nor does a step" goes_on twelve
sql -c "alter table incident_step drop constraint no_step"

# Rows of others. A count that is beyond all, twice, as a sum is, too.
sql -c "insert into red_key values (node_of('ten'), 5, 'big-app', '/big', '', 0)" \
	-c "insert into red (ts, node_id, key_id, status_class, n, sum_us, lo, b, excess_us, judged) select $(at $((40 * n + 20))), node_of('ten'), 5, c, 9e18, 9e18, 14, '{1}', 9e18, 5e14 from unnest('{2,5}'::int[]) c" >/dev/null
ok "counts that are beyond all stop nothing" goes_on thirteen
halt one TERM
sql -c "update request set stored = 'infinity' where (ts, request_id) = (select ts, request_id from request limit 1)" \
	-c "update incident set onset = 'infinity' where incident_id = (select incident_id from incident_signal where host_id = node_of('twelve'))" \
	-c "update incident_signal set last = '-infinity' where host_id = node_of('thirteen')"
run
ok "nor do times that are infinite" goes_on fourteen
ok "no look for incidents failed" [ "$(counter "$web" seismo_correlate_failures_total)" = 0 ]

# What is no row's fault: the engine is behind, and everyone can see it.
sql -c "alter table incident_mark rename to away"
ok "an engine that is behind is named, with the time and the reason" await 150 health "a['status'] == 'degraded' and a['behind'][0]['engine'] == 'incidents' and a['behind'][0]['since'] and 'incident_mark' in a['behind'][0]['why']"
ok "and is a metric" counted "$web" 'seismo_engine_behind_since_seconds{engine="incidents"}' 1000000000
sql -c "alter table away rename to incident_mark"
ok "until it is not" await 300 health "a['status'] == 'ok'"
done_checking
