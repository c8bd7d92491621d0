#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - recorded faults through seismo-replay into a collector of their own: which host is named first.
#
# DATA is a directory of requests.csv, calls.csv (or .xz) and faults.csv, in which every fault has a window and there is a window
# "baseline" without one. MIN=FIRST,THREE: the least share of faults whose host is named first, and among the first three, of
# those that change durations; ALL=FIRST,THREE of all. Fails below, or without a fault. FAULTS="a b": only these windows.
# LEARN, REST: how often the baseline is played before the first fault and after each; SPEED as of seismo-replay; RULE: whose
# naming counts ("by hand", "incidents", or "asked": of the times of the faults); KEEP: a directory for what was judged.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
. tests/lib/ingest_rig.sh

DATA=${DATA:-tests/data/onlineboutique}
FAULTS=${FAULTS:-$(awk -F, 'NR > 1 { print $1 }' "$DATA/faults.csv")}
read -r port web < <(free_ports 2 | tr '\n' ' ')

recorded() { # NAME: of its file what is to be played
	if [ -f "$DATA/$1.csv.xz" ]; then xz -dc "$DATA/$1.csv.xz"; else cat "$DATA/$1.csv"; fi |
		awk -F, -v want="window baseline $FAULTS" 'BEGIN { n = split(want, w, " "); for (i = 1; i <= n; i++) wanted[w[i]] } $1 in wanted' >"$dir/$1.csv"
}

order() { # one fault after the other, and the baseline between them
	local f list="baseline*${LEARN:-10}"
	for f in $FAULTS; do
		list+=",$f,baseline*${REST:-5}"
	done
	echo "$list"
}

with() { # whether this collector makes incidents
	"$collector" --help | grep -q -e --incidents-quiet-s
}

caught_up() {
	is t "select (select max(stored) from request) <= (select stored from incident_mark where fact = 'request')"
}

recorded requests
recorded calls
pg_make
flags=(--node-rows-per-s 100000000)
! with || flags+=(--incidents-window-s 60 --incidents-quiet-s 60 --incidents-join-s 60 --incidents-reopen-s 0)
start one "$port" "$web" "${flags[@]}"
let_in
looked=$(counter "$web" seismo_correlate_passes_total)
began=$(date +%s%N)
"$B/seismo-replay" --collector "tcp://127.0.0.1:$port" --collector-key "$COLLECTOR_PUB" --token "$TOKEN" --keys "$dir/replayed" \
	--requests "$dir/requests.csv" --calls "$dir/calls.csv" --speed "${SPEED:-120}" --play "$(order)" >"$dir/played" || exit 1
awk -v s=$((($(date +%s%N) - began) / 1000000000)) -v looks="$(($(counter "$web" seismo_correlate_passes_total) - looked))" -v busy="$(counter "$web" seismo_correlate_ns_total)" \
	'$1 == "window" { n++; t += ($4 - $3) / 1e6 }
	END { printf "replayed %d windows, %.1f h in %d s, looked at each %d s of data, in %d %% of the time\n", n, t / 3600, s, t / looks, busy / s / 1e7 }' "$dir/played"
asked() { # whom the collector names where it is asked about each fault's time: NAME ANSWER
	local name begin end
	while read -r _ name begin end _; do
		[ "$name" = baseline ] || printf '%s %s\n' "$name" "$(curl -sf "http://127.0.0.1:$web/api/v1/where?from=$(date -ud "@$((begin / 1000000))" +%FT%TZ)&to=$(date -ud "@$((end / 1000000))" +%FT%TZ)")"
	done < <(grep '^window ' "$dir/played")
}

echo '{"incidents":[]}' >"$dir/incidents"
echo '{}' >"$dir/candidates"
: >"$dir/asked"
if with; then
	await 600 caught_up || echo "the collector has not looked at all of it"
	sleep "${SETTLE:-3}" # a ranking is made anew when the last counts are stored
	curl -sf "http://127.0.0.1:$web/api/v1/incidents?limit=1000&from=$(date -ud '-1 day' +%FT%TZ)" >"$dir/incidents"
	sql -c "select coalesce(json_object_agg(name, list), '{}') from (select i.incident_id::text as name, json_agg(coalesce(n.name, c.address) order by place) as list
		from incident i join incident_candidate c using (incident_id) left join node n on n.node_id = c.host_id where ranking = 0 group by 1) c" >"$dir/candidates"
	asked >"$dir/asked"
fi
sql -c "select extract(epoch from r.ts) * 1000000, n.name, k.role, k.app, k.route, k.peer, r.n, r.sum_us, coalesce(r.excess_us, 0), coalesce(r.judged, 0)
	from red r join red_key k using (node_id, key_id) join node n using (node_id)" >"$dir/red"
sql -c "select extract(epoch from r.ts) * 1000000, n.name from request r join node n using (node_id)" >"$dir/rows"
[ -z "${KEEP:-}" ] || { mkdir -p "$KEEP" && cp "$dir"/{red,rows,incidents,candidates,asked,played} "$KEEP"; }
with || RULE=${RULE:-by hand}
RULE=${RULE:-incidents} python3 tests/incidents/judge.py "$dir" "$DATA/faults.csv" "${MIN:-0,0}" "${ALL:-0,0}"
